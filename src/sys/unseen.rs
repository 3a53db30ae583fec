//! What takes space on a file system although no walk sees it: files without a name that processes hold open, and what
//! the file system needs for itself.

/// A part of that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Its size on disk in bytes; none if the system refuses to tell.
    pub size: Option<u64>,
    /// Its path, or what it is. If no name leads to it, the path that it had, as its first holder sees paths.
    pub name: Vec<u8>,
    /// The first few processes that hold it open.
    pub holders: Vec<Holder>,
    /// How many processes hold it open.
    pub held_by: u64,
}

/// A process that holds a file open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// The name of its command, without arguments (proc_pid_comm(5)).
    pub command: Vec<u8>,
}

/// The files without a name on one file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnlinkedFiles {
    /// How many there are.
    pub count: u64,
    /// The size on disk of all whose size is known, in bytes.
    pub size: u64,
    /// The largest of them, the largest first.
    pub files: Vec<Unseen>,
}

/// What was found in the processes that could be looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unlinked {
    /// What is on the file system of each root that was asked about, in their order.
    pub by_root: Vec<UnlinkedFiles>,
    /// Whether processes refused.
    pub is_refused: bool,
    /// Whether there are processes that are not listed: those of other PID namespaces, or of other users.
    pub has_unlisted: bool,
}

impl Unseen {
    /// What is called `name`, of so many bytes.
    pub fn of(name: impl Into<Vec<u8>>, size: u64) -> Self {
        Self { size: Some(size), name: name.into(), ..Self::default() }
    }
}

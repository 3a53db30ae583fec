//! What takes space on a file system although no walk sees it: files without a name that processes hold open, and what
//! the file system needs for itself.

/// Why space is used although it is in no file that a walk saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// What it is called.
    pub name: &'static str,
    /// How much, in bytes.
    pub size: u64,
    /// How much of that the files may share with others, which still need it then.
    pub shared: u64,
    /// How many files that is, if that is known.
    pub files: Option<u64>,
    /// The largest parts of it, the largest first.
    pub parts: Vec<Unseen>,
}

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

impl Unseen {
    /// What is called `name`, of so many bytes.
    pub fn of(name: impl Into<Vec<u8>>, size: u64) -> Self {
        Self { size: Some(size), name: name.into(), ..Self::default() }
    }
}

//! What is known to be the same in a tree and in an earlier one that lacks it. `snapshot` finds it, and `diff` uses it.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::{Child, DirectoryId};

/// What is unchanged in the directories of a tree.
#[derive(Debug, Default)]
pub struct Alike {
    /// Of each directory, by its number, whether it is as it was. The earlier tree lacks it then.
    pub directories: Vec<bool>,
    /// Of others that are in both trees, the leaves before and now that differ, packed. All other leaves of these are
    /// as they were, and the earlier tree lacks all of them.
    pub others: HashMap<DirectoryId, [Box<[u8]>; 2], RandomState>,
}

impl Alike {
    /// What may differ in a directory, by name, if that is known: what was in it `before`, and what is `now`.
    pub fn others<'a>(&'a self, before: Child<'a>, now: Child<'a>) -> Option<[Vec<Child<'a>>; 2]> {
        let id = now.id()?;
        let [was, is] = self.others.get(&id)?;
        let (was, is) = (before.leaves_in(was), now.leaves_in(is));
        let directories = now.tree.subdirectories(id);
        let differing = directories.filter(|id| self.directories.get(id.index()) != Some(&true));
        let differing = differing.map(|id| now.tree.directory(id));
        let mut others: [Vec<_>; 2] =
            [before.directories().chain(was).collect(), differing.chain(is).collect()];
        for side in &mut others {
            side.sort_unstable_by_key(Child::name);
        }
        Some(others)
    }
}

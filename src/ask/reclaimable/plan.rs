//! A plan: what `weigh clean -j` found, for `weigh clean --from PLAN --apply`. It only narrows. The rules have to find each
//! entry again, and a plan has to name it with the same rule, inode and evidence.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Reclaim;
use crate::base::inode::Identity;
use crate::base::measure::DAY;
use crate::sys::{self, Symlinks};
use crate::tree::Tree;

/// Where and when a plan was made.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct PlanOrigin {
    /// In seconds since the epoch.
    pub time: i64,
    /// The number of the user.
    pub user: u32,
    /// The name of the machine.
    pub host: String,
    /// The real paths of the roots.
    pub roots: Vec<String>,
}

/// Entries that a plan names.
#[derive(Clone, Debug, Default)]
pub struct ReclaimPlan {
    /// Where and when it was made.
    pub origin: PlanOrigin,
    /// The path of each entry, by its rule, inode and evidence.
    entries: BTreeMap<PlanKey, String>,
}

type PlanKey = (String, Identity, String);

/// The JSON of a plan, as far as it is read.
#[derive(Deserialize)]
struct Document {
    reclaimable: Found,
}

#[derive(Deserialize)]
struct Found {
    plan: PlanOrigin,
    found: Vec<Planned>,
}

#[derive(Deserialize)]
struct Planned {
    path: String,
    rule: String,
    mount: u64,
    device: u64,
    inode: u64,
    evidence: String,
}

impl PlanOrigin {
    /// Of a plan that is made here and now, of what is in `tree`. None if a root has a path that JSON cannot have.
    pub(super) fn here(tree: &Tree) -> Option<Self> {
        let real = |name: &[u8]| {
            let real = sys::real_path(&sys::to_path(name), Symlinks::Follow).ok()?;
            real.into_os_string().into_string().ok()
        };
        let roots = tree.roots().map(|root| real(root.name())).collect::<Option<_>>()?;
        let host = String::from_utf8_lossy(&sys::host()).into_owned();
        Some(Self { time: sys::now(), user: sys::user_id(), host, roots })
    }
}

impl ReclaimPlan {
    /// Reads the plan in the file at `path`.
    ///
    /// # Errors
    /// The reason why it cannot be used, and the way out in a second line.
    pub fn read(path: &Path) -> io::Result<Self> {
        const AGAIN: &str = "make a new one: weigh clean -j PATH >plan.json";
        let wrong = |why: &str| io::Error::other(format!("{why}\n{AGAIN}"));
        let text = sys::read_private_file(path)?;
        let document: Document = serde_json::from_slice(&text)
            .map_err(|_| wrong("it is no plan: weigh clean -j prints one"))?;
        let Found { plan: origin, found } = document.reclaimable;
        let age = sys::now().saturating_sub(origin.time);
        let refused = [
            (age > DAY, "it is older than a day"),
            (age < 0, "it is from the future"),
            (origin.user != sys::user_id(), "another user made it"),
            (origin.host.as_bytes() != sys::host(), "it was made on another machine"),
        ];
        if let Some((_, why)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
            return Err(wrong(why));
        }
        let entries = found.into_iter().map(|it| {
            let identity = Identity { mount: it.mount, device: it.device, number: it.inode };
            ((it.rule, identity, it.evidence), it.path)
        });
        Ok(Self { origin, entries: entries.collect() })
    }

    /// The roots that it is about.
    pub fn roots(&self) -> impl Iterator<Item = PathBuf> {
        self.origin.roots.iter().map(PathBuf::from)
    }

    /// Keeps only entries that it names, as they are now. Returns the paths of those that it names otherwise, and why they
    /// are not among `found`: some are too `recent`.
    pub(super) fn narrow(
        &self,
        found: &mut Vec<Reclaim>,
        recent: &[Reclaim],
    ) -> Vec<(String, &'static str)> {
        let mut missing = self.entries.clone();
        found.retain(|one| {
            let key = one
                .checked
                .as_ref()
                .map(|checked| (one.rule.name.clone(), checked.identity, checked.evidence.clone()));
            key.is_some_and(|key| missing.remove(&key).is_some())
        });
        let missing =
            missing.into_values().map(|path| match recent.iter().any(|one| is_at(one, &path)) {
                true => (path, "it was written lately: --older 0h includes it"),
                false => (path, "it is not as the plan says"),
            });
        missing.collect()
    }

    /// The paths of its entries.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.values().map(|path| &**path)
    }
}

/// Whether an entry may be the one at `path` in a plan, which has paths as they were given then.
pub(super) fn is_at(one: &Reclaim, path: &str) -> bool {
    one.path.ends_with(path.strip_prefix("./").unwrap_or(path).as_bytes())
}

//! Looks for storages of container engines in a directory that is about to go. The scan may not have seen them: a filter
//! left them out, or an engine made them since.

use std::ffi::{CStr, CString};
use std::io::{
    self,
    ErrorKind::{NotADirectory, NotFound, PermissionDenied},
};

use super::below::HeldPath;
use super::explain::{Stop, because};
use super::outcome::RemovalStep;
use super::protected::HOLDS_STORAGE;
use super::removal::Removal;
use crate::base::measure::Kind;
use crate::scan::containers::refusal_of;
use crate::sys::{ExactStat, HeldDirectory, Listed, Listing};

/// Ensures that the directory is no container engine's storage now. Once its own content is being removed, nothing that
/// is new in it is.
pub(super) fn ensure_no_storage(held: &HeldDirectory) -> Result<(), Stop> {
    refusal_of(&held.to_list()?).map_or(Ok(()), |refusal| Err(because(refusal)))
}

/// Ensures that no storage lies in the directory called `name` in `around`, as far as directories can be listed. It goes
/// into the trash with everything in it. The look can be cancelled.
pub(super) fn ensure_no_storage_in(
    around: &HeldDirectory,
    name: &CStr,
    removal: &mut Removal<'_>,
) -> Result<(), Stop> {
    let mut open = HeldPath::default();
    // Of each open directory, its attributes and the directories in it that are still ahead.
    let mut levels: Vec<(ExactStat, Vec<CString>)> = Vec::new();
    let mut next = Some(around.descend(&[name])?);
    loop {
        if let Some(held) = next.take() {
            removal.before(RemovalStep::Enter, name.to_bytes())?;
            if refusal_of(&held.to_list()?).is_some() {
                return Err(because(HOLDS_STORAGE));
            }
            levels.push((held.stat()?, directories_in(&held)?));
            open.enter(held);
        }
        let Some((_, ahead)) = levels.last_mut() else { return Ok(()) };
        match ahead.pop().map(|name| open.innermost()?.descend(&[name])) {
            Some(Ok(held)) => next = Some(held),
            Some(Err(error)) => match error.kind() {
                // Somebody else has removed or replaced it; or nobody may look.
                NotFound | NotADirectory | PermissionDenied => {}
                _ => return Err(error.into()),
            },
            None => {
                levels.pop();
                if let Some((around, _)) = levels.last() {
                    open.leave(around)?;
                }
            }
        }
    }
}

/// The names of the directories in `held`, as far as it can be listed.
fn directories_in(held: &HeldDirectory) -> io::Result<Vec<CString>> {
    let (directory, mut buffer, mut listing) = (held.to_list()?, Vec::new(), Listing::default());
    while matches!(directory.read(&mut buffer, &mut listing, None), Ok(true)) {}
    let is_directory = |listed: &Listed<'_>| match listed.kind {
        Some(kind) => kind == Kind::Directory,
        None => held.stat_of(listed.name).is_ok_and(|stat| stat.is_directory()),
    };
    Ok(listing.iter().filter(is_directory).map(|listed| listed.name.to_owned()).collect())
}

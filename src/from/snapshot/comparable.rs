//! Whether two snapshots count the same things. The flags that they were made with tell.
//!
//! If the later snapshot leaves out more, the same can be left out of the earlier one, provided that it contains
//! enough to do so. What the earlier snapshot lacks cannot be added. Flags that are not known here must be the same
//! on both sides.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::{GivenRoot, Origin, Snapshot};
use crate::base::escape::{escape, harmless};
use crate::sys;
use crate::tree::Tree;

/// What several flags of one name do together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Each leaves out more.
    Less,
    /// One may let through what others leave out.
    More,
    /// They count differently, or leave out what a snapshot cannot tell.
    Apart,
}

/// Why a snapshot made `with` some flags cannot be compared with an `earlier` one, and the way out; none if it can.
/// What the `given` flags leave out now is left out of both. The later snapshot may be loaded itself.
pub fn difference(
    with: &[String],
    given: &[String],
    earlier: &Origin,
    is_loaded: bool,
) -> Option<String> {
    let saved = earlier.options.as_deref()?;
    let sides = [saved, with, given];
    let takes_back = sides.iter().copied().flatten().any(|flag| flag.starts_with("--exclude=!"));
    // By name, the flags of each side.
    let mut groups: BTreeMap<&str, [Vec<&str>; 3]> = BTreeMap::new();
    for (side, flags) in sides.into_iter().enumerate() {
        for flag in flags {
            groups.entry(group(flag, takes_back)).or_default()[side].push(flag);
        }
    }
    groups.into_iter().find_map(|(name, sides)| {
        let [mut was, mut is, given] = sides.map(|flags| in_order(name, flags));
        match effect(name)? {
            Effect::Less => {
                let both = was.iter().filter(|flag| is.binary_search(flag).is_ok());
                let mut left_out: Vec<_> = both.chain(&given).copied().collect();
                left_out.sort_unstable();
                for flags in [&mut was, &mut is] {
                    flags.retain(|flag| left_out.binary_search(flag).is_err());
                }
            }
            Effect::More => {
                if was.is_empty() && lacks_for(name, earlier).is_none() {
                    was.clone_from(&given);
                }
                if is.is_empty() {
                    is = given;
                }
            }
            Effect::Apart => {}
        }
        (was != is).then(|| {
            // They are what a file says.
            let [was, is] = [was, is].map(|flags| harmless(flags.join(" ").as_bytes()));
            message(&was, &is, is_loaded)
        })
    })
}

/// The `flags` of this name: sorted and each once, unless their order matters.
fn in_order<'f>(name: &str, mut flags: Vec<&'f str>) -> Vec<&'f str> {
    let is_ordered = name == RULES || flags.iter().any(|flag| flag.starts_with("--include=!"));
    if !is_ordered {
        flags.sort_unstable();
        flags.dedup();
    }
    flags
}

/// The flags whose globs make one list of rules, of which the last match decides.
const RULES: &str = "--exclude-from";

/// The name under which `flag` acts together with others.
fn group(flag: &str, takes_back: bool) -> &str {
    match flag.split_once('=').map_or(flag, |(name, _)| name) {
        "--exclude" if takes_back => RULES,
        name => name,
    }
}

/// Whether walks with this `flag` and without it count so differently that neither can be made from the other.
pub fn sets_apart(flag: &str) -> bool {
    effect(group(flag, false)) == Some(Effect::Apart)
}

/// What flags of this name do together; none if they do not change what counts.
fn effect(name: &str) -> Option<Effect> {
    match name {
        // Measures are compared elsewhere, and roots are what is compared.
        "--apparent-size" | "--filecount" | "--inodes" | "--filetime" => None,
        "--files-from" | "--files0-from" | "--rsh" => None,
        "--ignore-hidden"
        | "--ignore-directory"
        | "--invert-filter"
        | "--ignore-all-in-file"
        | "--exclude"
        | "--type-not" => Some(Effect::Less),
        "--filter" | "--include" | "--type" | "--mtime" | "--older" | "--newer" | "--owner"
        | RULES => Some(Effect::More),
        _ => Some(Effect::Apart),
    }
}

/// The data that flags of this name need, if a snapshot lacks it, so that they cannot be applied to it.
fn lacks_for(name: &str, saved: &Origin) -> Option<&'static str> {
    match name {
        "--mtime" | "--older" | "--newer" if !saved.has_times => Some("times"),
        "--owner" if !saved.has_details => Some("owners"),
        _ => None,
    }
}

/// Why a filter among the `given` flags cannot be applied to an `earlier` snapshot that was not made with it, and the way
/// out; none if all can. An export does not say how it was made.
pub fn lacks_for_filters(earlier: &Origin, given: &[String]) -> Option<String> {
    let names = given.iter().map(|flag| group(flag, false));
    names.filter(|name| !earlier.has_flag(name)).find_map(|name| {
        let data = lacks_for(name, earlier)?;
        let way_out = format!("leave {name} out here, or save a new snapshot with --details");
        Some(format!("it has no {data}, which {name} needs\n{way_out}"))
    })
}

/// The message for flags that were `before` and are `now`.
fn message(before: &str, now: &str, is_loaded: bool) -> String {
    let (what, way_out) = match (before, now) {
        ("", now) => (
            format!("without {now}"),
            format!("leave {now} out here, or save a new snapshot with it"),
        ),
        (before, "") => (
            format!("with {before}"),
            format!("give {before} here too, or save a new snapshot without it"),
        ),
        _ => (
            format!("with {before}, and not with {now}"),
            "give the same here, or save a new snapshot".to_owned(),
        ),
    };
    match is_loaded {
        true => format!("it was saved {what}\nsave both snapshots with the same flags"),
        false => format!("it was saved {what}\n{way_out}"),
    }
}

// What a comparison of two snapshots cannot tell. If something was not read on one side, it may be neither new nor
// gone. And whether they can be compared at all: only if they are of the same roots.
//
// The names of the machines do not matter, because a container has another name each time. But if weigh chose a
// snapshot of another machine, it says so.

/// Why an apparent change may be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The earlier snapshot, which weigh chose, is of this host, and there is none of the host that it is now.
    OtherHost(Vec<u8>, Vec<u8>),
    /// Paths that the earlier snapshot could not read, and this one could. What is new there may have been there
    /// before.
    UnreadBefore(Vec<Vec<u8>>),
    /// Paths that this snapshot could not read, and the earlier one could. What is gone there may still be there.
    UnreadNow(Vec<Vec<u8>>),
    /// The earlier snapshot was interrupted.
    InterruptedBefore,
    /// This snapshot was interrupted.
    InterruptedNow,
}

impl Doubt {
    /// Whether it is that something was not read, on either side.
    pub fn is_loss(&self) -> bool {
        use Doubt::{InterruptedBefore, InterruptedNow, UnreadBefore, UnreadNow};
        matches!(self, UnreadBefore(_) | UnreadNow(_) | InterruptedBefore | InterruptedNow)
    }
}

/// Why snapshots of these origins cannot be compared: they are known to be of different roots.
pub fn other_roots(before: &Origin, now: &Origin) -> Option<String> {
    Roots::given(before).differ_from(&Roots::given(now))
}

/// The same for snapshots, whose trees may name the roots that their origins do not.
pub fn of_other_roots(before: &Snapshot, now: &Snapshot) -> Option<String> {
    Roots::of(before).differ_from(&Roots::of(now))
}

/// The doubts about a comparison of `now` with `before`, which weigh may have chosen (`is_chosen`).
pub fn doubts(before: &Snapshot, now: &Snapshot, is_chosen: bool) -> Vec<Doubt> {
    let [was, is] = [before, now].map(|it| it.origin.as_ref().map_or(&b""[..], |it| &it.host));
    let (unread_before, unread_now) = (losses(before), losses(now));
    let only_before = only(&unread_before, &unread_now);
    let only_now = only(&unread_now, &unread_before);
    let doubts = [
        (is_chosen && was != is, Doubt::OtherHost(was.to_vec(), is.to_vec())),
        (!only_before.is_empty(), Doubt::UnreadBefore(only_before)),
        (!only_now.is_empty(), Doubt::UnreadNow(only_now)),
        (before.report.is_interrupted, Doubt::InterruptedBefore),
        (now.report.is_interrupted, Doubt::InterruptedNow),
    ];
    doubts.into_iter().filter(|(holds, _)| *holds).map(|(_, doubt)| doubt).collect()
}

/// The paths that were not read: each relative to the root, and in full. The name of a single root may differ between
/// snapshots. Several roots are compared by their names.
fn losses(snapshot: &Snapshot) -> Vec<(&[u8], &[u8])> {
    let root = snapshot.report.answer.as_ref().map_or(&[][..], |tree| tree.root().name());
    let mut losses = Vec::new();
    for problem in &snapshot.report.problems {
        // A root that does not exist has nothing to read.
        if problem.is_loss() && problem.symbol() != "ENOENT" {
            let mut below = problem.path.strip_prefix(root).unwrap_or(&problem.path);
            while let Some(rest) = below.strip_prefix(b"/") {
                below = rest;
            }
            losses.push((below, &*problem.path));
        }
    }
    losses
}

/// The paths of `these` losses that are not among the others.
fn only(these: &[(&[u8], &[u8])], others: &[(&[u8], &[u8])]) -> Vec<Vec<u8>> {
    let others: HashSet<_> = others.iter().map(|(below, _)| below).collect();
    let only = these.iter().filter(|(below, _)| !others.contains(below));
    only.map(|(_, path)| path.to_vec()).collect()
}

/// The roots of a snapshot, as far as they are known, without those inside others, which add nothing.
#[derive(Default)]
struct Roots<'a> {
    /// Their real paths. None if one of them is unknown: then it is as it was given.
    places: Vec<Cow<'a, Path>>,
    /// Their names.
    names: Vec<Cow<'a, Path>>,
}

impl<'a> Roots<'a> {
    fn given(origin: &'a Origin) -> Self {
        let mut places: Vec<_> = origin.roots.iter().map(GivenRoot::place).collect();
        if !places.iter().all(|place| place.is_absolute()) {
            places.clear();
        }
        Self { places: outermost(places), names: Vec::new() }
    }

    fn of(snapshot: &'a Snapshot) -> Self {
        let roots = snapshot.report.answer.iter().flat_map(Tree::roots);
        let given = snapshot.origin.as_ref().map_or_else(Self::default, Self::given);
        Self { names: outermost(roots.map(|root| sys::to_path(root.name())).collect()), ..given }
    }

    /// Why the later snapshot, with the roots `now`, cannot be compared with this one: it has other roots. If a snapshot
    /// does not contain real paths, only absolute names can tell.
    fn differ_from(&self, now: &Self) -> Option<String> {
        let may_be = match (self.is_placed(), now.is_placed()) {
            (true, true) => self.places == now.places,
            _ => {
                self.names == now.places
                    || self.names == now.names
                    || self.places == now.names && self.is_placed()
                    || !self.are_known()
                    || !now.are_known()
            }
        };
        let [was, is] = [self, now].map(Self::shown);
        (!may_be).then(|| format!("it is of {was}, and not of {is}\ncompare {was} with it, or save a snapshot of {is} first"))
    }

    fn is_placed(&self) -> bool {
        !self.places.is_empty()
    }

    fn are_known(&self) -> bool {
        self.is_placed()
            || !self.names.is_empty() && self.names.iter().all(|name| name.is_absolute())
    }

    fn shown(&self) -> String {
        /// More roots do not help to know which snapshot it is.
        const SHOWN: usize = 3;
        let paths = if self.is_placed() { &self.places } else { &self.names };
        let shown =
            paths.iter().take(SHOWN).map(|path| escape(path.as_os_str().as_encoded_bytes()));
        let more = if paths.len() > SHOWN { ", …" } else { "" };
        shown.collect::<Vec<_>>().join(", ") + more
    }
}

/// Sorts `paths`, and leaves out those inside others: in this order, a path inside another comes after it.
fn outermost(mut paths: Vec<Cow<'_, Path>>) -> Vec<Cow<'_, Path>> {
    paths.sort_unstable();
    paths.dedup_by(|path, before| path.starts_with(before));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(flags: &str) -> Vec<String> {
        flags.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn flags_act_together_by_what_they_do() {
        for (with, given, before, difference_is) in [
            ("", "", "", None),
            // A flag that a later version may have.
            ("--new", "", "--new", None),
            ("--new", "", "", Some(("", "--new"))),
            ("--new=1 --new=2", "", "--new=2 --new=1", None),
            ("--exclude=a", "", "--exclude=b", Some(("--exclude=b", "--exclude=a"))),
            ("--exclude=a", "--exclude=b", "--exclude=b --exclude=a", None),
            ("--exclude-from=f --exclude=a", "", "--exclude-from=f --exclude=a", None),
            (
                "--exclude-from=f --exclude-from=g",
                "",
                "--exclude-from=g --exclude-from=f",
                Some(("--exclude-from=g --exclude-from=f", "--exclude-from=f --exclude-from=g")),
            ),
            ("--include=a --include=!b", "", "--include=a --include=!b", None),
            ("--files-from=x --apparent-size", "", "", None),
        ] {
            let origin = Origin { options: Some(flags(before)), ..Origin::default() };
            let found = difference(&flags(with), &flags(given), &origin, false);
            let expected = difference_is.map(|(was, is)| message(was, is, false));
            assert_eq!(found, expected, "{with}, {given}, {before}");
        }
        assert_eq!(difference(&flags("--new"), &[], &Origin::default(), false), None);
    }
}

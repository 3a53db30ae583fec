//! Whether two snapshots count the same things. The flags that they were made with tell.
//!
//! If the later snapshot leaves out more, the same can be left out of the earlier one, provided that it contains
//! enough to do so. What the earlier snapshot lacks cannot be added. Flags that are not known here must be the same
//! on both sides.

use std::collections::BTreeMap;

use super::Origin;
use crate::base::escape::harmless;

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
                if was.is_empty() && has_for(name, earlier) {
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

/// Whether a snapshot contains what flags of this name need, so that they can be applied to it.
fn has_for(name: &str, saved: &Origin) -> bool {
    match name {
        "--mtime" | "--older" | "--newer" => saved.has_times,
        "--owner" => saved.has_details,
        _ => true,
    }
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

//! Says which bound was exceeded, for people who ask why the exit status is 3.

use super::size::Format;
use crate::base::bounds::{Exceeded, Growth};
use crate::base::escape::escape;
use crate::base::measure::Measure;
use crate::tree::Tree;

/// A line about the total of a `tree` in a `measure`: the figure, by how much it exceeds the bound, and the bound with its
/// flag. If the figure `is_partial`, something was not read, and the true figure can only be larger.
pub fn message(
    exceeded: &Exceeded,
    tree: Option<&Tree>,
    (measure, format): (Measure, &Format),
    is_partial: bool,
) -> String {
    let (or_more, sign) = if is_partial { (" or more", super::partial::MARK) } else { ("", "") };
    let name = match tree.map(|tree| escape(tree.root().name())) {
        Some(name) if !name.is_empty() => name,
        _ => "the total".to_owned(),
    };
    let is_count = matches!(measure, Measure::Files | Measure::Inodes);
    let unit = |count| match (is_count, count) {
        (false, _) => String::new(),
        (true, 1) => format!(" {}", measure.unit().trim_end_matches('s')),
        (true, _) => format!(" {}", measure.unit()),
    };
    let excess = format.write(exceeded.excess());
    let over = format!("{excess}{or_more} over the limit of");
    match *exceeded {
        Exceeded::Size { most, now } => {
            let unit = unit(now);
            let [most, now] = [most, now].map(|size| format.write(size));
            let is = if is_count { "has" } else { "is" };
            format!("{name} {is} {sign}{now}{unit}, {over} {most} (--fail-over)")
        }
        Exceeded::Growth { most, before, now } => {
            let most = match most {
                Growth::By(most) => format.write(most),
                Growth::Percent(percent) => format!("{percent}%"),
            };
            let grown = now.saturating_sub(before);
            let unit = unit(grown);
            let [grown, before, now] = [grown, before, now].map(|size| format.write(size));
            format!(
                "{name} grew by {sign}{grown}{unit}, from {before} to {sign}{now}, {over} {most} (--fail-growth)"
            )
        }
    }
}

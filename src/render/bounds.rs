//! Says which bound was exceeded, for people who ask why the exit status is 3.

use super::size::Format;
use crate::bounds::{Exceeded, Growth};

/// A line that names the bound, the figure, and by how much it exceeds the bound. If the figure `is_partial`,
/// something was not read, and the true figure can only be larger.
pub fn message(exceeded: &Exceeded, format: &Format, is_partial: bool) -> String {
    let size = |size| format.write(size);
    let (or_more, sign) = if is_partial { (" or more", super::partial::MARK) } else { ("", "") };
    let excess = size(exceeded.excess());
    match *exceeded {
        Exceeded::Size { most, now } => {
            let (most, now) = (size(most), size(now));
            format!("--fail-over {most} is exceeded by {excess}{or_more}: it comes to {sign}{now}")
        }
        Exceeded::Growth { most, before, now } => {
            let grown = size(now.saturating_sub(before));
            let most = match most {
                Growth::By(most) => size(most),
                Growth::Percent(percent) => format!("{percent}%"),
            };
            let (before, now) = (size(before), size(now));
            format!(
                "--fail-growth {most} is exceeded by {excess}{or_more}: it grew by {sign}{grown}, \
                 from {before} to {sign}{now}"
            )
        }
    }
}

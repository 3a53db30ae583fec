//! Says which bound was exceeded, for people who ask why the exit status is 3.

use super::size::Format;
use crate::bounds::{Exceeded, Growth};

/// A line that names the bound, the figure, and by how much it exceeds the bound. If the figure `is_partial`,
/// something was not read, and the true figure can only be larger.
pub fn message(exceeded: &Exceeded, format: &Format, is_partial: bool) -> String {
    let (or_more, sign) = if is_partial { (" or more", super::partial::MARK) } else { ("", "") };
    let excess = format.write(exceeded.excess());
    match *exceeded {
        Exceeded::Size { most, now } => {
            let [most, now] = [most, now].map(|size| format.write(size));
            format!("--fail-over {most} is exceeded by {excess}{or_more}: it comes to {sign}{now}")
        }
        Exceeded::Growth { most, before, now } => {
            let most = match most {
                Growth::By(most) => format.write(most),
                Growth::Percent(percent) => format!("{percent}%"),
            };
            let [grown, before, now] =
                [now.saturating_sub(before), before, now].map(|size| format.write(size));
            format!(
                "--fail-growth {most} is exceeded by {excess}{or_more}: it grew by {sign}{grown}, \
                 from {before} to {sign}{now}"
            )
        }
    }
}

//! What pictures and pages say of changes: how a node changed, and since when.

use super::lines::Line;
use super::name::widest;
use super::size::Format;
use super::time::TimeFormat;
use crate::base::escape::escape;
use crate::base::measure::Change;
use crate::from::snapshot::Origin;

/// A remark after its name.
pub(super) fn aside(change: &Change<'_>) -> String {
    match (change.moved_from, change.was, change.is) {
        (Some(origin), ..) => format!(" (moved from {})", escape(origin)),
        (_, None, _) => " (new)".to_owned(),
        (_, _, None) => " (gone)".to_owned(),
        _ => String::new(),
    }
}

/// When and where the earlier snapshot was made, as far as its origin says so.
pub(super) fn since(earlier: Option<&Origin>, dates: &TimeFormat) -> String {
    let time = earlier.map(|origin| origin.time).filter(|time| *time != 0);
    let time = time.map_or_else(|| "an earlier snapshot".to_owned(), |time| dates.write(time));
    format!("since {time}{}", on_host(earlier))
}

/// On which host a snapshot was made, if its origin says so.
pub(super) fn on_host(origin: Option<&Origin>) -> String {
    let origin = origin.filter(|origin| !origin.host.is_empty());
    origin.map_or_else(String::new, |origin| format!(" on {}", escape(&origin.host)))
}

/// Writes the figures of those `lines` that changed: the size now, and the change. Returns the headings of both.
pub(super) fn write_figures(lines: &mut [Line<'_>], format: &Format) -> String {
    let texts = lines.iter().map(|line| {
        let change = line.change.as_ref()?;
        Some([format.write(change.is.unwrap_or(0)), format.write_change(change.difference())])
    });
    let texts: Vec<_> = texts.collect();
    let headings = ["now", "change"].map(str::to_owned);
    let all = texts.iter().flatten().chain([&headings]);
    let [size, difference] = [0, 1].map(|i| widest(all.clone().map(|texts| &texts[i])));
    let joined = |[now, change]: &[String; 2]| format!("{now:>size$} {change:>difference$}");
    for (line, texts) in lines.iter_mut().zip(&texts) {
        // The earlier and the later size of the rest are unknown.
        line.figures = texts.as_ref().map(joined).unwrap_or_default();
    }
    joined(&headings)
}

//! What the texts over the list are made of, and what is known in the second pane: lines of parts, all laid out alike.

use ratatui_core::style::Style;
use unicode_segmentation::UnicodeSegmentation;

use super::canvas::{Areas, BOLD, Canvas};
use weigh::internal::show::name::{cells, shorten};

/// A line: its parts, each with the column where it begins, and its style. One without parts is shown where there is
/// room.
pub(super) type Line = Vec<(usize, String, Style)>;

/// A title, and a blank line below it.
pub(super) fn titled(title: &str, width: usize) -> Vec<Line> {
    let mut lines = paragraph(title, width, BOLD);
    lines.push(Line::new());
    lines
}

/// `text` within the margins, in as many lines as it takes.
pub(super) fn paragraph(text: &str, width: usize, style: Style) -> Vec<Line> {
    let lines = wrapped(text, width.saturating_sub(2)).into_iter();
    lines.map(|line| vec![(1, line, style)]).collect()
}

/// Names from the column `x` on, and beside them what they stand for, up to the column `end`. A name without anything
/// is a heading.
pub(super) fn pairs<N: AsRef<str>, V: AsRef<str>>(
    pairs: &[(N, V)],
    (x, end): (usize, usize),
    [of_name, heading]: [Style; 2],
) -> Vec<Line> {
    let widest = pairs.iter().map(|(name, _)| cells(name.as_ref())).max().unwrap_or(0);
    // On a narrow screen, both have half of it.
    let widest = widest.min(end.saturating_sub(x) / 2);
    let at = x + widest + 2;
    let mut lines = Vec::new();
    for (name, value) in pairs {
        let style = if value.as_ref().is_empty() { heading } else { of_name };
        let names = wrapped(name.as_ref(), widest);
        let values = wrapped(value.as_ref(), end.saturating_sub(at));
        let first = lines.len();
        lines.resize(first + names.len().max(values.len()), Line::new());
        for (x, parts, style) in [(x, names, style), (at, values, Style::new())] {
            let parts = lines[first..].iter_mut().zip(parts);
            parts.for_each(|(line, part)| line.push((x, part, style)));
        }
    }
    lines
}

/// All of `text` in lines of at most `width` cells. They end after a blank or a slash, if they can.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut taken) = (Vec::new(), String::new(), 0);
    for word in text.split_inclusive([' ', '/']) {
        let parts = match cells(word.trim_end()) <= width {
            true => vec![word],
            false => word.graphemes(true).collect(),
        };
        for part in parts {
            if taken > 0 && taken + cells(part.trim_end()) > width {
                lines.push(std::mem::take(&mut line));
                taken = 0;
            }
            line += part;
            // What takes no cells alone may widen the letter before it.
            taken += cells(part).max(1);
        }
    }
    lines.push(line);
    lines
}

/// How many lines of a text fit on a screen of this height.
pub(super) fn room(height: usize) -> usize {
    height.saturating_sub(if is_low(height) { 2 } else { 3 })
}

/// Where the last name of a path begins.
pub(super) fn last_name(path: &str) -> usize {
    path.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1)
}

/// A path in at most `room` cells: what is above its last name, and that name, which is shortened last.
pub(super) fn shorten_path(path: &str, room: usize) -> (String, String) {
    let (above, name) = path.split_at(last_name(path));
    let name = shorten(name, room.saturating_sub(cells(above).min(2)));
    let left = room.saturating_sub(cells(&name));
    // In less than four cells, `shorten` leaves no "…", and the path would look like another.
    let above = if left < cells(above).min(4) { "…/".to_owned() } else { shorten(above, left) };
    (above, name)
}

/// Whether no line of a screen of this height is left blank.
pub(super) fn is_low(height: usize) -> bool {
    Areas::of(0, height).foot < 2
}

/// Draws `head`, below it those from `first` on of `count` lines, which `line` makes, and what there is room for of
/// `foot`. If one is `chosen`, they scroll only as far as it takes to show that. If none can be, the head is drawn only
/// if all fit below it.
pub(super) fn page(
    canvas: &mut Canvas<'_>,
    (mut head, mut foot): (Vec<Line>, Vec<Line>),
    (first, chosen): (usize, Option<usize>),
    count: usize,
    line: impl Fn(&Canvas<'_>, usize) -> Line,
) {
    let is_low = is_low(canvas.height());
    let room = room(canvas.height());
    let top = if is_low { 1 } else { 2 };
    for lines in [&mut head, &mut foot] {
        lines.retain(|line| !is_low || !line.is_empty());
    }
    head.truncate(match chosen {
        None if head.len() + count > room => 0,
        _ => room.saturating_sub(1).max(1),
    });
    foot.truncate(room.saturating_sub(head.len() + count.min(1)));
    let room = room.saturating_sub(head.len() + foot.len());
    let first = match chosen {
        Some(chosen) => first.min(chosen).max((chosen + 1).saturating_sub(room)),
        None => first,
    };
    let first = first.min(count.saturating_sub(room));
    let lines: Vec<_> = (first..count).take(room).map(|number| line(canvas, number)).collect();
    for (line, y) in head.iter().chain(&lines).chain(&foot).zip(top..) {
        canvas.line(y, line);
    }
    if let Some(chosen) = chosen.filter(|chosen| *chosen < count && room > 0) {
        canvas.choices = (top + head.len(), first..first + lines.len());
        canvas.band(top + head.len() + chosen - first, canvas.width());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_word_is_cut_between_whole_characters() {
        for (text, width, expected) in [
            ("abcdef", 4, &["abcd", "ef"][..]),
            ("日本語", 4, &["日本", "語"]),
            // A family, a flag, a skin tone, an accent.
            ("👨\u{200d}👩\u{200d}👧👨\u{200d}👩\u{200d}👧", 3, &["👨\u{200d}👩\u{200d}👧"; 2]),
            ("🇩🇪🇫🇷", 3, &["🇩🇪", "🇫🇷"]),
            ("👍🏽👍🏽", 3, &["👍🏽"; 2]),
            ("e\u{301}e\u{301}e\u{301}", 2, &["e\u{301}e\u{301}", "e\u{301}"]),
        ] {
            assert_eq!(wrapped(text, width), expected, "{text} {width}");
        }
    }
}

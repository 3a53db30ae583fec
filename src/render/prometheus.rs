//! Prometheus's text format, for the textfile collector of node_exporter: a line for each node.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::rows;
use crate::escape::is_control;
use crate::measure::Measure;
use crate::tree::Tree;

/// Writes what every node of `tree` comes to in `measure`. The total of several roots has no line: it would be no path.
///
/// A reader refuses the whole file if a path is there twice. So the figures of paths that look the same once their
/// bytes are replaced are added up, and written last.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut impl Write, tree: &Tree, measure: Measure) -> io::Result<()> {
    let name = match measure {
        Measure::Disk | Measure::Apparent => "weigh_size_bytes",
        Measure::Files => "weigh_files",
        Measure::Inodes => "weigh_inodes",
    };
    let what = measure.noun();
    writeln!(out, "# HELP {name} What a path comes to, with all that is in it: {what}.")?;
    writeln!(out, "# TYPE {name} gauge")?;
    let mut alike: BTreeMap<String, u64> = BTreeMap::new();
    rows::each(tree, |row| {
        if row.node.is_total() {
            return Ok(());
        }
        let (path, size) = (label(row.path), row.node.size());
        if path.contains(char::REPLACEMENT_CHARACTER) {
            let sum = alike.entry(path).or_default();
            *sum = sum.saturating_add(size);
            return Ok(());
        }
        writeln!(out, "{name}{{path=\"{path}\"}} {size}")
    })?;
    for (path, size) in alike {
        writeln!(out, "{name}{{path=\"{path}\"}} {size}")?;
    }
    Ok(())
}

/// A path as the value of a label. The format has escapes for three characters. Bytes that are not UTF-8, and other
/// characters that a terminal would obey, are replaced.
fn label(path: &[u8]) -> String {
    let mut label = String::new();
    for c in String::from_utf8_lossy(path).chars() {
        match c {
            '\\' => label.push_str(r"\\"),
            '"' => label.push_str("\\\""),
            '\n' => label.push_str(r"\n"),
            c if is_control(c) => label.push(char::REPLACEMENT_CHARACTER),
            c => label.push(c),
        }
    }
    label
}

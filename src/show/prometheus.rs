//! Prometheus's text format (0.0.4), for the textfile collector of node_exporter: gauges, each with the path that it
//! is of, and no timestamps.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{ExportOptions, partial, rows};
use crate::base::escape::is_control;
use crate::base::measure::Measure;
use crate::base::path;
use crate::from::snapshot::FileSystem;
use crate::tree::{Report, Tree};

/// A figure of a file system, if it is known.
type OfFileSystem = fn(&FileSystem) -> Option<i128>;

/// The metrics of file systems: each with its name, what it is, and the figure.
const OF_FILE_SYSTEMS: [(&str, &str, OfFileSystem); 7] = [
    ("weigh_filesystem_size_bytes", "Size of a file system.", |one| Some(one.space.size.into())),
    ("weigh_filesystem_free_bytes", "What is free on it.", |one| Some(one.space.free.into())),
    ("weigh_filesystem_available_bytes", "Free on it for users.", |one| {
        Some(one.space.available.into())
    }),
    ("weigh_filesystem_inodes", "How many inodes it has room for.", |one| {
        Some(one.space.inodes.into()).filter(|inodes| *inodes > 0)
    }),
    ("weigh_filesystem_used_inodes", "How many of them are in use.", |one| {
        (one.space.inodes > 0).then(|| one.space.used_inodes.into())
    }),
    ("weigh_filesystem_unseen_bytes", "Used on it, in no file that was seen.", FileSystem::unseen),
    ("weigh_filesystem_unexplained_bytes", "Of that, without a cause.", FileSystem::unexplained),
];

/// Writes what every node comes to, then file systems, and how many errors there were at each root. The total of
/// several roots has no line: it would be no path. Groups have the key that they were made by as another label. The
/// last line shows that nothing is missing.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut dyn Write, report: &Report, options: &ExportOptions) -> io::Result<()> {
    if report.answer.is_none() && options.file_systems.is_empty() {
        return Ok(());
    }
    if let Some(tree) = &report.answer {
        nodes(out, tree, options)?;
    }
    file_systems(out, &options.file_systems)?;
    // Of the same roots, another file has it. A list of the files in several roots does not have the roots.
    let tree = report.answer.as_ref().filter(|tree| tree.roots().next().is_some());
    if let (Some(tree), None) = (tree, &options.by) {
        let mut metric =
            Metric::begin(out, "weigh_errors", "What could not be read below a path.")?;
        // What was interrupted did not read everything, wherever that was.
        let start = i128::from(report.is_interrupted);
        let mut errors: BTreeMap<Vec<u8>, _> =
            tree.roots().map(|root| (root.name().to_vec(), start)).collect();
        for (path, _) in partial::losses(report) {
            let mut above = (0..=path.len()).rev().map(|end| &path[..end]);
            let root = above.find(|it| errors.contains_key(*it) && path::is_within(&path, it));
            // A root that could not be read is not in the tree.
            *errors.entry(root.map_or_else(|| path.clone(), <[u8]>::to_vec)).or_default() += 1;
        }
        errors.iter().try_for_each(|(path, count)| metric.add([("path", path)], *count))?;
        metric.end()?;
    }
    out.write_all(b"# EOF\n")
}

fn nodes(out: &mut dyn Write, tree: &Tree, options: &ExportOptions) -> io::Result<()> {
    let (name, what) = match options.view.measure {
        Measure::Disk => ("weigh_size_bytes", "Disk usage"),
        Measure::Apparent => ("weigh_apparent_size_bytes", "Apparent size"),
        Measure::Files => ("weigh_files", "Number of files"),
        Measure::Inodes => ("weigh_inodes", "Number of inodes"),
    };
    let mut metric =
        Metric::begin(out, name, &format!("{what} of a path, with all that is in it."))?;
    rows::each(tree, options.order, |row| {
        let (node, size) = (row.node, row.node.size().into());
        let root = node.parent().filter(|parent| !parent.is_total());
        match (&options.by, root) {
            _ if node.is_total() => Ok(()),
            (None, _) => metric.add([("path", row.path)], size),
            // Its groups add up to it, and another file may have it.
            _ if !node.is_group() => Ok(()),
            (Some(by), Some(root)) => metric.add([("path", root.name()), (by, node.name())], size),
            (Some(by), None) => metric.add([(by, node.name())], size),
        }
    })?;
    metric.end()
}

fn file_systems(out: &mut dyn Write, all: &[FileSystem]) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    for (name, what, figure) in OF_FILE_SYSTEMS {
        let mut metric = Metric::begin(out, name, what)?;
        for (one, figure) in all.iter().filter_map(|one| Some((one, figure(one)?))) {
            metric.add([("path", &one.root)], figure)?;
        }
        metric.end()?;
    }
    let what = "Used on it by a cause, in no file that was seen.";
    let mut metric = Metric::begin(out, "weigh_filesystem_cause_bytes", what)?;
    for one in all {
        for cause in &one.causes {
            metric
                .add([("path", &one.root), ("cause", cause.name.as_bytes())], cause.size.into())?;
        }
    }
    metric.end()
}

/// A metric that is being written.
///
/// A reader refuses the whole file if the same labels are there twice. So the figures of labels that look the same
/// once bytes are replaced are added up, and written last.
struct Metric<'a> {
    out: &'a mut dyn Write,
    name: &'static str,
    merged: BTreeMap<String, i128>,
}

impl<'a> Metric<'a> {
    fn begin(out: &'a mut dyn Write, name: &'static str, what: &str) -> io::Result<Self> {
        writeln!(out, "# HELP {name} {what}\n# TYPE {name} gauge")?;
        Ok(Self { out, name, merged: BTreeMap::new() })
    }

    fn add<const N: usize>(&mut self, labels: [(&str, &[u8]); N], figure: i128) -> io::Result<()> {
        let labels = labels.map(|(name, value)| format!("{name}=\"{}\"", label(value))).join(",");
        if labels.contains(char::REPLACEMENT_CHARACTER) {
            *self.merged.entry(labels).or_default() += figure;
            return Ok(());
        }
        writeln!(self.out, "{}{{{labels}}} {figure}", self.name)
    }

    fn end(self) -> io::Result<()> {
        let Self { out, name, merged } = self;
        merged.iter().try_for_each(|(labels, figure)| writeln!(out, "{name}{{{labels}}} {figure}"))
    }
}

/// The value of a label. The format has escapes for three characters. Bytes that are not UTF-8, other characters that
/// a terminal would obey, and what is cut off are replaced: no path that can be opened is so long.
fn label(value: &[u8]) -> String {
    let mut label = String::new();
    let shown = &value[..value.len().min(path::LONGEST)];
    for c in String::from_utf8_lossy(shown).chars() {
        match c {
            '\\' => label.push_str(r"\\"),
            '"' => label.push_str("\\\""),
            '\n' => label.push_str(r"\n"),
            c if is_control(c) => label.push(char::REPLACEMENT_CHARACTER),
            c => label.push(c),
        }
    }
    // A character that is cut has become one.
    if shown.len() < value.len() && !label.ends_with(char::REPLACEMENT_CHARACTER) {
        label.push(char::REPLACEMENT_CHARACTER);
    }
    label
}

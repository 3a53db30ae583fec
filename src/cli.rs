//! Every flag, and the options that each stage gets from them.
//!
//! Flags are parsed first and interpreted second: [`parse`] turns them into one small value a
//! stage, and no stage sees a flag.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::process;

use clap::{Parser, ValueEnum, ValueHint};

use crate::filter::{self, Filter};
use crate::measure::{Measure, parse_size};
use crate::render::colors::Colors;
use crate::render::name::escape;
use crate::render::size::{Format, Unit};
use crate::render::tree::Bars;
use crate::render::{json, tree};
use crate::tally::{Limits, Show};
use crate::terminal;
use crate::walk;

/// What to do.
#[derive(Debug)]
pub struct Plan {
    /// What to weigh.
    pub roots: Vec<OsString>,
    /// How to walk.
    pub walk: walk::Options,
    /// What to keep; everything if not said.
    pub limits: Option<Limits>,
    /// What to show.
    pub output: Output,
    /// Whether to show the progress.
    pub progress: bool,
    /// How sizes are written.
    pub format: Format,
    /// Whether every problem gets a line.
    pub print_errors: bool,
}

/// What to show.
#[derive(Debug)]
pub enum Output {
    /// A picture.
    Tree(Box<tree::Options>),
    /// JSON.
    Json(json::Options),
}

/// Where did the space go? Weighs directories and draws the largest of what is in them.
#[derive(Debug, Parser)]
#[command(name = "weigh", version, max_term_width = 100)]
struct Flags {
    /// What to weigh
    #[arg(value_name = "PATH", default_value = ".", value_hint = ValueHint::AnyPath)]
    paths: Vec<OsString>,

    /// Weigh file lengths instead of allocated blocks
    #[arg(short = 's', long, help_heading = "What to weigh")]
    apparent_size: bool,

    /// Count regular files instead of bytes
    #[arg(short, long, help_heading = "What to weigh", conflicts_with = "apparent_size")]
    filecount: bool,

    /// Count inodes of every kind instead of bytes
    #[arg(long, help_heading = "What to weigh", conflicts_with_all = ["apparent_size", "filecount"])]
    inodes: bool,

    /// Count every hard link each time
    #[arg(short = 'l', long, help_heading = "What to weigh")]
    count_links: bool,

    /// Follow symlinks; every directory is still entered once
    #[arg(short = 'L', long, help_heading = "What to weigh")]
    dereference_links: bool,

    /// Stay on the file system of each PATH
    #[arg(short = 'x', long, help_heading = "What to leave out")]
    limit_filesystem: bool,

    /// Leave out names that begin with a dot
    #[arg(short, long, help_heading = "What to leave out")]
    ignore_hidden: bool,

    /// Show the NUMBER largest entries [default: as many lines as the terminal has, less ten]
    #[arg(short, long, value_name = "NUMBER", help_heading = "What to show")]
    number_of_lines: Option<usize>,

    /// Show DEPTH levels below each PATH
    #[arg(short, long, value_name = "DEPTH", help_heading = "What to show")]
    depth: Option<u32>,

    /// Show only what has SIZE or more, as in 512, 10k, 10KiB, 10kB, 1.5G
    #[arg(short = 'z', long, value_name = "SIZE", value_parser = parse_size, help_heading = "What to show")]
    min_size: Option<u64>,

    /// Show only directories
    #[arg(short = 'D', long, help_heading = "What to show", conflicts_with = "only_file")]
    only_dir: bool,

    /// Show only files, as a list: the largest ones
    #[arg(short = 'F', long, help_heading = "What to show")]
    only_file: bool,

    /// Do not show the root's line
    #[arg(long, help_heading = "What to show")]
    skip_total: bool,

    /// Print JSON: everything, unless -n, -d, -z, -D or -F limit it
    #[arg(short = 'j', long, help_heading = "Output")]
    output_json: bool,

    /// Show paths instead of names
    #[arg(short = 'p', long, help_heading = "Output")]
    full_paths: bool,

    /// Print the root first and the largest on top
    #[arg(short, long, help_heading = "Output")]
    reverse: bool,

    /// Print no bars and no percentages
    #[arg(short = 'b', long, help_heading = "Output")]
    no_percent_bars: bool,

    /// Draw the bars from the right
    #[arg(short = 'B', long, help_heading = "Output")]
    bars_on_right: bool,

    /// Print words in columns, for screen readers
    #[arg(short = 'R', long, help_heading = "Output")]
    screen_reader: bool,

    /// Write sizes by powers of 1000 (si), or all in one unit
    #[arg(short, long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    output_format: Option<OutputFormat>,

    /// Draw for a terminal of WIDTH columns
    #[arg(short = 'w', long, value_name = "WIDTH", help_heading = "Output")]
    terminal_width: Option<usize>,

    /// Print no colours
    #[arg(short = 'c', long, help_heading = "Output")]
    no_colors: bool,

    /// Print colours, terminal or not
    #[arg(short = 'C', long, help_heading = "Output", conflicts_with = "no_colors")]
    force_colors: bool,

    /// Show no progress
    #[arg(short = 'P', long, help_heading = "Output")]
    no_progress: bool,

    /// Print a line for everything that could not be read
    #[arg(long, help_heading = "Output")]
    print_errors: bool,

    /// Walk on NUMBER threads [default: one for each core]
    #[arg(short = 'T', long, value_name = "NUMBER", help_heading = "Output")]
    threads: Option<NonZeroUsize>,
}

/// How sizes are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lower")]
enum OutputFormat {
    Si,
    B,
    #[value(alias = "kib")]
    K,
    #[value(alias = "mib")]
    M,
    #[value(alias = "gib")]
    G,
    #[value(alias = "tib")]
    T,
    Kb,
    Mb,
    Gb,
    Tb,
}

/// Reads the command line. Ends the process with status 2 if it makes no sense, and with 0 after
/// `--help` and `--version`.
pub fn parse() -> Plan {
    match Flags::try_parse() {
        Ok(flags) => flags.into_plan(),
        Err(error) if error.use_stderr() => {
            // The message quotes what was typed, or what a pattern of the shell came to.
            for line in error.render().to_string().lines() {
                // Where writing to stderr fails there is nowhere left to say so.
                let _ = writeln!(io::stderr(), "{}", escape(line.as_bytes()));
            }
            process::exit(error.exit_code())
        }
        Err(help) => help.exit(),
    }
}

impl Flags {
    fn into_plan(self) -> Plan {
        let format = self.format();
        Plan {
            walk: self.walk(),
            limits: self.limits(),
            output: if self.output_json {
                Output::Json(json::Options { measure: self.measure(), full_paths: self.full_paths })
            } else {
                Output::Tree(Box::new(self.tree(format)))
            },
            progress: !self.no_progress && terminal::wants_progress(),
            format,
            print_errors: self.print_errors,
            roots: self.paths,
        }
    }

    fn walk(&self) -> walk::Options {
        walk::Options {
            measure: self.measure(),
            filter: Filter { names: filter::Names { hidden: self.ignore_hidden } },
            threads: self.threads,
            one_file_system: self.limit_filesystem,
            follow: self.dereference_links,
            count_links: self.count_links,
            interrupt: Default::default(),
        }
    }

    fn measure(&self) -> Measure {
        match (self.apparent_size, self.filecount, self.inodes) {
            (true, _, _) => Measure::Apparent,
            (_, true, _) => Measure::Files,
            (_, _, true) => Measure::Inodes,
            _ => Measure::Disk,
        }
    }

    /// JSON is whole unless told otherwise; a picture always has an end.
    fn limits(&self) -> Option<Limits> {
        let show = match (self.only_dir, self.only_file) {
            (true, _) => Show::Directories,
            (_, true) => Show::Files,
            _ => Show::Everything,
        };
        let is_limited = self.number_of_lines.is_some()
            || self.depth.is_some()
            || self.min_size.is_some()
            || show != Show::Everything;
        let default_lines = if self.output_json { usize::MAX } else { default_lines() };
        (!self.output_json || is_limited).then(|| Limits {
            lines: self.number_of_lines.unwrap_or(default_lines),
            depth: self.depth.unwrap_or(u32::MAX),
            min_size: self.min_size.unwrap_or(0),
            show,
        })
    }

    fn tree(&self, format: Format) -> tree::Options {
        /// Where nothing says how wide it is. What is read out has no width.
        const WIDTH: usize = 80;
        let no_terminal = if self.screen_reader { usize::MAX } else { WIDTH };
        let is_colored = self.force_colors || !self.no_colors && terminal::wants_colors();
        let ls_colors = || env::var("LS_COLORS").unwrap_or_default();
        tree::Options {
            width: self
                .terminal_width
                .unwrap_or_else(|| terminal::size().map_or(no_terminal, |(width, _)| width)),
            format,
            bars: match (self.no_percent_bars, self.bars_on_right) {
                (true, _) => Bars::None,
                (_, true) => Bars::Right,
                _ => Bars::Left,
            },
            is_root_first: self.reverse,
            full_paths: self.full_paths,
            skip_total: self.skip_total,
            screen_reader: self.screen_reader,
            colors: is_colored.then(|| Colors::new(&ls_colors())),
        }
    }

    fn format(&self) -> Format {
        let fixed = |name, bytes| Format::Fixed(Unit { name, bytes });
        if matches!(self.measure(), Measure::Files | Measure::Inodes) {
            return Format::Count;
        }
        match self.output_format {
            None => Format::Binary,
            Some(OutputFormat::Si) => Format::Decimal,
            Some(OutputFormat::B) => fixed("B", 1),
            Some(OutputFormat::K) => fixed("Ki", 1 << 10),
            Some(OutputFormat::M) => fixed("Mi", 1 << 20),
            Some(OutputFormat::G) => fixed("Gi", 1 << 30),
            Some(OutputFormat::T) => fixed("Ti", 1 << 40),
            Some(OutputFormat::Kb) => fixed("K", 1_000),
            Some(OutputFormat::Mb) => fixed("M", 1_000_000),
            Some(OutputFormat::Gb) => fixed("G", 1_000_000_000),
            Some(OutputFormat::Tb) => fixed("T", 1_000_000_000_000),
        }
    }
}

/// As many lines as fit above and below what the terminal shows besides.
fn default_lines() -> usize {
    /// Without a terminal.
    const LINES: usize = 20;
    /// For the prompt, the command and what was there before.
    const OTHERS: usize = 10;
    /// On a very low terminal.
    const AT_LEAST: usize = 5;
    terminal::size().map_or(LINES, |(_, height)| height.saturating_sub(OTHERS).max(AT_LEAST))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn flags_are_consistent() {
        Flags::command().debug_assert();
    }
}

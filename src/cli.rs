//! Every flag, and the options that each stage gets from them.
//!
//! Flags are parsed first and interpreted second: [`parse`] turns them into one small value a
//! stage, and no stage sees a flag.

mod excludes;
mod flags;
mod form;
mod leave;
mod read;
mod roots;
mod scans;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process;

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::filter::Paths;
use crate::measure::{Measure, Time};
use crate::render::colors::Colors;
use crate::render::name::escape;
use crate::render::size::{Format, Unit};
use crate::render::time::Times;
use crate::render::tree;
use crate::render::tree::Bars;
use crate::sys;
use crate::tally::{By, Groups, Inodes, Limits, Order, Show};
use crate::terminal;
use crate::walk;
pub use scans::{Bounds, counting};

use flags::{FileTime, Flags, GroupBy, OutputFormat, Sort};

/// What to do.
#[derive(Debug)]
pub struct Plan {
    /// What to weigh, or the saved scan to show instead.
    pub source: Source,
    /// Where to save it, if anywhere.
    pub save: Option<PathBuf>,
    /// Whether everything is to be gathered, whatever of it is shown, and then what of inodes is to
    /// be kept.
    pub everything: Option<Inodes>,
    /// The saved scan to compare it with, if any.
    pub since: Option<PathBuf>,
    /// What it may come to.
    pub bounds: Bounds,
    /// How to walk.
    pub walk: walk::Options,
    /// What to gather.
    pub gather: Gather,
    /// Whether to show the progress.
    pub progress: bool,
    /// How sizes are written.
    pub format: Format,
    /// Whether every problem gets a line.
    pub print_errors: bool,
    /// Whether to say what the walk did.
    pub stats: bool,
    flags: Flags,
}

/// Where what is shown comes from.
#[derive(Debug)]
pub enum Source {
    /// A walk of these roots.
    Roots(Vec<OsString>),
    /// A saved scan, and what its sizes should count, if that was said.
    Scan(PathBuf, Option<Measure>),
}

/// What to gather.
#[derive(Clone, Copy, Debug)]
pub enum Gather {
    /// Everything.
    Whole,
    /// The largest, within limits.
    Top(Limits),
    /// Totals by group.
    Groups(Groups),
}

/// Reads the command line, and the config file beneath it. Ends the process with status 2 if they
/// make no sense, and with 0 after `--help`, `--version` and `--type-list`.
pub fn parse() -> Plan {
    let args: Vec<OsString> = env::args_os().collect();
    let plan = read::flags(&args).and_then(|flags| {
        if flags.leave.type_list {
            // Whoever closes the pipe has seen enough.
            let _ = io::stdout().write_all(leave::type_list().as_bytes());
            process::exit(0);
        }
        let bad_value = |message| Flags::command().error(ErrorKind::ValueValidation, message);
        Plan::new(flags).map_err(bad_value)
    });
    match plan {
        Ok(plan) => plan,
        Err(error) if error.use_stderr() => {
            // The message quotes what was typed, or what a pattern of the shell came to. So it is
            // made anew from arguments that can forge no line.
            let harmless = |arg: &OsString| OsString::from(escape(arg.as_bytes()));
            let harmless: Vec<OsString> = args.iter().map(harmless).collect();
            let error = read::flags(&harmless).err().unwrap_or(error);
            let is_bad_value = error.kind() == ErrorKind::ValueValidation;
            // What is wrong with a value is said in one line.
            let most = if is_bad_value { 1 } else { usize::MAX };
            for line in error.render().to_string().lines().take(most) {
                // Where writing to stderr fails there is nowhere left to say so.
                let _ = writeln!(io::stderr(), "{}", escape(line.as_bytes()));
            }
            process::exit(error.exit_code())
        }
        // `help.exit()` would end with 0 also where the help was lost.
        Err(help) => process::exit(match help.print() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => 1,
            _ => 0,
        }),
    }
}

impl Plan {
    /// What to do, or in one line why not.
    fn new(mut flags: Flags) -> Result<Self, String> {
        let gather = flags.gather(terminal::size());
        if let Some(misfit) = flags.misfit(&gather) {
            return Err(misfit.to_owned());
        }
        let everything = flags.everything();
        let mut walk = flags.walk()?;
        walk.query.times |= flags.scans.details;
        walk.query.owner |= flags.scans.details;
        Ok(Self {
            walk,
            source: match flags.scans.load.take() {
                Some(path) => Source::Scan(path, flags.given_measure()),
                None => Source::Roots(mem::take(&mut flags.roots).roots()?),
            },
            since: flags.scans.since.take(),
            bounds: Bounds { size: flags.scans.fail_over, growth: flags.scans.fail_growth },
            save: flags.scans.save.take(),
            everything,
            gather,
            progress: !flags.print.no_progress && terminal::wants_progress(),
            format: flags.format(flags.measure()),
            print_errors: flags.print.print_errors,
            stats: flags.print.stats,
            flags,
        })
    }
}

impl Flags {
    fn walk(&self) -> Result<walk::Options, String> {
        let mut filter = self.leave.filter()?;
        filter.collapse = Paths::new(self.show.collapse.iter().cloned());
        Ok(walk::Options {
            measure: self.measure(),
            threads: self.print.threads,
            one_file_system: self.leave.limit_filesystem,
            follow: self.count.dereference_links,
            count_links: self.count.count_links,
            unique: self.count.unique,
            query: walk::Query {
                times: self.filetime().is_some()
                    || self.show.by == Some(GroupBy::Age)
                    || !filter.times.is_off(),
                owner: self.show.by == Some(GroupBy::Owner),
                ..Default::default()
            },
            filter,
            interrupt: Default::default(),
        })
    }

    /// Which time to weigh by, if by any: to sort by one is to show it.
    fn filetime(&self) -> Option<FileTime> {
        let by_time = self.show.sort == Some(Sort::Time);
        self.count.filetime.or(by_time.then_some(FileTime::Modified))
    }

    fn measure(&self) -> Measure {
        self.given_measure().unwrap_or_default()
    }

    fn given_measure(&self) -> Option<Measure> {
        if let Some(time) = self.filetime() {
            return Some(Measure::Newest(match time {
                FileTime::Accessed => Time::Accessed,
                FileTime::Changed => Time::Changed,
                FileTime::Modified => Time::Modified,
            }));
        }
        match (self.count.apparent_size, self.count.filecount, self.count.inodes) {
            (true, _, _) => Some(Measure::Apparent),
            (_, true, _) => Some(Measure::Files),
            (_, _, true) => Some(Measure::Inodes),
            _ => None,
        }
    }

    fn order(&self) -> Order {
        match self.show.sort {
            None | Some(Sort::Size | Sort::Time) => Order::Size,
            Some(Sort::Name) => Order::Name,
            Some(Sort::Count) => Order::Count,
        }
    }

    /// Groups lie nowhere.
    fn full_paths(&self) -> bool {
        self.print.full_paths && !self.show.file_types && self.show.by.is_none()
    }

    fn gather(&self, terminal: Option<(usize, usize)>) -> Gather {
        let limits = self.limits(terminal);
        let by = match (self.show.file_types, self.show.by) {
            (true, _) | (_, Some(GroupBy::Type)) => By::Type,
            (_, Some(GroupBy::Owner)) => By::Owner { name: sys::user_name },
            (_, Some(GroupBy::Age)) => By::Age { now: sys::now() },
            (false, None) => return limits.map_or(Gather::Whole, Gather::Top),
        };
        let Limits { lines, min_size, .. } = limits.unwrap_or(Limits::NONE);
        Gather::Groups(Groups::new(by, self.measure(), lines, min_size))
    }

    /// JSON is whole unless told otherwise; a picture always has an end.
    fn limits(&self, terminal: Option<(usize, usize)>) -> Option<Limits> {
        let show = match (self.show.only_dir, self.show.only_file) {
            (true, _) => Show::Directories,
            (_, true) => Show::Files,
            _ => Show::Everything,
        };
        let is_limited = self.show.number_of_lines.is_some()
            || self.show.depth.is_some()
            || self.show.min_size.is_some()
            || show != Show::Everything;
        let default_lines =
            if self.form().is_some() { usize::MAX } else { default_lines(terminal) };
        (self.form().is_none() || is_limited).then(|| Limits {
            lines: self.show.number_of_lines.unwrap_or(default_lines),
            depth: self.show.depth.unwrap_or(u32::MAX),
            min_size: self.show.min_size.filter(|_| self.filetime().is_none()).unwrap_or(0),
            show,
        })
    }

    fn tree(&self, format: Format, terminal: Option<(usize, usize)>) -> tree::Options {
        /// Where nothing says how wide it is. What is read out has no width.
        const WIDTH: usize = 80;
        let is_colored =
            self.print.force_colors || !self.print.no_colors && terminal::wants_colors();
        let ls_colors = || env::var("LS_COLORS").unwrap_or_default();
        tree::Options {
            width: match (self.print.terminal_width, terminal) {
                (Some(width), _) => width.into(),
                (None, Some((width, _))) => width,
                (None, None) if self.print.screen_reader => usize::MAX,
                (None, None) => WIDTH,
            },
            bars: match (self.print.no_percent_bars, self.print.bars_on_right) {
                // A time is no part of another.
                _ if matches!(format, Format::Time(_)) => Bars::None,
                (true, _) => Bars::None,
                (_, true) => Bars::Right,
                _ => Bars::Left,
            },
            format,
            order: self.order(),
            is_root_first: self.print.reverse,
            full_paths: self.full_paths(),
            skip_total: self.show.skip_total,
            screen_reader: self.print.screen_reader,
            dim: self.print.dim,
            colors: is_colored.then(|| Colors::new(&ls_colors())),
        }
    }

    fn format(&self, measure: Measure) -> Format {
        let fixed = |name, bytes| Format::Fixed(Unit { name, bytes });
        if matches!(measure, Measure::Files | Measure::Inodes) {
            return Format::Count;
        }
        if let Measure::Newest(_) = measure {
            return Format::Time(Times {
                style: self.print.time_style.clone().unwrap_or_default(),
                zone: sys::time_zone(),
                now: sys::now(),
            });
        }
        match self.print.output_format {
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
fn default_lines(terminal: Option<(usize, usize)>) -> usize {
    /// Without a terminal.
    const LINES: usize = 20;
    /// For the prompt, the command and what was there before.
    const OTHERS: usize = 10;
    /// On a very low terminal.
    const AT_LEAST: usize = 5;
    terminal.map_or(LINES, |(_, height)| height.saturating_sub(OTHERS).max(AT_LEAST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_consistent() {
        Flags::command().debug_assert();
    }
}

//! The flags, before they are interpreted. Letters and meanings are those of dust, if dust has them.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{
    NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use clap::{Args, Parser, ValueHint, value_parser};
use nu_ansi_term::Color;

use super::commands::{CleanFlags, CommandInfo, WatchFlags};
use super::filters::FilterFlags;
use super::roots::RootFlags;
use super::screen::parse as parse_color;
use crate::app::browse::{Binding, SortKey};
use weigh::internal::ask::Growth;
use weigh::internal::ask::reclaimable::ReclaimRule;
use weigh::internal::base::measure::{Time, parse_size};
use weigh::internal::base::when::When;
use weigh::internal::from::list::{Duplicates, ListOptions};
use weigh::internal::from::remote::Host;
use weigh::internal::from::snapshot::Share;
use weigh::internal::show::Form;
use weigh::internal::show::palette::Theme;
use weigh::internal::show::size::{Format, Unit};
use weigh::internal::show::time::Style;
use weigh::internal::sys::Source;
use weigh::internal::tree::tally::By;

/// Show what uses the space on a disk, largest first.
#[derive(Debug, Default, Parser)]
#[command(name = "weigh", version, disable_help_flag = true, disable_version_flag = true)]
#[command(max_term_width = 100, args_override_self = true)]
pub(super) struct Flags {
    #[command(flatten)]
    pub(super) roots: RootFlags,

    #[command(flatten)]
    pub(super) count: CountFlags,

    #[command(flatten)]
    pub(super) filters: FilterFlags,

    #[command(flatten)]
    pub(super) show: ShowFlags,

    #[command(flatten)]
    pub(super) clean: CleanFlags,

    #[command(flatten)]
    pub(super) watch: WatchFlags,

    #[command(flatten)]
    pub(super) snapshots: SnapshotFlags,

    #[command(flatten)]
    pub(super) screen: ScreenFlags,

    #[command(flatten)]
    pub(super) print: PrintFlags,

    /// The flags that change what counts, as they were typed; only if a snapshot is saved or compared.
    #[arg(skip)]
    pub(super) counting: Vec<String>,

    /// The flags for weigh on other machines, as they were typed.
    #[arg(skip)]
    pub(super) passed: Vec<OsString>,

    /// The flags that select what counts, with their values.
    #[arg(skip)]
    pub(super) selected_by: Option<String>,

    /// A note about a pattern on the command line that may be meant as PATH.
    #[arg(skip)]
    pub(super) swallowed: Option<String>,

    /// The machines that paths name.
    #[arg(skip)]
    pub(super) hosts: Vec<Host>,

    /// The command.
    #[arg(skip)]
    pub(super) command: &'static CommandInfo,

    /// Whether df has nothing to scan.
    #[arg(skip)]
    pub(super) is_df_alone: bool,

    /// Whether --no-remember was typed.
    #[arg(skip)]
    pub(super) keeps_nothing: bool,

    /// Whether --remember was typed, and not only in the config file.
    #[arg(skip)]
    pub(super) is_remember_typed: bool,

    /// Whether --no-apparent-size was typed: disk usage, also of what was saved with apparent sizes.
    #[arg(skip)]
    pub(super) is_disk: bool,

    /// The rules in the config file.
    #[arg(skip)]
    pub(super) rules: Vec<Arc<ReclaimRule>>,

    /// The source of listings.
    #[arg(skip)]
    pub(super) source: Source,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What to weigh")]
pub(super) struct CountFlags {
    /// Count file lengths instead of disk blocks
    #[arg(short = 's', long)]
    pub(super) apparent_size: bool,

    /// Count regular files instead of bytes
    #[arg(short, long)]
    pub(super) filecount: bool,

    /// Count inodes of every kind instead of bytes
    #[arg(long)]
    pub(super) inodes: bool,

    /// Show the newest time in each directory beside its size: a (access), c (change) or m (modification)
    #[arg(short = 'm', long, value_name = "TIME")]
    #[arg(value_parser = one_of(aliased(TIMES)), hide_possible_values = true)]
    pub(super) filetime: Option<Time>,

    /// Count a file once for each of its hard links
    #[arg(short = 'l', long)]
    pub(super) count_links: bool,

    /// On Windows, open every file to count it once, however many hard links it has
    #[arg(long, hide = Source::LISTS_LINKS)]
    pub(super) exact_links: bool,

    /// Follow symlinks; each directory is still entered once
    #[arg(short = 'L', long)]
    pub(super) dereference_links: bool,

    /// Count what overlays show, as du does, and not only their layers
    #[arg(long)]
    pub(super) overlays: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What to show")]
pub(super) struct ShowFlags {
    /// Show the NUMBER largest [default: what fits]
    ///
    /// The default fills the terminal, or is 20 without one. With -d or -z it is everything within those limits, and in
    /// JSON it is everything. Directories that lead to one entry share a line with it. One line sums up whatever is not
    /// visible, so that the lines add up to the total.
    #[arg(short, long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) number_of_lines: Option<usize>,

    /// Show DEPTH levels below each PATH
    ///
    /// --max-depth is the same.
    #[arg(
        short,
        long,
        visible_alias = "max-depth",
        value_name = "DEPTH",
        allow_negative_numbers = true
    )]
    pub(super) depth: Option<u32>,

    /// Show only entries of SIZE or more, as in 512, 10k, 10KiB, 10kB, 1.5G
    #[arg(short = 'z', long, value_name = "SIZE", value_parser = parse_size)]
    pub(super) min_size: Option<u64>,

    /// Show only directories
    #[arg(short = 'D', long)]
    pub(super) only_dir: bool,

    /// Show only files: a list of the largest
    #[arg(short = 'F', long)]
    pub(super) only_file: bool,

    /// Show totals by file extension, like --by type
    #[arg(short = 't', long)]
    pub(super) file_types: bool,

    /// Show totals by group
    ///
    /// The groups are file extensions, owners, ages (time since the last modification), sizes, or images
    /// and containers of Docker, podman or containerd. Every inode counts in one group, but for layers that
    /// several images share: these count in each of them.
    #[arg(long, value_name = "WHAT")]
    #[arg(value_parser = PossibleValuesParser::new(By::NAMES))]
    pub(super) by: Option<String>,

    /// Show directories with this name or path without their content
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(super) collapse: Vec<OsString>,

    /// Set the order of entries in the same directory
    ///
    /// With count, the number of inodes is shown beside the size. With time, the newest time in each directory
    /// is shown: the time that -m selects, or else that of the last modification.
    #[arg(long, value_name = "ORDER", value_parser = one_of(named(ORDERS)))]
    pub(super) sort: Option<SortKey>,

    /// Print only the total of each PATH, one per line, like du -sB1 PATH
    ///
    /// PATHs are in the order given. What several of them share counts in each. A PATH inside another has no line.
    #[arg(long)]
    pub(super) summarize: bool,

    /// Also show space that only df sees; PATH has to be a mount point (implies -x)
    #[arg(long, help_heading = "Browse")]
    pub(super) df: bool,

    /// Also show what deleting each entry frees, where hard links, clones or snapshots share its space
    ///
    /// Two figures are a lower and an upper bound: the space that no other file uses, and that space with the shared
    /// space, if nothing outside the entry shares it. On btrfs the upper bound, or a single figure, is an estimate.
    /// weigh opens files that take 64 KiB or more on XFS and btrfs, and reads none of them.
    #[arg(long)]
    #[arg(help_heading = "What can go")]
    pub(super) frees: bool,

    /// Begin with the entries that weigh clean lists
    #[arg(long = "clean", help_heading = "Browse")]
    pub(super) reclaimable: bool,

    /// List only entries that nobody wrote to since this time.
    #[arg(skip)]
    pub(super) unused: Option<When>,

    /// Do not show the line of the root
    #[arg(long)]
    pub(super) skip_total: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct PrintFlags {
    /// Print everything as JSON
    ///
    /// -n, -d, -z, -D and -F limit it.
    #[arg(short = 'j', long)]
    pub(super) output_json: bool,

    /// Print a format for other programs: everything, like -j
    ///
    /// md shows the 20 largest entries. html and svg show the 5,000 largest, or as many as fit into 1 MB. -n shows another
    /// number.
    #[arg(long = "as", value_name = "FORM")]
    #[arg(ignore_case = true, value_parser = one_of(forms()))]
    pub(super) form: Option<Form>,

    /// Show paths instead of names
    #[arg(short = 'p', long)]
    pub(super) full_paths: bool,

    /// Print the root at the top, and the largest entries next to it
    #[arg(short, long)]
    pub(super) reverse: bool,

    /// Print no bars and no percentages
    #[arg(short = 'b', long)]
    pub(super) no_percent_bars: bool,

    /// Draw the bars from the right
    #[arg(short = 'B', long, hide = true)]
    pub(super) bars_on_right: bool,

    /// Draw the bars in grey, if there are colours
    #[arg(long, hide = true)]
    pub(super) dim: bool,

    /// Print columns of words instead of a tree, for screen readers
    #[arg(short = 'R', long)]
    pub(super) screen_reader: bool,

    /// Print sizes in powers of 1000 (si), or all in one unit
    #[arg(short, long, value_name = "FORMAT", ignore_case = true, value_parser = one_of(aliased(FORMATS)))]
    pub(super) output_format: Option<Format>,

    /// Print times as full-iso, long-iso, iso, relative, or +FORMAT
    ///
    /// FORMAT has the syntax of strftime(3), as in +%d.%m.%Y.
    #[arg(long, value_name = "STYLE", value_parser = Style::parse)]
    pub(super) time_style: Option<Style>,

    /// Draw for a terminal that is WIDTH columns wide
    #[arg(short = 'w', long, value_name = "WIDTH", allow_negative_numbers = true)]
    #[arg(value_parser = value_parser!(u16).range(1..))]
    pub(super) terminal_width: Option<u16>,

    /// Print no colours
    #[arg(short = 'c', long, hide = true)]
    pub(super) no_colors: bool,

    /// Print colours even without a terminal
    #[arg(short = 'C', long, hide = true)]
    pub(super) force_colors: bool,

    /// Print colours: if the terminal can show them (auto, the default), always, or never
    ///
    /// The larger the share of the total, the warmer the colour of a size and its bar: from blue over green and yellow to
    /// red.
    #[arg(long, value_name = "WHEN")]
    #[arg(hide_possible_values = true)]
    #[arg(value_parser = one_of(named(WHEN)))]
    pub(super) color: Option<Auto<bool>>,

    /// Choose colours for a dark or a light background
    #[arg(long, hide = true, value_parser = one_of(named(THEMES)))]
    pub(super) theme: Option<Auto<Theme>>,

    /// Draw something in a colour
    #[arg(long, hide = true, value_parser = parse_color)]
    pub(super) color_of: Vec<(usize, Color)>,

    /// Make names links to their entries
    #[arg(long, hide = true, value_parser = one_of(named(WHEN)))]
    pub(super) hyperlink: Option<Auto<bool>>,

    /// Show no progress
    #[arg(short = 'P', long)]
    pub(super) no_progress: bool,

    /// Print nothing but errors on stderr: no progress and no notes
    #[arg(short, long)]
    pub(super) quiet: bool,

    /// Print a line for each path that could not be read
    #[arg(long)]
    pub(super) print_errors: bool,

    /// Print what the walk did on stderr: threads, time, system calls
    #[arg(long)]
    pub(super) stats: bool,

    /// Walk with NUMBER threads [default: as many as the storage keeps busy]
    #[arg(short = 'T', long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) threads: Option<NonZeroUsize>,

    /// Look at NUMBER entries a second at most, as in 2000, on a server that is busy
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) rate: Option<NonZeroU32>,

    /// How to read ext4: walk, bulk (from its device, several times faster; needs root), or auto (the default)
    ///
    /// With auto, weigh as root reads the inode tables of a slow disk before the walk, if PATH is the mount point. bulk
    /// reads nothing else, and walks other file systems that are mounted below PATH. If that is not possible, a message
    /// says why, and PATH is walked. walk uses no device.
    #[arg(long, value_name = "HOW", hide_possible_values = true)]
    #[arg(value_parser = one_of(named(READS)))]
    pub(super) read: Option<Auto<Read>>,

    /// Read settings from FILE instead of ~/.config/weigh/config.toml
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) config: Option<OsString>,

    /// Print the man page
    #[arg(long, exclusive = true)]
    pub(super) man: bool,

    /// Print help: -h what weigh can do, --help all flags
    #[arg(short = 'h', long)]
    pub(super) help: bool,

    /// Print the version
    #[arg(short = 'V', long)]
    pub(super) version: bool,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Snapshots and lists")]
pub(super) struct SnapshotFlags {
    /// Also save a snapshot in FILE, as in today.weigh; - is standard output
    ///
    /// An existing FILE is replaced only if it is empty or a snapshot from --save. If FILE is standard output, the
    /// snapshot is all that is printed. -j prints JSON for other programs.
    /// If FILE ends in a slash, it is a directory, and the snapshot is a new .weigh file there, named after the time.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) save: Option<PathBuf>,

    /// With --save DIR/, keep the last snapshot of each of N days, N weeks and N months, and remove the others
    ///
    /// Only snapshots of the same PATHs and host (or --series) are removed, and only those that were saved with --save
    /// DIR/. The last one that is complete always stays. A line on stderr says what was removed.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) keep: Option<NonZeroUsize>,

    /// Save inode numbers, owners and all times in the snapshot, too; or show them, with --ui or --as parquet
    #[arg(long)]
    pub(super) details: bool,

    /// Show a snapshot, an export of ncdu, or a list (of a tar file, a bucket) instead of a PATH; - is standard input
    ///
    /// weigh recognizes the content, also if it is compressed. Given several times, the files are shown together, like a
    /// scan of all their PATHs. Each host has a line if they are of several. A directory stands for the newest snapshot in
    /// it that --save DIR/ wrote.
    ///
    /// In a list, each line is a size in bytes, a blank, and a path; or it is CSV or JSON with path and size, or comes
    /// from find (--find-format). The order of lines does not matter. docs/lists.md has what to type for zip, git, buckets
    /// and others. For the files in a tar archive:
    ///
    ///   tar xf FILE --to-command='printf "$TAR_SIZE %s\0" "$TAR_FILENAME"' | weigh --from -
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) from: Vec<PathBuf>,

    /// How to read a list, if its content does not tell: list, du, tar or drive
    ///
    /// The size of a directory is its own (list), or the total, as du prints it. If a path comes again, the last line
    /// counts (tar), or all of them (drive, for Google Drive).
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    #[arg(value_parser = one_of(named(LISTS)))]
    pub(super) from_format: Option<ListOptions>,

    /// Print the format for find -printf that --from reads, with all that weigh wants to know
    #[arg(long, exclusive = true)]
    pub(super) find_format: bool,

    /// Weigh only one of N shares of PATH: the part numbered I, from 1 to N
    ///
    /// Saved on N machines that see the same PATH, and loaded together, the shares are the snapshot of one walk.
    #[arg(long, value_name = "I/N", value_parser = Share::parse)]
    pub(super) shard: Option<Share>,

    /// Show what changed since SINCE: last, 7d, 2026-11-01, a snapshot
    #[arg(long, value_name = "SINCE", value_hint = ValueHint::FilePath, help_heading = "Browse")]
    pub(super) since: Option<PathBuf>,

    /// The snapshots whose history to show.
    #[arg(skip)]
    pub(super) history: Option<Vec<PathBuf>>,

    /// Also keep this scan as a snapshot, for a later weigh diff or weigh history
    ///
    /// It is kept in ~/.local/state/weigh/snapshots if it is a scan of directories without filters. The last scan of
    /// each of 7 days, 7 weeks and 7 months stays. A line on stderr says which file it is, or why it is not kept. The next
    /// weigh diff compares with this scan, even if --fail-growth failed. weigh diff keeps its scan without this flag, unless
    /// --no-remember says otherwise.
    #[arg(long)]
    pub(super) remember: bool,

    /// Keep snapshots in the series NAME, whatever this host is called (for containers and CI)
    ///
    /// A snapshot records NAME instead of the host name. --keep and --remember remove only snapshots of the same host or
    /// series, and diff and history prefer them. A container has another host name each time.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(super) series: Option<String>,

    /// Let all snapshots of --remember take at most so many bytes
    #[arg(long, hide = true, value_parser = parse_size)]
    pub(super) remember_bound: Option<u64>,

    /// List the scans that weigh kept of PATHs (without PATH: all)
    #[arg(long)]
    pub(super) scans: bool,

    /// Remove the scans that weigh kept of PATHs (without PATH: all), and print which
    #[arg(long)]
    pub(super) forget: bool,

    /// Exit with status 3 if the total exceeds SIZE
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(super) fail_over: Option<u64>,

    /// Exit with status 3 if the total grew by more than SIZE, as in 500M or 20%
    #[arg(long, value_name = "SIZE", value_parser = Growth::parse, allow_hyphen_values = true)]
    pub(super) fail_growth: Option<Growth>,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Browse")]
pub(super) struct ScreenFlags {
    /// The same as the command ui
    #[arg(short = 'u', long, hide = true)]
    pub(super) ui: bool,

    /// Turn off deleting
    #[arg(long)]
    pub(super) read_only: bool,

    /// Print the directory in which you quit, for cd "$(weigh ui --cd)"
    #[arg(long)]
    pub(super) cd: bool,

    /// End the paths that p prints with NUL instead of a newline
    #[arg(long)]
    pub(super) print0: bool,

    /// Give an action a key instead of its own
    #[arg(long, hide = true, value_parser = Binding::parse)]
    pub(super) key_of: Vec<Binding>,
}

/// Which of a file's times.
const TIMES: [(&str, &str, Time); 3] = [
    ("a", "accessed", Time::Accessed),
    ("c", "changed", Time::Changed),
    ("m", "modified", Time::Modified),
];

/// A choice; none if it is left to weigh. clap would take a plain Option here for a value that may be missing.
pub(super) type Auto<T> = Option<T>;

/// Whether there are colours, or links.
const WHEN: [(&str, Auto<bool>); 3] =
    [("auto", None), ("always", Some(true)), ("never", Some(false))];

/// What the background of the terminal is.
const THEMES: [(&str, Auto<Theme>); 4] = [
    ("auto", None),
    ("dark", Some(Theme::Dark)),
    ("light", Some(Theme::Light)),
    ("none", Some(Theme::None)),
];

/// How to read ext4. By default, weigh reads directories, and on a slow disk first from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// From directories alone.
    Walk,
    /// From the device.
    Bulk,
}

const READS: [(&str, Auto<Read>); 3] =
    [("auto", None), ("walk", Some(Read::Walk)), ("bulk", Some(Read::Bulk))];

/// How to read a list.
const LISTS: [(&str, ListOptions); 4] = [
    ("list", list(Some(false), Duplicates::Refused)),
    ("du", list(Some(true), Duplicates::Refused)),
    ("tar", list(None, Duplicates::Last)),
    ("drive", list(None, Duplicates::All)),
];

const fn list(totals: Option<bool>, duplicates: Duplicates) -> ListOptions {
    ListOptions { totals, duplicates, one_file_system: false }
}

/// In which order siblings are shown.
const ORDERS: [(&str, SortKey); 4] = [
    ("size", SortKey::Size),
    ("name", SortKey::Name),
    ("count", SortKey::Count),
    ("time", SortKey::Modified),
];

/// How sizes are written: what that is called, by what other name, and in which unit.
const FORMATS: [(&str, &str, Format); 10] = [
    ("si", "si", Format::Decimal),
    ("b", "b", fixed("B", 1)),
    ("k", "kib", fixed("Ki", 1 << 10)),
    ("m", "mib", fixed("Mi", 1 << 20)),
    ("g", "gib", fixed("Gi", 1 << 30)),
    ("t", "tib", fixed("Ti", 1 << 40)),
    ("kb", "kb", fixed("K", 1_000)),
    ("mb", "mb", fixed("M", 1_000_000)),
    ("gb", "gb", fixed("G", 1_000_000_000)),
    ("tb", "tb", fixed("T", 1_000_000_000_000)),
];

const fn fixed(name: &'static str, bytes: u64) -> Format {
    Format::Fixed(Unit { name, bytes })
}

/// The values of `--as`.
fn forms() -> [(PossibleValue, Form); Form::ALL.len()] {
    Form::ALL.map(|(name, form, help)| {
        let value = PossibleValue::new(name).help(help);
        (if form == Form::Markdown { value.alias("markdown") } else { value }, form)
    })
}

pub(super) fn named<T, const N: usize>(table: [(&'static str, T); N]) -> [(PossibleValue, T); N] {
    table.map(|(name, value)| (name.into(), value))
}

fn aliased<T, const N: usize>(
    table: [(&'static str, &'static str, T); N],
) -> [(PossibleValue, T); N] {
    table.map(|(name, alias, value)| (PossibleValue::new(name).alias(alias), value))
}

/// Reads what one of `known` is called.
pub(super) fn one_of<T, const N: usize>(
    known: [(PossibleValue, T); N],
) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let names = known.each_ref().map(|(name, _)| name.clone());
    PossibleValuesParser::new(names).try_map(move |typed| {
        let found = known.iter().find(|(name, _)| name.matches(&typed, true));
        found.map(|(_, value)| value.clone()).ok_or("it is not known")
    })
}

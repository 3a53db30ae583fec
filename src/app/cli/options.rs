//! Turns flags into the options of each stage.

use std::collections::BTreeMap;
use std::env;
use std::sync::{Arc, LazyLock};

use super::commands::CLEAN;
use super::elsewhere::nearest;
use super::flags::{Flags, PrintFlags, Read, ShowFlags};
use super::screen::{homes, user_directories};
use crate::app::browse::{LazySearch, SortKey};
use crate::app::terminal;
use weigh::internal::ask::Keep;
use weigh::internal::ask::reclaimable::{BUILT_IN, ReclaimRule, Search};
use weigh::internal::base::escape::harmless;
use weigh::internal::base::measure::{Measure, Time, View};
use weigh::internal::base::when::When;
use weigh::internal::scan::filter::{Filter, Paths};
use weigh::internal::scan::walk;
use weigh::internal::show::colors::Colors;
use weigh::internal::show::name::Hyperlinks;
use weigh::internal::show::palette::Palette;
use weigh::internal::show::size::Format;
use weigh::internal::show::time::{Style, TimeFormat};
use weigh::internal::show::tree::{self, Bars};
use weigh::internal::show::{Form, page};
use weigh::internal::sys;
use weigh::internal::tree::Order;
use weigh::internal::tree::tally::{By, Inodes, Limits, Show};

/// A user's `own` rules, and then those that come with weigh, which a test checks like those of users.
fn with_built_in(own: &[Arc<ReclaimRule>]) -> Result<Vec<Arc<ReclaimRule>>, String> {
    let built_in: BTreeMap<String, Vec<ReclaimRule>> =
        toml::from_str(BUILT_IN).map_err(|error| error.to_string())?;
    let built_in = built_in.into_values().flatten().map(Arc::new);
    Ok(own.iter().cloned().chain(built_in).collect())
}

impl Flags {
    pub(super) fn walk(&self) -> Result<walk::WalkOptions, String> {
        // Filters of clean choose among what rules find. In the scan they would hide files that the rules need.
        let mut filter =
            if self.command.is(&CLEAN) { Filter::default() } else { self.filters.filter()? };
        filter.collapse = Paths::new(self.show.collapse.iter().cloned());
        filter.share = self.snapshots.shard;
        let count = &self.count;
        let may_show_times = self.screen.ui || self.is_page() || self.show.reclaimable;
        // Symlinks lead to an inode more than once, too.
        let needs_links = count.exact_links || count.dereference_links;
        let read = self.print.read.flatten();
        Ok(walk::WalkOptions {
            view: self.view(),
            rules: walk::Rules {
                // The one to show, which in --ui a key asks for, and on a page a switch.
                time: self.filetime().or(may_show_times.then_some(Time::Modified)),
                follow: count.dereference_links,
                count_links: count.count_links,
                frees: self.show.frees,
            },
            threads: self.print.threads,
            rate: self.print.rate,
            // Other file systems do not belong to what this one holds.
            one_file_system: self.filters.limit_filesystem || self.show.df,
            skip: self.filters.skipped()?,
            overlays: count.overlays,
            prefetch: read != Some(Read::Walk) && self.print.rate.is_none(),
            bulk: read == Some(Read::Bulk),
            source: if needs_links { self.source.with_links() } else { self.source },
            filter,
            ..walk::WalkOptions::default()
        })
    }

    /// The time to show, if any. To sort by time is to show times.
    pub(super) fn filetime(&self) -> Option<Time> {
        let by_time = self.show.sort == Some(SortKey::Modified);
        self.count.filetime.or(by_time.then_some(Time::Modified))
    }

    pub(super) fn is_page(&self) -> bool {
        matches!(self.form(), Some(Form::Page(_)))
    }

    pub(super) fn view(&self) -> View {
        let measure = self.size_measure().unwrap_or_default();
        View { measure, by_time: self.filetime().is_some() }
    }

    /// Whether what is shown are bytes, and no counts or times.
    pub(super) fn is_in_bytes(&self) -> bool {
        let View { measure, by_time } = self.view();
        !by_time && matches!(measure, Measure::Disk | Measure::Apparent)
    }

    /// What sizes measure, if a flag says so.
    pub(super) fn size_measure(&self) -> Option<Measure> {
        match (self.count.apparent_size, self.count.filecount, self.count.inodes) {
            (true, _, _) => Some(Measure::Apparent),
            (_, true, _) => Some(Measure::Files),
            (_, _, true) => Some(Measure::Inodes),
            _ => self.is_disk.then_some(Measure::Disk),
        }
    }

    pub(super) fn order(&self) -> Order {
        match self.show.sort {
            Some(SortKey::Name) => Order::Name,
            Some(SortKey::Count) => Order::Count,
            _ => Order::Size,
        }
    }

    /// The order in a picture. Ages and sizes have an order of their own, unless --sort asks for another.
    fn drawn_order(&self) -> Order {
        let own = self.by().and_then(By::order).filter(|_| self.show.sort.is_none());
        own.map_or_else(|| self.order(), Order::Listed)
    }

    /// The key of the groups, if there are groups.
    fn by(&self) -> Option<By> {
        let named =
            self.show.by.as_deref().and_then(|name| By::named(name, sys::user_name, sys::now));
        named.or(self.show.file_types.then_some(By::Type))
    }

    /// The name of that key.
    pub(super) fn by_name(&self) -> Option<String> {
        self.show.by.clone().or(self.show.file_types.then(|| "type".to_owned()))
    }

    /// Groups have no paths.
    pub(super) fn full_paths(&self) -> bool {
        self.print.full_paths && !self.show.file_types && self.show.by.is_none()
    }

    /// What to keep in order to show it.
    pub(super) fn keep(&self, limits: Option<Limits>) -> Keep {
        if self.screen.ui {
            return Keep::Everything(self.browsed_inodes());
        }
        if self.show.reclaimable {
            return Keep::Everything(Inodes::DIRECTORIES);
        }
        let has_details = self.form().is_some_and(Form::shows_details) && self.snapshots.details;
        let inodes = match self.form() {
            _ if has_details => Inodes::ALL,
            Some(form) if form.adds_up() => Inodes::LINKED,
            _ => Inodes::NONE,
        };
        let Some(by) = self.by() else {
            let candidates = limits.map(|limits| match self.chooses_lines() {
                true => limits.for_candidates(),
                false => limits,
            });
            return candidates.map_or(Keep::Everything(inodes), Keep::Largest);
        };
        let Limits { lines, min_size, .. } = limits.unwrap_or(Limits::NONE);
        Keep::Groups(by, Limits { lines, min_size, ..Limits::NONE })
    }

    /// JSON has no limits by default; a picture has.
    pub(super) fn limits(&self, terminal: Option<(usize, usize)>) -> Option<Limits> {
        let show = match (self.show.only_dir, self.show.only_file) {
            (true, _) => Show::Directories,
            (_, true) => Show::Files,
            _ => Show::Everything,
        };
        let is_limited = self.show.number_of_lines.is_some()
            || self.show.depth.is_some()
            || self.show.min_size.is_some()
            || show != Show::Everything;
        let is_series = self.form() == Some(Form::Prometheus);
        if self.show.summarize || is_series && !is_limited || self.is_of_space() {
            return Some(Limits { depth: 0, roots: usize::MAX, ..Limits::NONE });
        }
        let (is_page, is_markdown) = (self.is_page(), self.form() == Some(Form::Markdown));
        let is_drawn = self.form().is_none() || is_page || is_markdown;
        let usual = match is_page {
            true => page::NODES,
            false => default_lines(terminal.filter(|_| !is_markdown)),
        };
        let fitting = self.show.number_of_lines.unwrap_or(usual);
        // -d and -z show everything that they admit, whatever the height of the terminal. A page has a limit of its
        // own.
        let is_asked_for = self.show.depth.is_some() || self.show.min_size.is_some();
        let is_cut = is_page || is_drawn && !is_asked_for;
        let default_lines = if is_cut { fitting } else { usize::MAX };
        let are_many = self.roots.are_listed() || self.is_loaded();
        (is_drawn || is_limited).then(|| Limits {
            lines: self.show.number_of_lines.unwrap_or(default_lines),
            depth: self.show.depth.unwrap_or(u32::MAX),
            min_size: self.show.min_size.filter(|_| self.filetime().is_none()).unwrap_or(0),
            show,
            // There is nothing to compare with, so their own lines say it all.
            opens_new: self.show.depth.is_some()
                || self.form().is_some() && !is_markdown
                || show == Show::Files,
            roots: match (is_drawn, are_many) {
                // Errors are counted at each root.
                _ if is_series => usize::MAX,
                (false, _) => 0,
                // A user who gives a path wants to see its line. A list of paths, or a snapshot of one, may be long.
                (true, true) => fitting.max(self.snapshots.from.len()),
                (true, false) => usize::MAX,
            },
        })
    }

    /// Whether lines about file systems stand alone: unless a flag chooses lines of a tree.
    fn is_of_space(&self) -> bool {
        let ShowFlags { number_of_lines, depth, min_size, by, collapse, .. } = &self.show;
        let chooses = number_of_lines.is_some()
            || depth.is_some()
            || min_size.is_some()
            || by.is_some()
            || !collapse.is_empty()
            || self.show.only_dir
            || self.show.only_file
            || self.show.file_types
            || self.show.frees;
        self.show.df && !self.screen.ui && self.form().is_none() && !chooses
    }

    /// Whether the lines of a tree are chosen as it is drawn, because chains of directories share a line.
    fn chooses_lines(&self) -> bool {
        matches!(self.form(), None | Some(Form::Markdown))
            && !self.print.screen_reader
            && !self.full_paths()
            && !self.show.only_file
            && self.snapshots.history.is_none()
            && self.snapshots.since.is_none()
    }

    /// How to find entries that can go, if that is asked for.
    pub(super) fn reclaimable(&self) -> Result<Option<Search>, String> {
        if !self.show.reclaimable || self.screen.ui {
            return Ok(None);
        }
        // Perhaps nobody looks at the entries of a plan, so it needs rules that come with weigh.
        let own = if self.clean.plan.is_some() { &[][..] } else { &self.rules };
        let rules = with_built_in(own)?;
        let is_unknown = |name: &&String| !rules.iter().any(|rule| rule.is_named(name));
        if let Some(name) = self.clean.only.iter().find(is_unknown) {
            let names = rules.iter().map(|rule| &*rule.name);
            let near = nearest(name, names).unwrap_or("cargo or npm-cache");
            let name = harmless(name.as_bytes());
            return Err(format!("--only {name}: no rule has this name\nas in --only {near}"));
        }
        Ok(Some(Search { rules, ..self.search_without_rules()? }))
    }

    /// How the screen finds entries that can go. The rules are read when that is asked for: it takes 2 ms.
    pub(super) fn search_later(&self) -> Result<LazySearch, String> {
        let (own, search) = (self.rules.clone(), self.search_without_rules()?);
        Ok(Arc::new(LazyLock::new(Box::new(move || {
            // A test reads the rules that come with weigh.
            let rules = with_built_in(&own).unwrap_or(own);
            Arc::new(Search { rules, ..search })
        }))))
    }

    fn search_without_rules(&self) -> Result<Search, String> {
        let is_markdown = self.form() == Some(Form::Markdown);
        let usual = if is_markdown { default_lines(None) } else { usize::MAX };
        // A list has kinds, which need all their entries.
        let lines = self.show.number_of_lines.filter(|_| self.form().is_some());
        let spared =
            if self.command.is(&CLEAN) { self.filters.filter()? } else { Filter::default() };
        let has_spared = !self.filters.exclude.is_empty()
            || !self.filters.exclude_from.is_empty()
            || !self.filters.ignore_directory.is_empty();
        let is_json = self.form() == Some(Form::Json);
        Ok(Search {
            rules: Vec::new(),
            only: self.clean.only.clone(),
            free: self.clean.free,
            plan: self.clean.plan.clone(),
            spared,
            // With `--older 0h`, also files of the future count: a clock was wrong.
            older: self
                .show
                .unused
                .filter(|when| !matches!(when, When::Ago(0, _)))
                .map(|when| when.moment(sys::now(), sys::time_zone)),
            homes: homes(),
            lines: lines.unwrap_or(usual),
            min_size: self.show.min_size.unwrap_or(0),
            looks_twice: self.command.is(&CLEAN)
                && (self.clean.apply || self.clean.plan.is_some() || is_json || has_spared),
            owners: self.filters.owners()?,
            trash: self.clean.empty_trash.then(user_directories),
            leaves_out_mounts: self.filters.limit_filesystem || !self.filters.skip.is_empty(),
        })
    }

    pub(super) fn picture(&self, terminal: Option<(usize, usize)>) -> tree::PictureOptions {
        /// The width without a terminal. A screen reader needs none.
        const WIDTH: usize = 80;
        let is_colored = self.wants_colors(terminal::wants_colors);
        let columns = terminal::asked_columns().filter(|_| !self.is_page());
        let columns = columns.or(terminal.map(|(width, _)| width));
        // Programs read a pipe, and people copy paths from it.
        let is_read = terminal.is_some() && terminal::is_stdout();
        // A history and a page show dates without times.
        let is_by_day = self.snapshots.history.is_some() || self.is_page();
        let dates = if is_by_day { "%Y-%m-%d" } else { "%Y-%m-%d %H:%M" };
        tree::PictureOptions {
            width: match (self.print.terminal_width, columns) {
                (Some(width), _) => width.into(),
                (None, Some(width)) => width,
                (None, None) if self.print.screen_reader => usize::MAX,
                (None, None) => WIDTH,
            },
            bars: match (self.print.no_percent_bars, self.print.bars_on_right) {
                (true, _) => Bars::None,
                (_, true) => Bars::Right,
                _ => Bars::Left,
            },
            format: self.format(),
            times: self.filetime().map(|_| self.times()).map(|times| match is_read {
                true if self.print.time_style.is_none() => {
                    TimeFormat { style: Style::Relative, ..times }
                }
                _ => times,
            }),
            dates: self.times_as(dates),
            order: self.drawn_order(),
            is_root_first: self.print.reverse,
            by: self.by_name().unwrap_or_default(),
            full_paths: self.full_paths(),
            shortens_paths: is_read,
            skip_total: self.show.skip_total,
            root_alone: self.show.depth == Some(0) || self.show.number_of_lines == Some(0),
            one_kind: self.show.only_dir || self.show.only_file,
            // The header of a loaded snapshot knows more.
            knows_own: !self.is_loaded(),
            is_of_space: self.is_of_space(),
            screen_reader: self.print.screen_reader,
            dim: self.print.dim,
            charset: terminal::charset(),
            links: self.links(),
            colors: is_colored.then(|| self.colors()),
            ..tree::PictureOptions::default()
        }
    }

    /// Whether there are colours: as a flag says, or else as `by_default` says.
    pub(super) fn wants_colors(&self, by_default: fn() -> bool) -> bool {
        let PrintFlags { color, force_colors, no_colors, .. } = self.print;
        color.flatten().unwrap_or_else(|| force_colors || !no_colors && by_default())
    }

    /// The colours: of names as the environment sets them, and of all else as the theme and the terminal do.
    pub(super) fn colors(&self) -> Colors {
        let theme = self.print.theme.flatten().unwrap_or_else(terminal::theme);
        let palette = Palette::new(theme, terminal::depth());
        let own = self.print.color_of.iter();
        let palette = own.fold(palette, |palette, (role, color)| palette.with(*role, *color));
        Colors::new(&env::var("LS_COLORS").unwrap_or_default(), palette)
    }

    /// Where names lead, if links are wanted. Paths in a snapshot need not be relative to the directory here.
    fn links(&self) -> Option<Hyperlinks> {
        let is_wanted = self.print.hyperlink.flatten().unwrap_or_else(|| {
            let is_plain = self.print.screen_reader || !self.wants_colors(terminal::wants_colors);
            terminal::wants_links() && !is_plain
        });
        let is_loaded = self.is_loaded();
        let directory = env::current_dir().ok().filter(|_| !is_loaded).unwrap_or_default();
        let directory = directory.into_os_string().into_encoded_bytes();
        is_wanted.then(|| Hyperlinks { host: sys::host(), directory })
    }

    /// How to write bytes.
    pub(super) fn format(&self) -> Format {
        self.print.output_format.clone().unwrap_or_default()
    }

    /// How times are written.
    pub(super) fn times(&self) -> TimeFormat {
        let style = self.print.time_style.clone().unwrap_or_default();
        TimeFormat { style, zone: Arc::new(LazyLock::new(sys::time_zone)), now: sys::now() }
    }

    /// How times are written where `usual` is enough, unless a flag says otherwise.
    pub(super) fn times_as(&self, usual: &str) -> TimeFormat {
        let style = self.print.time_style.clone().unwrap_or(Style::Format(usual.to_owned()));
        TimeFormat { style, ..self.times() }
    }
}

/// How many entries fit the terminal.
fn default_lines(terminal: Option<(usize, usize)>) -> usize {
    /// Without a terminal.
    const LINES: usize = 20;
    /// Two lines for the root and for the rest, and three for the command and a prompt of two lines.
    const OTHERS: usize = 2 + 3;
    /// The least, on a very low terminal.
    const AT_LEAST: usize = 5;
    terminal.map_or(LINES, |(_, height)| height.saturating_sub(OTHERS).max(AT_LEAST))
}

//! `weigh ui` without a terminal: one types, and sees what is on the screen, what is marked, and what is to be done. No other
//! test knows how the screen is built.
//!
//! Each letter is a key. These letters stand for keys that have none:
//!
//! | `↑ ↓ ← →` | arrows | `\n` | Enter | `\x1b` | Esc |
//! |---|---|---|---|---|---|
//! | `⇱ ⇲` | Home, End | `\t ⇤` | Tab, Shift-Tab | `\x7f ⌦` | Backspace, Delete |
//! | `⇞ ⇟` | Page Up, Page Down | `⇡ ⇣` | the wheel | `\x01` to `\x1a` | Ctrl with a letter |

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use jiff::tz::TimeZone;
use ratatui_core::backend::TestBackend;
use ratatui_core::buffer::Buffer;
use ratatui_core::terminal::Terminal;
use tempfile::TempDir;

use crate::picture::cells;
use weigh::app::browse::Protected;
use weigh::app::browse::browser::{Browser, ViewKind};
use weigh::app::browse::event::{Command, Ending, Event};
use weigh::app::browse::keys::Key;
use weigh::app::browse::listing::Item;
use weigh::app::browse::review::RemovalProgress;
use weigh::app::browse::work::{Console, Work};
use weigh::app::browse::{Binding, Bindings, BrowseOptions, view};
use weigh::app::kept::KeptScans;
use weigh::app::signals::TerminalSignals;
use weigh::internal::ask::reclaimable::{BUILT_IN, ReclaimRule, Search};
use weigh::internal::ask::{self, Input, Keep, Outcome, Request};
use weigh::internal::base::measure::Time;
use weigh::internal::from::series::Remembered;
use weigh::internal::from::snapshot::{Cause, FileSystem, Unknown, Unseen};
use weigh::internal::remove::{self, Manner, RemovalEvent, RemovalStep, Removed, UserDirectories};
use weigh::internal::scan::filter::any_pattern;
use weigh::internal::scan::walk::{Progress, WalkOptions, walk};
use weigh::internal::show::colors::Colors;
use weigh::internal::show::palette::{Charset, Palette};
use weigh::internal::show::time::TimeFormat;
use weigh::internal::show::watch::{self, WatchOptions};
use weigh::internal::sys::problem::Operation;
use weigh::internal::sys::{self, Holder, Space};
use weigh::internal::tree::tally::{Entry, Inodes, Live, LivePart, Tally, Whole};
use weigh::internal::tree::{Totals, Tree};
use weigh::internal::watch::{Followed, Growth, HeldFile, Report, Row, Writer};

pub use weigh::internal::show::name::cells as width;
pub use weigh::internal::show::palette::{Depth, ROLES, Theme};
pub use weigh::internal::sys::problem::Problem;

/// A table of `weigh watch` on 90 columns, as docs describe it.
pub fn watched(theme: Theme) -> String {
    const MI: i64 = 1 << 20;
    let row = |path: &str, [recent, so_far]: [i64; 2], writers: &[(u32, &str, &str, &str)]| Row {
        path: path.into(),
        growth: Growth { recent, so_far },
        writers: writers
            .iter()
            .map(|(pid, command, user, unit)| {
                let process = Holder { pid: *pid, command: (*command).into() };
                let writer = Writer { process, user: None, unit: (*unit).to_owned() };
                let growth = Growth { recent: recent / 2, so_far: so_far / 2 };
                (writer, Some((*user).to_owned()), growth)
            })
            .collect(),
    };
    let app: Vec<_> = (0..12).map(|pid| (1_400 + pid, "app", "app", "app.service")).collect();
    let java = Holder { pid: 998, command: b"java".to_vec() };
    let mut report = Report {
        elapsed: Duration::from_secs(120),
        window: Duration::from_secs(10),
        ways: vec![Followed {
            path: b"/".to_vec(),
            space: Space { available: 71 << 30, size: 1 << 40, ..Space::default() },
            rate: f64::from(42 << 20),
            full_in: Some(1_731.0),
            ..Followed::default()
        }],
        rows: vec![
            row("/home/ann/.cache/x", [410 * MI, 3_900 * MI], &[(3_120, "python", "ann", "")]),
            row("/var/log/app", [12 * MI, 130 * MI], &app),
            row("/srv/backup", [-5 * MI, -210 * MI], &[(7_022, "rm", "root", "")]),
        ],
        not_attributed: 70 * MI,
        of: 4_100 * MI,
        is_all: true,
        held: vec![HeldFile::default()],
        ..Report::default()
    };
    let held = &mut report.held[0];
    (held.size, held.writer.process) = (39_011 << 20, java);
    held.user = Some("tomcat".to_owned());
    watch::sort(&mut report, false, &[]);
    let options = WatchOptions {
        size: (90, 24),
        home: b"/home/ann".to_vec(),
        palette: Some(Palette::new(theme, Depth::Rgb)),
        selected: Some(b"/var/log/app".to_vec()),
        ..WatchOptions::default()
    };
    let mut lines = watch::lines(&report, &options);
    lines.push(watch::keys(false, true, &options));
    lines.join("\n")
}

/// A screen of what is at `root`.
pub fn open(root: impl AsRef<Path>) -> Session {
    of([root]).open()
}

/// What is at `roots`.
pub fn of<P: AsRef<Path>>(roots: impl IntoIterator<Item = P>) -> Setup {
    let roots = roots.into_iter().map(|root| root.as_ref().as_os_str().to_owned());
    let roots: Vec<OsString> = roots.collect();
    Setup::new(Input::Roots(roots), Inodes::FINGERPRINTS)
        .with(|it| it.walk.rules.time = Some(Time::Modified))
}

/// The snapshots or lists at `paths`, without times.
pub fn files<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Setup {
    let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
    Setup::new(Input::Files(paths.collect(), Default::default()), Inodes::DATED_DIRECTORIES)
}

/// What is browsed, and how.
#[derive(Clone)]
pub struct Setup {
    request: Request,
    options: BrowseOptions,
    height: u16,
    own_home: Option<Arc<TempDir>>,
}

impl Setup {
    fn new(source: Input, inodes: Inodes) -> Self {
        let keep = Keep::Everything(inodes);
        let request = Request { source, keep, ..Request::default() };
        Self { request, options: BrowseOptions::default(), height: 24, own_home: None }
    }

    fn with(mut self, change: impl FnOnce(&mut Request)) -> Self {
        change(&mut self.request);
        self
    }

    fn having(mut self, change: impl FnOnce(&mut BrowseOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// The home directory: with the log and the trash, and never marked.
    pub fn home(self, home: impl AsRef<Path>) -> Self {
        let home = home.as_ref().to_owned();
        let directories = UserDirectories::of(|name| (name == "HOME").then(|| home.clone()));
        self.having(|it| (it.directories, it.homes) = (directories, vec![home]))
    }

    /// A home directory of its own, which goes with the screen.
    pub fn own_home(self) -> Self {
        let home = tempfile::tempdir().unwrap();
        let setup = self.home(home.path());
        Self { own_home: Some(Arc::new(home)), ..setup }
    }

    /// Home directories, without a place for the log: nothing is deleted.
    pub fn homes(self, homes: Vec<PathBuf>) -> Self {
        self.having(|it| it.homes = homes)
    }

    /// With `--details`: owners, and times of everything.
    pub fn details(self) -> Self {
        self.with(|it| it.keep = Keep::Everything(Inodes { fingerprints: true, ..Inodes::ALL }))
    }

    /// Of a snapshot, with times.
    pub fn times(self) -> Self {
        self.with(|it| it.walk.rules.time = Some(Time::Modified))
    }

    /// With times of change (`-m c`).
    pub fn times_of_change(self) -> Self {
        self.with(|it| it.walk.rules.time = Some(Time::Changed))
    }

    /// With `--frees`.
    pub fn frees(self) -> Self {
        self.with(|it| it.walk.rules.frees = true)
    }

    /// With `-x`.
    pub fn one_file_system(self) -> Self {
        self.with(|it| it.walk.one_file_system = true)
    }

    /// With `--df`.
    pub fn df(self) -> Self {
        self.with(|it| it.file_systems = true)
    }

    /// With `--since`.
    pub fn since(self, saved: &Path) -> Self {
        self.with(|it| it.since = Some(saved.to_owned()))
    }

    /// With kept scans in this directory, which the last line calls those of `paths`.
    pub fn kept(self, directory: PathBuf, paths: &str) -> Self {
        let zone: fn() -> TimeZone = || TimeZone::UTC;
        let times =
            TimeFormat { style: Default::default(), zone: Arc::new(LazyLock::new(zone)), now: 0 };
        let kept = KeptScans {
            remembered: Remembered { directory, bound: 1 << 30 },
            needs_complete: false,
            paths: format!(" {paths}"),
            minutes: times.clone(),
            days: times,
        };
        self.having(|it| it.kept = Some(kept))
    }

    /// With `--remember`, in this directory.
    pub fn remember(self, directory: PathBuf) -> Self {
        self.with(|it| it.remember = Some(Remembered { directory, bound: 1 << 30 }))
    }

    /// Paths that match (`-e`).
    pub fn only(self, regex: &[u8]) -> Self {
        self.with(|it| it.walk.filter.regexes.only = any_pattern(&[regex.to_vec()]).unwrap())
    }

    /// Without paths that match (`-v`).
    pub fn never(self, regex: &[u8]) -> Self {
        self.with(|it| it.walk.filter.regexes.never = any_pattern(&[regex.to_vec()]).unwrap())
    }

    /// With `--ignore-hidden`.
    pub fn ignore_hidden(self) -> Self {
        self.with(|it| it.walk.filter.leaves_out_hidden = true)
    }

    /// With `--exclude-caches`.
    pub fn exclude_caches(self) -> Self {
        self.with(|it| it.walk.filter.leaves_out_caches = true)
    }

    /// With `--clean`.
    pub fn clean(self) -> Self {
        self.having(|it| it.begins_with_clean = true)
    }

    /// With the rules that come with weigh; not what was written after a time, if there is one.
    pub fn built_in_rules(self, older: Option<i64>) -> Self {
        let table: BTreeMap<String, Vec<ReclaimRule>> = toml::from_str(BUILT_IN).unwrap();
        let rules = table.into_values().flatten().map(Arc::new).collect();
        let homes = self.options.homes.clone();
        let search = Search { rules, older, homes, lines: usize::MAX, ..Search::default() };
        let search = LazyLock::new(Box::new(|| Arc::new(search)) as Box<_>);
        self.having(|it| it.search = Some(Arc::new(search)))
    }

    /// With `--read-only`.
    pub fn read_only(self) -> Self {
        self.having(|it| it.read_only = true)
    }

    /// Run by root.
    pub fn by_root(self) -> Self {
        self.having(|it| it.is_root = true)
    }

    /// With other keys, each as `ACTION=KEY`.
    pub fn keys(self, keys: &[&str]) -> Self {
        let keys = bindings(keys).unwrap();
        self.having(|it| it.keys = keys)
    }

    /// In a locale without Unicode.
    pub fn ascii(self) -> Self {
        self.having(|it| it.charset = Charset::Ascii)
    }

    /// At this time, in UTC.
    pub fn at(self, now: i64) -> Self {
        let zone: fn() -> TimeZone = || TimeZone::UTC;
        let zone = Arc::new(LazyLock::new(zone));
        self.having(|it| it.times = Some(TimeFormat { style: Default::default(), zone, now }))
    }

    /// In colours; this role in one of the user's.
    pub fn colors(
        self,
        theme: Theme,
        depth: Depth,
        own: Option<(usize, nu_ansi_term::Color)>,
    ) -> Self {
        let palette = Palette::new(theme, depth);
        let palette = own.map_or(palette, |(role, color)| palette.with(role, color));
        self.having(|it| it.colors = Some(Colors::new("", palette)))
    }

    /// On a screen of 80 columns and so many lines.
    pub fn lines(self, height: u16) -> Self {
        Self { height, ..self }
    }

    /// The screen after the scan.
    pub fn open(self) -> Session {
        let mut session = self.scanning();
        session.protect(&session.options.homes.clone());
        session.scan_all();
        session
    }

    /// The screen after the scan, but before it is known what must not be marked.
    pub fn open_unprotected(self) -> Session {
        let mut session = self.scanning();
        session.scan_all();
        session
    }

    /// The screen after a scan that was stopped at once.
    pub fn open_stopped(self) -> Session {
        self.request.interrupt.is_asked.store(true, Ordering::SeqCst);
        let session = self.clone().open();
        self.request.interrupt.is_asked.store(false, Ordering::SeqCst);
        session
    }

    /// The screen during a scan, which ends with [`Session::scan_all`].
    pub fn scanning(self) -> Session {
        let Self { request, options, height, own_home } = self;
        // Each report shows another state of a removal.
        let work = Work::new(&request, &options, TerminalSignals::default(), Duration::ZERO);
        let browser = Browser::new(request.clone(), options.clone());
        let mut session = Session {
            request,
            options,
            browser,
            work,
            size: (80, height),
            wanted: Vec::new(),
            progress: RemovalProgress::default(),
            outside: Vec::new(),
            _home: own_home,
        };
        session.fit();
        session
    }

    /// The screen of a snapshot of which only the listings are known, until [`Session::load`].
    pub fn open_listings(self) -> Session {
        let (browsed, listings) =
            ask::listings(&self.request).expect("it can be read by its listings");
        let mut session = self.scanning();
        let view = browsed.snapshot.view;
        assert!(session.on(Event::Opened(Box::new(listings), view)).is_empty());
        session
    }

    fn scanned(&self) -> Outcome {
        scanned(&self.request)
    }

    /// The figures of a scan.
    pub fn figures(&self) -> Figures {
        figures(&self.scanned().snapshot.report.answer.unwrap())
    }
}

/// What `request` comes to.
fn scanned(request: &Request) -> Outcome {
    ask::browse(request, Arc::default(), |_| {}).unwrap()
}

/// What another program is to find of the file at `path` when it opens that.
pub fn fingerprint(path: &Path) -> u32 {
    sys::fingerprint(path).unwrap()
}

/// Keys for actions, each as `ACTION=KEY`, or what is wrong with them.
pub fn bindings(keys: &[&str]) -> Result<Bindings, String> {
    Bindings::new(keys.iter().map(|key| Binding::parse(key)).collect::<Result<_, _>>()?)
}

/// The key that a letter stands for.
fn key(letter: char) -> Key {
    match letter {
        '\n' => Key::Enter,
        '\t' => Key::Tab,
        '⇤' => Key::BackTab,
        '\x1b' => Key::Escape,
        '\x7f' => Key::Backspace,
        '⌦' => Key::Delete,
        '↑' => Key::Up,
        '↓' => Key::Down,
        '←' => Key::Left,
        '→' => Key::Right,
        '⇱' => Key::Home,
        '⇲' => Key::End,
        '⇞' => Key::PageUp,
        '⇟' => Key::PageDown,
        '⇡' => Key::ScrollUp,
        '⇣' => Key::ScrollDown,
        '\x03' => Key::Interrupt,
        '\x01'..='\x1a' => Key::Control(char::from(letter as u8 + b'a' - 1)),
        letter => Key::Char(letter),
    }
}

/// What the screen wants to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// To ask what must not be marked.
    Protect,
    /// To scan these directories, or to load a file.
    Scan(Vec<PathBuf>),
    StopScan,
    /// To load a kept scan.
    LoadKept,
    /// To look at what is reviewed.
    Look,
    /// To look at what rules may find.
    FindUnused,
    /// To delete these, so many entries.
    Delete(Vec<PathBuf>, u64),
    /// To move them into the trash.
    Trash(Vec<PathBuf>, u64),
    /// To look at what was moved into the trash.
    LookInTrash,
    /// To delete so many in the trash, with so many entries.
    Empty(usize, u64),
    /// To stop removing.
    Cancel,
    /// To put so many back.
    Undo(usize),
    /// To read what a symlink leads to.
    ReadLink,
    /// To give this to the clipboard.
    Copy(String),
    /// To open this in another program, if it still has this fingerprint.
    Open(PathBuf, u32),
    /// To end.
    Quit,
    /// To end, and to print the marked paths.
    Print,
    /// To end, because of an error or of a signal.
    Fail,
}

impl Wanted {
    fn of(command: &Command) -> Self {
        match command {
            Command::Protect { .. } => Self::Protect,
            Command::Scan(request, _) => Self::Scan(match &request.source {
                Input::Roots(roots) => roots.iter().map(PathBuf::from).collect(),
                _ => Vec::new(),
            }),
            Command::StopScan => Self::StopScan,
            Command::LoadKept(..) => Self::LoadKept,
            Command::Look(..) => Self::Look,
            Command::FindUnused(..) => Self::FindUnused,
            Command::Remove(manner, _, targets) => {
                let paths = targets.iter().map(|target| sys::into_path(target.path())).collect();
                let entries = targets.iter().map(|target| target.totals.0).sum();
                match manner {
                    Manner::Delete => Self::Delete(paths, entries),
                    Manner::Trash => Self::Trash(paths, entries),
                }
            }
            Command::LookInTrash(..) => Self::LookInTrash,
            Command::Empty(_, looked) => {
                let entries = looked.iter().map(|(_, target)| target.totals.0).sum();
                Self::Empty(looked.len(), entries)
            }
            Command::CancelRemoval => Self::Cancel,
            Command::Undo(trashed) => Self::Undo(trashed.len()),
            Command::ReadLink(_) => Self::ReadLink,
            Command::Copy(text) => Self::Copy(text.clone()),
            Command::Open(path, fingerprint) => Self::Open(path.clone(), *fingerprint),
            Command::End(ending) => Self::end(ending),
        }
    }

    fn end(ending: &Ending) -> Self {
        match ending {
            Ending::Quit => Self::Quit,
            Ending::Print => Self::Print,
            Ending::Fail(_) | Ending::Signal(_) => Self::Fail,
        }
    }

    fn all(commands: &[Command]) -> Vec<Self> {
        commands.iter().map(Self::of).collect()
    }
}

/// Types nothing, and waits until nothing goes on in the background any more.
struct Idle {
    is_idle: bool,
}

impl Console for Idle {
    fn draw(&mut self, browser: &mut Browser) -> io::Result<()> {
        self.is_idle = !browser.is_busy();
        Ok(())
    }

    fn next(&mut self, _: &Browser, _: Duration) -> io::Result<Option<Event>> {
        if self.is_idle {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        std::thread::sleep(Duration::from_micros(100));
        Ok(None)
    }
}

/// A screen.
pub struct Session {
    request: Request,
    options: BrowseOptions,
    browser: Browser,
    work: Work,
    size: (u16, u16),
    /// What the last keys want to be done, and is not.
    wanted: Vec<Command>,
    /// What a removal has done that the screen does not know yet.
    progress: RemovalProgress,
    /// What is wanted of the terminal, and of other programs.
    outside: Vec<Wanted>,
    _home: Option<Arc<TempDir>>,
}

/// What is typed.
impl Session {
    fn on(&mut self, event: Event) -> Vec<Wanted> {
        self.wanted = self.browser.on(event);
        Wanted::all(&self.wanted)
    }

    /// Types `keys`, each when nothing goes on in the background any more, and does what they want to be done. Nothing
    /// leaves the screen: [`outside`](Self::outside) says what would.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        self.settle();
        for letter in keys.chars() {
            self.on(Event::Key(key(letter)));
            self.go_on();
        }
        self
    }

    /// Types `keys`, and returns what the last one wants to be done. Nothing is done, and no query is answered.
    pub fn ask(&mut self, keys: &str) -> Vec<Wanted> {
        keys.chars().fold(Vec::new(), |_, letter| self.on(Event::Key(key(letter))))
    }

    /// Types `keys`, and begins what they want to be done, without waiting for anything.
    pub fn hurry(&mut self, keys: &str) -> &mut Self {
        for letter in keys.chars() {
            self.on(Event::Key(key(letter)));
            self.begin();
        }
        self
    }

    pub fn paste(&mut self, text: &str) {
        self.on(Event::Pasted(text.to_owned()));
        self.go_on();
    }

    /// Begins what is wanted.
    fn begin(&mut self) {
        for command in std::mem::take(&mut self.wanted) {
            match command {
                Command::Copy(_) | Command::Open(..) | Command::End(_) => {
                    self.outside.push(Wanted::of(&command))
                }
                command => drop(self.work.begin(command)),
            }
        }
    }

    /// Does what is wanted, to its end.
    pub fn go_on(&mut self) {
        self.begin();
        self.settle();
    }

    fn settle(&mut self) {
        match self.work.browse(&mut self.browser, &mut Idle { is_idle: false }) {
            Ok(ending) => self.outside.push(Wanted::end(&ending)),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof),
        }
    }

    /// What was wanted of the terminal and of other programs since the last call.
    pub fn outside(&mut self) -> Vec<Wanted> {
        std::mem::take(&mut self.outside)
    }

    /// Clicks where something takes clicks; false if nothing does.
    pub fn click(&mut self, at: (u16, u16)) -> bool {
        let Some(key) = view::click(&self.browser, at, self.size) else { return false };
        self.on(Event::Key(key));
        self.go_on();
        true
    }

    /// The number on the screen of the line of the list that is there.
    pub fn line_at(&self, at: (u16, u16)) -> Option<usize> {
        match view::click(&self.browser, at, self.size) {
            Some(Key::Click(line)) => Some(line),
            _ => None,
        }
    }

    /// Clicks on any line, or on the name of any view, and returns what is wanted.
    pub fn click_any(&mut self, number: usize) -> Vec<Wanted> {
        let kinds = [ViewKind::Tree, ViewKind::Types, ViewKind::Clean, ViewKind::Causes];
        let key = kinds.get(number).map_or(Key::Click(number), |kind| Key::ClickView(*kind));
        self.on(Event::Key(key))
    }
}

/// What happens meanwhile.
impl Session {
    /// The system says what must not be marked; with these home directories.
    pub fn protect(&mut self, homes: &[PathBuf]) {
        if let Input::Roots(roots) = &self.request.source {
            let roots = roots.iter().map(|root| root.as_encoded_bytes());
            let protected = Protected::ask(roots, homes);
            self.on(Event::Protected(Box::new(protected)));
            self.begin();
        }
    }

    /// Nothing is known of what must not be marked.
    pub fn forget_protected(&mut self) {
        self.on(Event::Protected(Box::default()));
        self.begin();
    }

    /// A scan of everything ends.
    pub fn scan_all(&mut self) -> &mut Self {
        self.show(scanned(&self.request))
    }

    /// The scan of another screen ends on this one.
    pub fn show_other(&mut self, other: &Setup) -> &mut Self {
        self.show(other.scanned())
    }

    fn show(&mut self, outcome: Outcome) -> &mut Self {
        let wanted = self.on(Event::Scanned(Ok(Box::new(outcome))));
        assert!(wanted.iter().all(|wanted| *wanted == Wanted::FindUnused), "{wanted:?}");
        self.begin();
        self
    }

    /// The scan ends, and could not do this to `path`.
    pub fn scan_all_but(&mut self, path: impl Into<PathBuf>, what: Operation, why: io::ErrorKind) {
        let mut outcome = scanned(&self.request);
        let path = path.into().into_os_string().into_encoded_bytes();
        outcome.snapshot.report.problems = vec![Problem::new(path, what, &io::Error::from(why))];
        self.show(outcome);
    }

    /// The scan ends, was stopped, and nobody knows where.
    pub fn scan_some(&mut self) {
        let mut outcome = scanned(&self.request);
        outcome.snapshot.report.is_interrupted = true;
        outcome.snapshot.report.unfinished = None;
        self.show(outcome);
    }

    /// The scan ends, and has found what else takes space on the file system at `root`: see the test.
    pub fn scan_with_causes(&mut self, root: &Path) {
        let mut outcome = scanned(&self.request);
        let holder = Holder { pid: 812, command: b"nginx".to_vec() };
        let log = Unseen {
            holders: vec![holder],
            held_by: 1,
            ..Unseen::of("/log/access\x1b[2J", 40_000)
        };
        let mapped = Unseen { name: b"/usr/lib/old.so".to_vec(), held_by: 1, ..Unseen::default() };
        let parts = vec![log, mapped];
        let deleted =
            Cause { name: "deleted but open", size: 40_000, shared: 0, files: Some(2), parts };
        outcome.file_systems.push(FileSystem {
            root: root.as_os_str().as_encoded_bytes().to_vec(),
            space: Space { size: 1_000_000, free: 800_000, available: 800_000, ..Space::default() },
            is_near: true,
            for_root: 0,
            seen: Some(150_000),
            causes: vec![deleted],
            unseen_processes: Vec::new(),
            unknown: vec![Unknown::because("other users' processes", "Permission denied")],
            left_out: vec![Unseen::of("journal", 8_192)],
        });
        self.show(outcome);
    }

    /// Does the scan that the last keys want, and returns what is wanted then.
    pub fn scan(&mut self) -> Vec<Wanted> {
        let wanted = std::mem::take(&mut self.wanted);
        let [Command::Scan(request, _)] = &wanted[..] else { panic!("{wanted:?}") };
        self.on(Event::Scanned(Ok(Box::new(scanned(request)))))
    }

    /// Does the undo that the last keys want, and returns what is wanted then.
    pub fn undo(&mut self) -> Vec<Wanted> {
        let wanted = std::mem::take(&mut self.wanted);
        let [Command::Undo(trashed)] = &wanted[..] else { panic!("{wanted:?}") };
        let undone = trashed.iter().map(|one| {
            let go_on = &mut |_: RemovalEvent<'_>| ControlFlow::Continue(());
            (Arc::clone(one), remove::undo(one, &self.options.directories, go_on), one.path())
        });
        let undone = undone.collect();
        self.on(Event::Undone(undone))
    }

    /// Does the removal that was wanted, and calls `watch` at each step. Afterwards, does what is wanted then. Whether it
    /// was cancelled.
    pub fn remove(
        &mut self,
        removal: Pending,
        mut watch: impl FnMut(&mut Self, RemovalEvent<'_>) -> ControlFlow<()>,
    ) -> bool {
        let [Command::Remove(manner, consent, targets)] = &removal.0[..] else {
            panic!("{:?}", removal.0)
        };
        let directories = self.options.directories.clone();
        let removed = remove::remove(targets, *manner, *consent, &directories, &mut |event| {
            self.progress.add(event);
            watch(self, event)
        });
        let is_cancelled = removed.is_cancelled;
        self.removed(removed);
        is_cancelled
    }

    /// The screen follows the removal to where it is.
    pub fn follow(&mut self) {
        let progress = std::mem::take(&mut self.progress);
        self.on(Event::Removing(progress));
        self.tick();
    }

    /// Types `keys`, the last of which begins a removal, and cancels that before its `number`th step of this kind.
    pub fn cancel_at(&mut self, keys: &str, step: RemovalStep, number: usize) {
        let (last, _) = keys.char_indices().last().unwrap();
        self.press(&keys[..last]).ask(&keys[last..]);
        let mut met = 0;
        let removal = self.pending();
        let is_cancelled = self.remove(removal, |_, event| {
            let is_it = matches!(event, RemovalEvent::Before { step: it, .. } if it == step);
            met += usize::from(is_it);
            if met < number { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert!(is_cancelled);
    }

    /// A removal ends with this.
    pub fn removed(&mut self, removed: Removed) {
        self.on(Event::Removed(Box::new(removed)));
        self.go_on();
    }

    /// weigh ends during a removal, and waits for it.
    pub fn end_removal(&mut self) -> bool {
        self.work.end_removal(&mut self.browser)
    }

    /// Looks at what is reviewed, which was wanted.
    pub fn look(&mut self, mut wanted: Pending) {
        let Some(Command::Look(number, targets, _)) = wanted.0.pop() else {
            panic!("nothing to look at")
        };
        let looked = targets.into_iter().map(|(number, mut target)| {
            let looked = remove::look(&mut target);
            (number, looked.map(|()| target).map_err(|error| error.to_string()))
        });
        let looked = looked.collect();
        self.on(Event::Looked(number, looked));
    }

    /// What the last key wants, to be done later.
    pub fn pending(&mut self) -> Pending {
        Pending(std::mem::take(&mut self.wanted))
    }

    /// Some time passes.
    pub fn tick(&mut self) {
        self.on(Event::Tick);
    }

    /// The scan has found so many entries in so many seconds.
    pub fn progress(&mut self, entries: u64, seconds: u64) {
        let progress = Progress { entries, ..Progress::default() };
        self.on(Event::Progress(progress, Duration::from_secs(seconds)));
    }

    /// The file systems that are scanned have so many inodes.
    pub fn used_inodes(&mut self, inodes: u64) {
        self.on(Event::UsedInodes(inodes));
    }

    /// Another program has opened a file, or not, for this reason.
    pub fn opened_outside(&mut self, why: Option<&str>) {
        self.on(Event::OpenedOutside(why.map(str::to_owned)));
    }

    /// All of a snapshot is loaded, of which only the listings were known; or it is too large for that.
    pub fn load(&mut self, is_too_large: bool) {
        let outcome = match is_too_large {
            true => ask::listings(&self.request).expect("it can be read by its listings").0,
            false => scanned(&self.request),
        };
        self.show(outcome);
    }
}

/// What a screen wanted to be done.
#[derive(Debug)]
pub struct Pending(Vec<Command>);

impl Pending {
    /// Whether it is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What is seen.
impl Session {
    fn fit(&mut self) {
        view::fit(&mut self.browser, self.size);
    }

    /// The terminal has so many columns and lines.
    pub fn resize(&mut self, size: (u16, u16)) -> &mut Self {
        self.size = size;
        self.fit();
        self
    }

    /// What is on the screen: its lines, each with an end, and without spaces before that.
    pub fn screen(&mut self) -> String {
        let (buffer, (width, height)) = (self.cells(), self.size);
        let mut text = String::new();
        for line in 0..height {
            let (mut column, mut shown) = (0, String::new());
            while column < width {
                let symbol = buffer[(column, line)].symbol();
                shown += symbol;
                // What is wide takes the next cell too.
                column += u16::try_from(cells(symbol).max(1)).unwrap();
            }
            text += shown.trim_end();
            text.push('\n');
        }
        text
    }

    /// The cells of the screen, with their colours.
    pub fn cells(&mut self) -> Buffer {
        let (width, height) = self.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        self.fit();
        terminal.draw(|frame| view::draw(&self.browser, frame)).unwrap();
        terminal.backend().buffer().clone()
    }

    /// The last line.
    pub fn foot(&mut self) -> String {
        self.screen().lines().last().unwrap_or_default().to_owned()
    }

    /// The first line.
    pub fn head(&mut self) -> String {
        self.screen().lines().next().unwrap().to_owned()
    }

    /// What is said in the last line; nothing if it has hints.
    pub fn said(&self) -> &str {
        self.browser.said().unwrap_or_default()
    }

    fn items(&self) -> impl Iterator<Item = Item<'_>> {
        (0..self.len()).filter_map(|line| self.browser.item(line))
    }

    /// What is listed: paths below the root, or the names of groups, with their sizes.
    pub fn listed(&self) -> Vec<(String, u64)> {
        let lines = self.items().map(|item| {
            let root = self.browser.tree().root().name().len() + 1;
            let path =
                item.place.map(|place| self.browser.tree().at(place).path()[root..].to_vec());
            let name = path.unwrap_or_else(|| item.name.to_vec());
            (String::from_utf8_lossy(&name).into_owned(), item.totals.size)
        });
        lines.collect()
    }

    /// The same without sizes.
    pub fn paths(&self) -> Vec<String> {
        self.listed().into_iter().map(|(name, _)| name).collect()
    }

    /// The names that are listed.
    pub fn names(&self) -> Vec<String> {
        self.items().map(|item| String::from_utf8_lossy(&item.name).into_owned()).collect()
    }

    /// What is said of them by container engines, where something is.
    pub fn notes(&self) -> Vec<String> {
        let notes = self.items().map(|item| item.note.into_owned());
        notes.filter(|note| !note.is_empty()).collect()
    }

    /// All that is known of each line, as text.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.items().map(|item| {
            let Item { name, totals, own, is_open, .. } = &item;
            format!("{} {totals:?} {own:?} {is_open}", name.escape_ascii())
        });
        lines.collect()
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.browser.len()
    }

    /// How many entries the lines stand for.
    pub fn entries_listed(&self) -> u64 {
        self.items().map(|item| item.totals.entries).sum()
    }

    /// The newest time on a line.
    pub fn newest(&self, line: usize) -> Option<i64> {
        self.browser.item(line)?.totals.newest
    }

    /// All that is known of the current directory, as text.
    pub fn totals(&self) -> String {
        format!("{:?}", self.browser.totals())
    }

    /// The size of the current directory.
    pub fn size(&self) -> u64 {
        self.browser.totals().size
    }

    /// How many entries the current directory has.
    pub fn entries(&self) -> u64 {
        self.browser.totals().entries
    }

    /// The size of the root.
    pub fn whole(&self) -> u64 {
        self.browser.tree().root().size()
    }

    /// How many marks there are.
    pub fn marks(&self) -> usize {
        self.browser.marked().0
    }

    /// The paths that are marked, sorted.
    pub fn marked(&self) -> Vec<PathBuf> {
        self.browser.marked_paths().into_iter().map(sys::into_path).collect()
    }

    /// Size and entries of what is marked, if all of that is known.
    pub fn marked_size(&self) -> Option<(u64, u64)> {
        self.browser.marked().1.map(|(totals, _)| (totals.size, totals.entries))
    }

    /// All that is known of the marked entries together, as text.
    pub fn marked_totals(&self) -> String {
        format!("{:?}", self.browser.marked())
    }

    /// What removing the marked entries frees, at least and at most.
    pub fn frees(&self) -> [u64; 2] {
        let freed = self.browser.marked().1.unwrap().1.unwrap();
        [freed.least, freed.most]
    }

    /// What `p` prints.
    pub fn printed(&self) -> Vec<u8> {
        self.browser.printed_paths()
    }

    /// The number of entries in the question whether to delete, if that is asked.
    pub fn asked_entries(&mut self) -> Option<u64> {
        let screen = self.resize((100, 22)).screen();
        let question = screen.lines().last()?.strip_prefix(" delete ")?;
        let (entries, _) = question.split_once(' ')?;
        Some(entries.replace(',', "").parse().unwrap())
    }

    /// What the last removal left behind, and then what it kept: what could not be done, with which path, and why.
    pub fn kept(&self) -> Vec<String> {
        self.browser.kept().iter().map(ToString::to_string).collect()
    }

    /// The reasons among these.
    pub fn reasons(&self) -> Vec<&str> {
        self.browser.kept().iter().map(|kept| &*kept.message).collect()
    }

    /// Whether a removal failed, and what is said of that after the screen.
    pub fn failed(&self) -> (bool, Vec<String>) {
        let (has_failed, left) = self.browser.failed_removals();
        (has_failed, left.iter().map(ToString::to_string).collect())
    }

    /// Whether a query is being answered.
    pub fn is_asking(&self) -> bool {
        self.browser.is_asking()
    }

    /// Whether a scan goes on.
    pub fn is_scanning(&self) -> bool {
        self.browser.is_walking()
    }

    /// Whether something is being removed.
    pub fn is_removing(&self) -> bool {
        self.browser.is_removing()
    }

    /// All figures of the tree.
    pub fn figures(&self) -> Figures {
        figures(self.browser.tree())
    }

    /// Every figure is what a fresh scan says.
    pub fn check(&self, what: &str) {
        let fresh = figures(&scanned(&self.request).snapshot.report.answer.unwrap());
        let found = self.figures();
        let differs = |one: &Figures, other: &Figures| -> Vec<String> {
            let only = one.iter().filter(|(path, figures)| other.get(*path) != Some(figures));
            let text = |path: &Vec<u8>| String::from_utf8_lossy(path).into_owned();
            only.map(|(path, figures)| format!("{} {figures:?}", text(path))).collect()
        };
        let is_same = found == fresh;
        let (found, fresh) = (differs(&found, &fresh), differs(&fresh, &found));
        assert!(
            is_same,
            "{what}: {:?}\nshown: {found:#?}\nfresh: {fresh:#?}\nkept: {:#?}",
            self.said(),
            self.kept()
        );
    }
}

/// By path: totals, own weight, and what removing it alone frees.
pub type Figures = BTreeMap<Vec<u8>, (Totals, Option<u64>, u64)>;

fn figures(tree: &Tree) -> Figures {
    let mut found = BTreeMap::new();
    let mut ahead = vec![tree.root()];
    while let Some(child) = ahead.pop() {
        let figures = (child.totals(), child.own(), Item::of(&child).freed());
        found.insert(child.path(), figures);
        ahead.extend(child.unsorted());
    }
    found
}

/// Browses a scan of `root`, and calls `look` whenever a directory has closed, while the scan waits; then shows its result.
/// Returns also how many entries that has.
pub fn during_scan(root: &Path, mut look: impl FnMut(&mut Session)) -> (Session, u64) {
    let mut session = of([root]).scanning();
    session.on(Event::Start);
    let commands = std::mem::take(&mut session.wanted);
    let [.., Command::Scan(_, top)] = &commands[..] else { panic!("{commands:?}") };
    let roots = vec![root.as_os_str().to_owned()];
    let (started, is_started) = channel();
    let (step, steps) = sync_channel::<()>(0);
    let live = Live::new(Whole { inodes: Inodes::FINGERPRINTS }, Arc::clone(top), Arc::default());
    let tally = Stepwise { live, steps: Mutex::new((started, steps)) };
    let options = WalkOptions { threads: NonZeroUsize::new(2), ..WalkOptions::default() };
    let walk = std::thread::spawn(move || walk(roots, options, tally, |_| {}));
    while is_started.recv().is_ok() {
        session.tick();
        look(&mut session);
        if step.send(()).is_err() {
            break;
        }
    }
    let tree = walk.join().unwrap().report.answer.unwrap();
    let entries = tree.root().totals().entries;
    let mut finished = scanned(&session.request);
    finished.snapshot.report.answer = Some(tree);
    session.show(finished);
    (session, entries)
}

/// A tally that waits wherever a directory has closed.
struct Stepwise {
    live: Live,
    steps: Mutex<(Sender<()>, Receiver<()>)>,
}

impl Tally for Stepwise {
    type Part = LivePart;
    type Answer = Tree;

    fn is_live(&self) -> bool {
        true
    }

    fn open(&self, parent: Option<&LivePart>, name: &[u8]) -> LivePart {
        self.live.open(parent, name)
    }

    fn leaf(&self, part: &mut LivePart, entry: &Entry<'_>) {
        self.live.leaf(part, entry);
    }

    fn merge(&self, part: &mut LivePart, other: LivePart) {
        self.live.merge(part, other);
    }

    fn close(&self, parent: &mut LivePart, directory: &Entry<'_>, part: LivePart) {
        self.live.close(parent, directory, part);
        let steps = self.steps.lock().unwrap();
        steps.0.send(()).unwrap();
        steps.1.recv().unwrap();
    }

    fn finish(&self, root: &Entry<'_>, part: LivePart) -> Tree {
        self.live.finish(root, part)
    }
}

//! Runs the program as a user would: in an environment that holds nothing but what a test puts
//! there, as any user, with any number of handles, and never for longer than [`PATIENCE`].

use std::env::VarError;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

use crate::document::Document;
use crate::fixture::Fixture;
#[cfg(target_os = "linux")]
use crate::pty::Terminal;

/// A run that takes longer hangs. The slowest test on a busy machine needs far less.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The variable that names the source of listings for all runs. Without it, the system's own source is used.
const SOURCE: &str = "WEIGH_TEST_SOURCE";

/// Whether the tests are run on the portable source, which goes by paths, and cannot tell mounts.
pub fn is_portable() -> bool {
    match std::env::var(SOURCE).as_deref() {
        Ok("portable") => true,
        Ok("" | "native") | Err(VarError::NotPresent) => false,
        other => panic!("{SOURCE} is neither native nor portable: {other:?}"),
    }
}

/// Ends a test that cannot hold on the portable source, and says `$why`.
macro_rules! native_only {
    ($why:literal) => {
        if crate::run::is_portable() {
            eprintln!("not on the portable source: {}", $why);
            return;
        }
    };
}

/// The arguments that choose this source. They come first.
pub fn source() -> &'static [&'static str] {
    if is_portable() { &["--source", "portable"] } else { &[] }
}

/// The variable that names another program to run, such as one for Windows (`.ci/platforms`).
const PROGRAM: &str = "WEIGH_TEST_PROGRAM";

fn program() -> PathBuf {
    std::env::var_os(PROGRAM).unwrap_or_else(|| env!("CARGO_BIN_EXE_weigh").into()).into()
}

/// The number of the user and the group nobody on Linux.
const NOBODY: u32 = 65534;

/// One run of the program, not yet started.
pub struct Weigh {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    dir: PathBuf,
    /// What starts it, if it is not started itself.
    under: Vec<OsString>,
    stdin: Option<File>,
    stdout: Option<File>,
    terminal: Option<File>,
    is_read: bool,
    by_nobody: bool,
}

/// What a run left: what it wrote, and how it ended.
pub struct Shown {
    pub stdout: Vec<u8>,
    /// What JSON says of when and where it was made, which is not in `stdout`: the same tree is to have the same bytes.
    pub place: Vec<u8>,
    /// The object that says why there is no result, if JSON was asked for.
    pub failure: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: ExitStatus,
}

/// The commands, which come before all flags.
const COMMANDS: [&str; 8] =
    ["ui", "clean", "diff", "history", "df", "watch", "help", "completions"];

/// `weigh`, with the flags in `flags`, split at spaces. What several tests share may add flags before a command. A word
/// as in `@theme=dark` is no flag but a setting, in a config file of its own.
pub fn weigh(flags: &str) -> Weigh {
    let words = flags.split_whitespace();
    let (settings, mut words): (Vec<_>, Vec<&str>) = words.partition(|word| word.starts_with('@'));
    words.sort_by_key(|word| !COMMANDS.contains(word));
    let weigh = Weigh {
        program: program(),
        args: words.into_iter().map(OsString::from).collect(),
        env: Vec::new(),
        dir: PathBuf::from("/"),
        under: Vec::new(),
        stdin: None,
        stdout: None,
        terminal: None,
        is_read: false,
        by_nobody: false,
    };
    if settings.is_empty() { weigh } else { weigh.env("WEIGH_CONFIG_PATH", config(&settings)) }
}

/// A config file with these settings, as in `@theme=dark`. Runs with the same ones share it.
fn config(settings: &[&str]) -> PathBuf {
    let settings = settings.iter().filter_map(|setting| setting[1..].split_once('='));
    let lines: String = settings.map(|(key, value)| format!("{key} = '{value}'\n")).collect();
    let file =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(lines.replace(' ', "").replace('\n', ".toml"));
    // Nobody sees half of it, and everybody may read it: some tests run weigh as another user.
    let mut new = tempfile::Builder::new();
    #[cfg(unix)]
    new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut new = new.tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    new.write_all(lines.as_bytes()).unwrap();
    new.persist(&file).unwrap();
    file
}

impl Weigh {
    /// One more argument, of any bytes.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// More arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// A variable of its environment, which is empty otherwise.
    pub fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name, value.as_ref().to_owned()));
        self
    }

    /// The directory it runs in; `/` unless this says so.
    pub fn within(mut self, dir: impl AsRef<Path>) -> Self {
        self.dir = dir.as_ref().to_owned();
        self
    }

    /// Started by another program, which is given it and its arguments as arguments: `taskset -c 0`.
    pub fn under(mut self, starter: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.under.extend(starter.into_iter().map(Into::into));
        self
    }

    /// Within limits of the shell's `ulimit`: `-n 16`.
    pub fn limited(self, limit: &str) -> Self {
        self.under(["/bin/sh", "-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")])
    }

    /// With `file` as standard input, which is empty otherwise.
    pub fn stdin(mut self, file: File) -> Self {
        self.stdin = Some(file);
        self
    }

    /// With `file` as standard output; what it writes there is not seen.
    pub fn stdout(mut self, file: File) -> Self {
        self.stdout = Some(file);
        self
    }

    /// On a terminal, in the foreground: its input and both outputs.
    #[cfg(target_os = "linux")]
    pub fn on(mut self, terminal: &Terminal) -> Self {
        self.terminal = Some(terminal.line());
        // Whoever runs the tests may ignore signals, as nohup does, and that is inherited.
        let fresh = ["env", "--default-signal", "setsid", "--ctty"];
        self.env("TERM", "xterm-256color").under(fresh)
    }

    /// Another program in its place.
    #[cfg(target_os = "linux")]
    pub fn replaced_by(mut self, program: PathBuf) -> Self {
        self.program = program;
        self
    }

    /// But its standard output is read, and no terminal.
    #[cfg(target_os = "linux")]
    pub fn into_pipe(mut self) -> Self {
        self.is_read = true;
        self
    }

    /// As a plain user. The program is copied to `fixture`, where such a user can reach it.
    pub fn by_nobody(mut self, fixture: &Fixture) -> Self {
        let copy = fixture.at("a copy of weigh");
        if !copy.exists() {
            // Not fs::copy: while one thread has the copy open to write, a fork in another keeps it
            // so, and the copy cannot be started ("text file busy").
            let done = Command::new("cp").arg(&self.program).arg(&copy).status();
            assert!(done.unwrap().success());
        }
        self.program = copy;
        self.by_nobody = true;
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Shown {
        let mut child = self.spawn();
        let stdout = child.stdout.take().map(drain);
        let stderr = child.stderr.take().map(drain);
        let mut collect = |pipe: Option<Receiver<Vec<u8>>>| {
            pipe.map_or_else(Vec::new, |pipe| match pipe.recv_timeout(PATIENCE) {
                Ok(bytes) => bytes,
                Err(RecvTimeoutError::Timeout) => {
                    child.kill().unwrap();
                    panic!("it hangs");
                }
                Err(RecvTimeoutError::Disconnected) => panic!("its output could not be read"),
            })
        };
        let (mut stdout, stderr) = (collect(stdout), collect(stderr));
        let status = child.wait().unwrap();
        let (place, failure) = (take_place(&mut stdout), take_failure(&mut stdout));
        let shown = Shown { stdout, place, failure, stderr, status };
        assert!(
            !shown.complaint().contains("panicked at") && !shown.complaint().contains("overflowed"),
            "{}",
            shown.complaint()
        );
        shown
    }

    /// Starts it, with pipes to read from.
    pub fn spawn(self) -> Child {
        let (program, source) = ([self.program.into()], source().iter().map(OsString::from));
        let mut words = self.under.into_iter().chain(program).chain(source).chain(self.args);
        let mut command = Command::new(words.next().expect("there is a program"));
        command.args(words).env_clear().envs(self.env);
        command.current_dir(&self.dir).stdin(self.stdin.map_or_else(Stdio::null, Stdio::from));
        command.stdout(self.stdout.map_or_else(Stdio::piped, Stdio::from));
        command.stderr(Stdio::piped());
        if let Some(terminal) = self.terminal {
            let streams = [(); 3].map(|()| terminal.try_clone().unwrap());
            let [stdin, stdout, stderr] = streams;
            if self.is_read {
                command.stdin(stdin).stderr(stderr);
            } else {
                command.stdin(stdin).stdout(stdout).stderr(stderr);
            }
        }
        if self.by_nobody {
            become_nobody(&mut command);
        }
        command.spawn().unwrap()
    }
}

/// Takes from JSON when and where it was made.
pub fn take_place(json: &mut Vec<u8>) -> Vec<u8> {
    let find = |text: &[u8], within: &[u8]| within.windows(text.len()).position(|it| it == text);
    if !json.starts_with(b"{\"schema\":1,") {
        return Vec::new();
    }
    let Some(end) = find(b",\"complete\":", json) else { return Vec::new() };
    match find(b",\"time\":", &json[..end]) {
        Some(start) => json.drain(start..end).collect(),
        None => Vec::new(),
    }
}

/// Takes the object that says why there is no result: nothing else is printed then.
fn take_failure(stdout: &mut Vec<u8>) -> Vec<u8> {
    let is_short = stdout.len() < 1 << 16;
    let is_failure = is_short
        && serde_json::from_slice(stdout).is_ok_and(|json: Value| json["error"].is_string());
    if is_failure { std::mem::take(stdout) } else { Vec::new() }
}

/// The flags of the tree that the help shows: the heading, and the letter and the name of each.
pub fn flags() -> Vec<(String, Vec<String>)> {
    let (mut flags, mut heading) = (Vec::new(), String::new());
    for line in weigh("--help").run().text().lines() {
        if let Some(new) = line.strip_suffix(':') {
            new.clone_into(&mut heading);
        } else if line.starts_with("  ") && line.trim_start().starts_with('-') {
            let names = line.trim_start().split("  ").next().unwrap_or_default();
            let names = names.split([' ', ',']).filter(|name| name.starts_with('-'));
            flags.push((heading.clone(), names.map(str::to_owned).collect()));
        }
    }
    assert!(flags.len() > 50, "{flags:?}");
    flags
}

/// The values that this flag takes, as the help has them.
pub fn values_of(flag: &str) -> Vec<String> {
    let help = weigh("--help").run().text().split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, after) = help.split_once(&format!(" {flag} <")).unwrap();
    let (_, values) = after.split_once("[possible values: ").unwrap();
    let (values, _) = values.split_once(']').unwrap();
    values.split(", ").map(str::to_owned).collect()
}

/// The lines of `messages`, but for notes about filters that matched nothing, and their hints.
pub fn beside_unmatched(messages: &str) -> Vec<&str> {
    let mut is_unmatched = false;
    let is_other = |line: &&str| {
        if !line.starts_with("hint: ") {
            is_unmatched = line.ends_with(" matched nothing");
        }
        !is_unmatched
    };
    messages.lines().filter(is_other).collect()
}

impl Shown {
    /// The exit status; a signal is none.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("{}", self.status))
    }

    /// What it wrote to standard output, having read everything and complained of nothing. A filter may have nothing to
    /// leave out.
    pub fn clean(self) -> Vec<u8> {
        let complaint = self.complaint();
        assert_eq!((self.code(), beside_unmatched(&complaint)), (0, Vec::new()));
        assert!(!self.stdout.is_empty(), "it shows nothing");
        self.stdout
    }

    /// [`Shown::clean`] as text.
    pub fn text(self) -> String {
        String::from_utf8(self.clean()).expect("text is UTF-8")
    }

    /// [`Shown::clean`] as JSON that is not deep.
    pub fn json(self) -> Value {
        serde_json::from_slice(&self.clean()).unwrap()
    }

    /// [`Shown::clean`] as a document.
    pub fn document(self) -> Document {
        Document::parse(&self.clean())
    }

    /// What it wrote to standard error.
    pub fn complaint(&self) -> String {
        String::from_utf8(self.stderr.clone()).expect("standard error is UTF-8")
    }

    /// How many messages it wrote to standard error. Each is one line, and perhaps a second one with a hint.
    pub fn messages(&self) -> usize {
        let mut before = "hint: ";
        let complaint = self.complaint();
        for line in complaint.lines() {
            let is_hint = line.starts_with("hint: ") && !before.starts_with("hint: ");
            assert!(is_hint || line.starts_with("weigh: "), "{complaint}");
            before = line;
        }
        complaint.lines().filter(|line| !line.starts_with("hint: ")).count()
    }
}

/// Python with what the tests need, `DUCKDB_PYTHON` if that is set.
pub fn python() -> Command {
    Command::new(std::env::var_os("DUCKDB_PYTHON").unwrap_or_else(|| "python3".into()))
}

/// What `command` prints within `fixture`; it succeeds.
pub fn said_by(command: &mut Command, fixture: &Fixture) -> String {
    let run = command.current_dir(fixture.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

/// Makes `command` run as nobody. A test that is not run as root is run by a plain user already.
pub fn become_nobody(command: &mut Command) {
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
}

/// Runs a shell `script`, which must succeed, within `fixture`, as root, where `$0` is the program. What it mounts is
/// seen by nobody else and ends with it.
#[cfg(target_os = "linux")]
pub fn in_namespace(fixture: &Fixture, script: &str) -> Output {
    let output = try_in_namespace(fixture, script);
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(output.status.success(), "{}: {stderr}\n{stdout}", output.status);
    output
}

/// [`in_namespace`], where `script` may also fail. JSON that is printed is without what says when and where it was made.
#[cfg(target_os = "linux")]
pub fn try_in_namespace(fixture: &Fixture, script: &str) -> Output {
    // In files that are compared, too.
    const CMP: &str = r#"
cmp() {
    for it; do sed 's/,"time":.*,"complete":/,"complete":/' "$it" > "$it.same"; done
    command cmp "$1.same" "$2.same"
}
"#;
    let script = script.replace("\"$0\"", &format!("\"$0\" {}", source().join(" ")));
    let script = [CMP, &script].concat();
    let mut output = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .arg(env!("CARGO_BIN_EXE_weigh"))
        .current_dir(fixture.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let lines = output.stdout.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec);
    let without_place = |mut line: Vec<u8>| {
        take_place(&mut line);
        line
    };
    output.stdout = lines.flat_map(without_place).collect();
    take_failure(&mut output.stdout);
    output
}

fn drain(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // Without the pipe's end there is nothing to send, and the receiver says so.
        if pipe.read_to_end(&mut bytes).is_ok() {
            sender.send(bytes).ok();
        }
    });
    receiver
}

/// The file at `path` in this repository is `made`, which is shown as `shown` if it is not. `UPDATE_GENERATED=1` writes it.
pub fn is_kept(path: impl AsRef<Path>, made: &str, shown: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let first = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
    let what = format!("{}: UPDATE_GENERATED=1 makes it anew; {first:?}", path.display());
    assert!(kept == made, "{what}\n{shown}");
}

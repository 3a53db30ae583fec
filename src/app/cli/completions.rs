//! Completions for shells: commands and paths first, flags only once `-` is typed, and the values of flags. Scripts for
//! bash, zsh and fish are written here. clap's offer flags before commands, or no paths.

use std::fmt::Write as _;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, CommandFactory, ValueEnum, ValueHint};
use clap_complete::{Shell, generate};

use super::commands::{ALL, CommandInfo, TREE};
use super::flags::Flags;
use weigh::internal::scan::filter::known_types;

/// The times that `weigh diff` compares with, beside the days of kept scans.
const TIMES: &str = "last yesterday monday 12h 7d 2w 3mo 1y";

/// Where the scans are that weigh kept. Their names begin as in `weigh-2026-11-01T`.
const KEPT: &str = "weigh/snapshots/*/weigh-*.weigh";

/// A flag, as shells complete it.
struct Flag {
    /// Its letter and its names, with their dashes.
    names: Vec<String>,
    help: String,
    /// Whether it can be given several times.
    repeats: bool,
    value: Option<Value>,
    /// The words of the commands that take it.
    commands: Vec<&'static str>,
}

/// The completion of a flag's value.
enum Value {
    /// These words, each with its help.
    Words(Vec<(String, String)>),
    /// A path.
    Path,
    /// Nothing.
    Any,
}

/// The completions for `shell`.
pub(super) fn completions(shell: Shell) -> Vec<u8> {
    match shell {
        Shell::Bash => bash().into(),
        Shell::Zsh => zsh().into(),
        Shell::Fish => fish().into(),
        _ => generated(shell),
    }
}

/// The words for `info`, as scripts name the command.
fn word(info: &CommandInfo) -> &'static str {
    if info.name.is_empty() { "tree" } else { info.name }
}

fn commands() -> impl Iterator<Item = &'static CommandInfo> {
    ALL.into_iter().filter(|info| !info.name.is_empty())
}

fn names_of_commands(separator: &str) -> String {
    commands().map(|info| info.name).collect::<Vec<_>>().join(separator)
}

/// The words that follow a command, if it takes words and no PATH.
fn operands(info: &CommandInfo) -> Option<String> {
    match info.operands {
        "[COMMAND]" => Some(names_of_commands(" ")),
        "SHELL" => {
            let shells = Shell::value_variants().iter().map(Shell::to_string);
            Some(shells.collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

/// The flags of all commands that help lists, with types by name.
fn parser() -> Command {
    let types: Vec<String> = known_types().into_iter().map(|(name, _)| name).collect();
    let types = PossibleValuesParser::new(types);
    Flags::command().mut_args(|arg| match arg.get_id().as_str() {
        "only_type" | "type_not" => arg.value_parser(types.clone()),
        _ => arg,
    })
}

fn flags() -> Vec<Flag> {
    let parser = parser();
    let args = parser.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
    args.map(flag).collect()
}

fn flag(arg: &Arg) -> Flag {
    let letter = arg.get_short().map(|letter| format!("-{letter}"));
    let long = arg.get_long_and_visible_aliases().unwrap_or_default();
    let words = arg.get_possible_values();
    let help = |value: &clap::builder::PossibleValue| {
        value.get_help().map(ToString::to_string).unwrap_or_default()
    };
    let value = match (arg.get_action().takes_values(), arg.get_value_hint()) {
        (false, _) => None,
        _ if !words.is_empty() => Some(Value::Words(
            words.iter().map(|value| (value.get_name().to_owned(), help(value))).collect(),
        )),
        (_, ValueHint::Unknown) => Some(Value::Any),
        _ => Some(Value::Path),
    };
    Flag {
        names: letter.into_iter().chain(long.iter().map(|name| format!("--{name}"))).collect(),
        help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
        repeats: matches!(arg.get_action(), ArgAction::Append),
        value,
        commands: ALL.into_iter().filter(|it| it.takes(arg.get_id().as_str())).map(word).collect(),
    }
}

/// For bash 3.2, which macOS has, and later ones. Where nothing is offered, readline completes paths.
fn bash() -> String {
    let flags = flags();
    let names = |flags: Vec<&Flag>, separator| {
        let names = flags.into_iter().flat_map(|flag| &flag.names).map(String::as_str);
        names.collect::<Vec<_>>().join(separator)
    };
    let mut values = String::new();
    for flag in &flags {
        if let Some(Value::Words(words)) = &flag.value {
            let words: Vec<_> = words.iter().map(|(word, _)| word.as_str()).collect();
            let names = names(vec![flag], "|");
            let _ = writeln!(values, "        {names}) words='{}' ;;", words.join(" "));
        }
    }
    let valued = |is_path| {
        let valued = flags.iter().filter(|flag| match flag.value {
            Some(Value::Path) => is_path,
            Some(Value::Any) => !is_path,
            _ => false,
        });
        names(valued.collect(), "|")
    };
    let mut own = String::new();
    for info in ALL {
        let taken = flags.iter().filter(|flag| flag.commands.contains(&word(info)));
        let _ =
            writeln!(own, "            {}) words='{}' ;;", word(info), names(taken.collect(), " "));
    }
    let mut after = String::new();
    for info in commands() {
        if let Some(words) = operands(info) {
            let _ =
                writeln!(after, "        {}) words='{words}'; compopt +o default ;;", info.name);
        }
    }
    format!(
        r#"_weigh() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=tree words= kept one
    COMPREPLY=()
    # Readline takes --as=csv for three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    if [[ $COMP_CWORD -gt 1 ]]; then
        case ${{COMP_WORDS[1]}} in
        {commands}) command=${{COMP_WORDS[1]}} ;;
        esac
    fi
    case $prev in
{values}        {paths}) return ;;
        {others}) compopt +o default; return ;;
    esac
    if [[ -n $words ]]; then
        compopt +o default
    elif [[ $cur == -* ]]; then
        case $command in
{own}        esac
        compopt +o default
    else
        case $command in
{after}        diff)
            # The first word after it may be a time.
            for one in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
                [[ $one == -* ]] || return 0
            done
            words='{TIMES}'
            for kept in "${{XDG_STATE_HOME:-$HOME/.local/state}}"/{KEPT}; do
                kept=${{kept##*/weigh-}} kept=${{kept%%T*}}
                [[ $kept == \** || " $words " == *" $kept "* ]] || words+=" $kept"
            done
            ;;
        tree) [[ $COMP_CWORD -gt 1 ]] || words='{all}' ;;
        esac
    fi
    while IFS= read -r one; do
        COMPREPLY+=("$one")
    done < <(compgen -W "$words" -- "$cur")
    case $command:$COMP_CWORD:$cur in
    *:-*) ;;
    diff:*|tree:1:*)
        # Beside words, paths are offered here.
        if [[ ${{#COMPREPLY[@]}} -gt 0 ]]; then
            compopt -o filenames
            while IFS= read -r one; do
                COMPREPLY+=("$one")
            done < <(compgen -f -- "$cur")
        fi
        ;;
    esac
}} 2>/dev/null

complete -o bashdefault -o default -o nosort -F _weigh weigh 2>/dev/null ||
    complete -o bashdefault -o default -F _weigh weigh
"#,
        commands = names_of_commands("|"),
        paths = valued(true),
        others = valued(false),
        all = names_of_commands(" "),
    )
}

fn zsh() -> String {
    // In brackets and after colons, these have a meaning. The backslash comes first.
    let escaped = |text: &str| {
        let text = ['\\', ':', '[', ']']
            .iter()
            .fold(text.to_owned(), |text, sign| text.replace(*sign, &format!("\\{sign}")));
        text.replace('\'', "'\\''")
    };
    let mut specs = String::new();
    for Flag { names, help, repeats, value, commands } in flags() {
        let end = match &value {
            None => String::new(),
            Some(Value::Path) => ":path:_files".to_owned(),
            Some(Value::Any) => ":value: ".to_owned(),
            Some(Value::Words(words)) => {
                let words = words.iter().map(|(word, help)| match help.as_str() {
                    "" => escaped(word),
                    help => {
                        format!(r#"{}\:"{}""#, escaped(word), escaped(help).replace('"', "\\\""))
                    }
                });
                let words = words.collect::<Vec<_>>().join(" ");
                let is_plain = !words.contains('"');
                if is_plain { format!(":value:({words})") } else { format!(":value:(({words}))") }
            }
        };
        let start = if repeats { "*".to_owned() } else { format!("({})", names.join(" ")) };
        let _ = writeln!(specs, "    [[ $command == ({}) ]] && specs+=(", commands.join("|"));
        for name in &names {
            let sign = match (&value, name.starts_with("--")) {
                (None, _) => "",
                (_, true) => "=",
                (_, false) => "+",
            };
            let _ = writeln!(specs, "        '{start}{name}{sign}[{}]{end}'", escaped(&help));
        }
        specs += "    )\n";
    }
    let about = |info: &CommandInfo| format!("        '{}:{}'\n", info.name, escaped(info.about));
    let mut after = String::new();
    for info in commands() {
        if let Some(words) = operands(info) {
            let _ = writeln!(after, "    {}) specs+=('1:{}:({words})') ;;", info.name, info.name);
        }
    }
    format!(
        r#"#compdef weigh

_weigh_commands() {{
    local -a commands=(
{abouts}    )
    _describe -t commands command commands
}}

_weigh_first() {{
    _alternative 'commands:command:_weigh_commands' 'files:path:_files'
}}

_weigh_since() {{
    local -a times=({TIMES}) kept=("${{XDG_STATE_HOME:-$HOME/.local/state}}"/{KEPT}(N:t))
    times+=(${{(u)${{kept#weigh-}}%%T*}})
    _alternative "times:time:($times)" 'files:path:_files'
}}

_weigh() {{
    local command=tree
    local -a specs
    if (( CURRENT > 2 )) && [[ $words[2] == ({commands}) ]]; then
        command=$words[2]
        shift words
        (( CURRENT-- ))
    fi
{specs}    case $command in
    tree)
        # A command comes first.
        (( CURRENT == 2 )) && specs+=('1:path:_weigh_first')
        specs+=('*:path:_files')
        ;;
    diff) specs+=('1:since:_weigh_since' '*:path:_files') ;;
{after}    *) specs+=('*:path:_files') ;;
    esac
    _arguments -s -S : $specs
}}

if [[ $funcstack[1] == _weigh ]]; then
    _weigh "$@"
else
    compdef _weigh weigh
fi
"#,
        abouts = commands().map(about).collect::<String>(),
        commands = names_of_commands("|"),
    )
}

fn fish() -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    let mut script = format!(
        r#"function __weigh_is -d 'Whether the command is one of these'
    set -l words (commandline -opc)
    set -l command tree
    contains -- "$words[2]" {commands}; and set command $words[2]
    contains -- $command $argv
end

function __weigh_is_first -d 'Whether the first word is typed'
    test (count (commandline -opc)) = 1
end

function __weigh_times -d 'Times to compare with'
    # Only the first word after diff may be one.
    test (count (string match -v -- '-*' (commandline -opc))) -gt 2; and return
    string split ' ' '{TIMES}'
    set -l state $HOME/.local/state
    set -q XDG_STATE_HOME; and set state $XDG_STATE_HOME
    set -l kept $state/{KEPT}
    string replace -r '.*/weigh-([^T]*)T.*' '$1' -- $kept | sort -u
end

"#,
        commands = names_of_commands(" "),
    );
    for info in commands() {
        let about = quoted(info.about);
        let _ =
            writeln!(script, "complete -c weigh -n __weigh_is_first -a {} -d '{about}'", info.name);
        if let Some(words) = operands(info) {
            let name = info.name;
            let _ = writeln!(script, "complete -c weigh -n '__weigh_is {name}' -f -a '{words}'");
        }
    }
    script += "complete -c weigh -n '__weigh_is diff' -a '(__weigh_times)'\n";
    for Flag { names, help, value, commands, .. } in flags() {
        let _ = write!(script, "complete -c weigh -n '__weigh_is {}'", commands.join(" "));
        for name in names {
            let _ = match (name.strip_prefix("--"), name.strip_prefix('-')) {
                (Some(long), _) => write!(script, " -l {long}"),
                (None, letter) => write!(script, " -s {}", letter.unwrap_or_default()),
            };
        }
        let _ = match value {
            None => Ok(()),
            Some(Value::Path) => write!(script, " -r -F"),
            Some(Value::Any) => write!(script, " -x"),
            Some(Value::Words(words)) => {
                let words = words.iter().map(|(word, help)| match help.as_str() {
                    "" => word.clone(),
                    help => format!("{word}\\t'{}'", help.replace('"', "\\\"")),
                });
                write!(script, " -x -a \"{}\"", words.collect::<Vec<_>>().join("\n"))
            }
        };
        let _ = writeln!(script, " -d '{}'", quoted(&help));
    }
    script
}

/// clap's completions, for other shells.
fn generated(shell: Shell) -> Vec<u8> {
    let flags = parser().mut_args(|arg| match arg.get_value_hint() {
        ValueHint::Unknown if arg.get_action().takes_values() => arg.value_hint(ValueHint::Other),
        _ => arg,
    });
    let of = |info: &CommandInfo, command: Command| {
        let own = flags.get_arguments().filter(|arg| info.takes(arg.get_id().as_str()));
        let shown = own.filter(|arg| !arg.is_hide_set()).cloned();
        let command = command.about(info.about).disable_help_flag(true).disable_version_flag(true);
        command.args(shown)
    };
    let mut command = of(&TREE, Command::new("weigh")).disable_help_subcommand(true);
    for info in commands() {
        command = command.subcommand(of(info, Command::new(info.name)));
    }
    let mut script = Vec::new();
    generate(shell, &mut command, "weigh", &mut script);
    script
}

//! What other programs call a thing, and what it is called here.

/// Flags of du, ncdu, gdu, dua, fd and ripgrep that weigh does not have, and what to use instead. weigh has those of
/// dust.
const FLAGS: &str = include_str!("elsewhere.txt");

/// Each line: the names of a flag, or a flag and a value as in `--by=user`, a colon, and the way out.
fn flags() -> impl Iterator<Item = (&'static str, &'static str)> {
    FLAGS.lines().filter_map(|line| line.split_once(": "))
}

/// Flags that are only in the config file, each with a line to write there.
const SETTINGS: [(&str, &str); 5] = [
    ("--theme", r#"theme = "dark""#),
    ("--color-of", r#"colors.accent = "cyan""#),
    ("--key-of", r#"keys.delete = "x""#),
    ("--hyperlink", r#"hyperlink = "never""#),
    ("--remember-bound", r#"remember-bound = "2G""#),
];

/// The error for the argument `typed`, if it is a flag that is only in the config file.
pub(super) fn setting(typed: &str) -> Option<String> {
    let typed = typed.split('=').next();
    let (flag, line) = SETTINGS.iter().find(|(flag, _)| Some(*flag) == typed)?;
    Some(format!(
        "{flag} is a setting of the config file\nwrite {line} into ~/.config/weigh/config.toml"
    ))
}

/// What to do instead of giving the flag `typed`, if another program has it.
pub(super) fn instead(typed: &str) -> Option<&'static str> {
    let mut flags = flags();
    flags.find_map(|(names, instead)| names.split(' ').any(|name| name == typed).then_some(instead))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::app::cli::commands::TREE;
    use crate::app::cli::config;
    use crate::app::cli::flags::Flags;

    #[test]
    fn each_setting_has_a_line_for_the_config_file() {
        let command = Flags::command();
        for (flag, line) in SETTINGS {
            let read = config::read(line, &command).expect(line).settings;
            let arg = command
                .get_arguments()
                .find(|arg| Some(arg.get_id().as_str()) == read.first().map(|it| &*it.flag));
            let arg = arg.expect(line);
            assert!(
                arg.is_hide_set() && flag == format!("--{}", arg.get_long().unwrap_or_default()),
                "{line}"
            );
            assert!(setting(&format!("{flag}=x")).is_some_and(|error| error.contains(line)));
        }
    }

    #[test]
    fn each_is_no_flag_here_and_names_what_is() {
        let command = Flags::command();
        let long = |long: &str| {
            command.get_arguments().find(|arg| {
                arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long))
            })
        };
        let is_flag = |word: &str| match word.strip_prefix("--") {
            Some(word) => long(word).is_some(),
            None => command
                .get_arguments()
                .any(|arg| arg.get_short().is_some_and(|letter| word == format!("-{letter}"))),
        };
        // Those of weigh ui, too, were flags of the tree.
        let is_tree = |word: &str| {
            let arg = word.strip_prefix("--").and_then(long);
            arg.map_or_else(|| is_flag(word), |arg| TREE.takes(arg.get_id().as_str()))
        };
        assert_eq!(flags().count(), FLAGS.lines().count());
        for (names, instead) in flags() {
            for name in names.split(' ') {
                assert!(name.starts_with('-') && !is_tree(name), "{name}");
                assert_eq!(super::instead(name), Some(instead), "{name} is there twice");
            }
            let words = instead.split(' ').filter_map(|word| word.split(['=', ',', ':']).next());
            let named: Vec<_> = words.filter(|word| word.starts_with('-')).collect();
            let is_command = instead.contains("weigh ");
            assert!(is_command || !named.is_empty(), "{instead}");
            assert!(named.iter().all(|word| is_flag(word)), "{instead}");
        }
    }
}

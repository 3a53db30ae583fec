//! What other programs call a thing, and what it is called here.

/// Flags of du, ncdu, gdu, dua, fd and ripgrep that weigh does not have, and what to use instead. weigh has those of
/// dust.
const FLAGS: &str = include_str!("elsewhere.txt");

/// Each line: the names of a flag, or a flag and a value as in `--by=user`, a colon, and the way out.
fn flags() -> impl Iterator<Item = (&'static str, &'static str)> {
    FLAGS.lines().filter_map(|line| line.split_once(": "))
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
    use crate::program::cli::commands::TREE;
    use crate::program::cli::flags::Flags;

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

//! What other programs call a thing, and what it is called here.

/// Flags of du, ncdu, gdu, dua, fd and ripgrep that weigh does not have, and what to use instead. weigh has those of
/// dust.
const FLAGS: [(&[&str], &str); 40] = [
    (&["-a", "--all"], "files are shown anyway; -D shows only directories"),
    (&["--absolute-path"], "use -p, with an absolute PATH"),
    (&["--block-size"], "use -o FORMAT, as in -o k"),
    (&["--bytes"], "use -o b, or -s -o b for lengths"),
    (&["--changed-before"], "use --mtime=+DAYS"),
    (&["--changed-within"], "use --mtime=-DAYS"),
    (&["--count-hard-links"], "use -l"),
    (&["--cross-file-system"], "other file systems are counted anyway; -x leaves them out"),
    (&["--dereference", "--follow", "--follow-symlinks"], "use -L"),
    (&["--disk-usage"], "disk blocks are counted anyway; -s counts lengths"),
    (&["-E"], "use --exclude GLOB"),
    (&["--exclude-from"], "use --ignore-file FILE"),
    (&["--exclude-type"], "use --type-not NAME"),
    (&["--extended"], "use --details"),
    (&["--extension"], "use --include GLOB, as in --include '*.rs'"),
    (&["--files"], "use -F"),
    (&["--format"], "use -o FORMAT"),
    (&["-g", "--glob", "--iglob"], "use --include GLOB"),
    (&["-H", "--hidden", "--no-hidden"], "hidden entries count anyway; -i leaves them out"),
    (&["--human-readable"], "sizes are for people anyway; -o b prints bytes"),
    (&["--ignore-dirs"], "use -X PATH"),
    (&["--ignore-dirs-pattern"], "use -v REGEX"),
    (&["--ignore-from"], "use -I FILE"),
    (&["--input-file"], "use --load FILE"),
    (&["--interactive"], "use --ui"),
    (&["--json"], "use -j"),
    (&["-k", "--show-in-kib"], "use -o k"),
    (&["--max-cores"], "use -T NUMBER"),
    (&["--max-results"], "use -n NUMBER"),
    (&["--no-cross", "--mount", "--stay-on-filesystem", "--xdev"], "use -x"),
    (&["--no-delete"], "use --read-only"),
    (
        &["--no-ignore", "--unrestricted"],
        "what git ignores counts anyway; --gitignore leaves it out",
    ),
    (&["-O", "--output-file"], "use --save FILE"),
    (&["--owner"], "use --by owner"),
    (&["--show-apparent-size"], "use -s"),
    (&["--show-errors"], "use --print-errors"),
    (&["--si"], "use -o si"),
    (&["--size", "--threshold"], "use -z SIZE"),
    (&["--time", "--show-mtime"], "use -m m"),
    (&["--top"], "use -F -n NUMBER"),
];

/// What to do instead of giving the flag `typed`, if another program has it.
pub(super) fn instead(typed: &str) -> Option<&'static str> {
    FLAGS.iter().find(|(names, _)| names.contains(&typed)).map(|(_, instead)| *instead)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::program::cli::flags::Flags;

    #[test]
    fn each_is_no_flag_here_and_names_flags_that_are() {
        let command = Flags::command();
        let is_flag = |word: &str| match word.strip_prefix("--") {
            Some(long) => command.get_arguments().any(|arg| {
                arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long))
            }),
            None => command
                .get_arguments()
                .any(|arg| arg.get_short().is_some_and(|letter| word == format!("-{letter}"))),
        };
        for (names, instead) in FLAGS {
            for name in names {
                assert!(name.starts_with('-') && !is_flag(name), "{name}");
                assert_eq!(super::instead(name), Some(instead), "{name} is there twice");
            }
            let words = instead.split(' ').filter_map(|word| word.split(['=', ',']).next());
            let named: Vec<_> = words.filter(|word| word.starts_with('-')).collect();
            assert!(!named.is_empty() && named.iter().all(|word| is_flag(word)), "{instead}");
        }
    }
}

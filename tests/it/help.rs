//! What the program says of itself.

use crate::run::weigh;

#[test]
fn the_short_help_fits_a_screen_and_the_long_one_has_all() {
    let short = weigh("-h").run().text();
    assert!(short.lines().count() <= 24, "{short}");
    for line in short.lines() {
        assert!(line.len() <= 80, "{line}");
    }
    let long = weigh("--help").run().text();
    let headings = ["What to weigh:", "What to leave out:", "What to show:", "Output:"];
    let places: Vec<_> = headings.iter().map(|heading| long.find(heading).unwrap()).collect();
    assert!(places.is_sorted(), "{long}");
    // As terse as the short one: a flag takes a line, or two where its words do not fit one.
    let flags = |text: &str| text.lines().filter(|line| line.trim().starts_with('-')).count();
    assert!(flags(&short) >= 12 && flags(&long) > 2 * flags(&short), "{long}");
    assert!(long.lines().count() < 2 * flags(&long), "{long}");
    for line in short.lines().filter(|line| line.trim_start().starts_with('-')) {
        let flag = line.split("  ").find(|part| !part.is_empty()).unwrap();
        assert!(long.contains(flag), "{flag}");
    }
    // No counterpart of a switch is in the way.
    assert!(!long.contains("--no-reverse"), "{long}");
}

/// `--nope` was taken for `--no-print-errors`.
#[test]
fn an_error_names_nothing_that_is_far() {
    let far = ["--nope", "--no", "--frobnicate", "--xyz=3", "--type=zzz", "-m=created", "-o=bytes"];
    for typed in far {
        let complaint = weigh(typed).run().complaint();
        assert!(!complaint.contains("similar") && !complaint.contains("mean"), "{complaint}");
    }
}

/// `du -sh` is what fingers know; help and status 0 were no answer to it.
#[test]
fn help_among_other_letters_says_what_to_type() {
    for letters in ["-sh", "-hs", "-xsh"] {
        let shown = weigh(letters).run();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{letters}");
        let complaint = shown.complaint();
        assert!(
            complaint.contains("weigh -d 0 PATH") && complaint.contains(letters),
            "{complaint}"
        );
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
    for asked in ["-h", "-s -h", "-sh -h", "-xh --help"] {
        assert!(weigh(asked).run().text().contains("Usage"), "{asked}");
    }
}

#[test]
fn an_error_names_what_is_near() {
    for (typed, near) in [
        ("--revers", "--reverse"),
        ("--aparent-size", "--apparent-size"),
        ("--by=tipe", "type"),
        ("--no-revers", "--no-reverse"),
        ("--colour", "--colors"),
        ("--as=cvs", "'csv'"),
        ("--sort=nam", "'name'"),
        ("--type=rus", "'rust'"),
        ("--type-not=pyhton", "'python'"),
    ] {
        let shown = weigh(typed).run();
        assert_eq!(shown.code(), 2);
        assert!(shown.complaint().contains(near), "{}", shown.complaint());
    }
}

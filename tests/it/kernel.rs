//! File systems of the kernel as roots: they change during the walk, with files that must not be opened and directories
//! that vanish.
#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};

use crate::document::Document;
use crate::rounds::rounds;
use crate::run::weigh;

/// `/` may be of any size, so only the full run has it.
const ROOTS: [(&str, usize); 4] = [("/proc", 4), ("/sys", 1), ("/dev", 1), ("/", 0)];
const FULL: usize = 20;

/// Processes that come and go, so that `/proc` is never the same. They end with this.
struct Churn(Vec<Child>);

impl Churn {
    fn start() -> Self {
        let come_and_go = || {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do sleep 0.01 & sleep 0.02; done"]);
            shell.stdin(Stdio::null()).spawn().unwrap()
        };
        Churn([(); 4].map(|()| come_and_go()).into())
    }
}

impl Drop for Churn {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // Nobody else waits for it, so it can still be killed.
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn what_the_kernel_makes_up_is_walked_to_its_end() {
    let _churn = Churn::start();
    for (root, usual) in ROOTS {
        for i in 0..rounds(usual, FULL) {
            let flags = ["-j", "-j -s", "-j --inodes -T 8", "-j -x"][i % 4];
            let start = std::time::Instant::now();
            let shown = weigh(flags).arg(root).run();
            println!("weigh {flags} {root}: {:?}", start.elapsed());
            assert!(matches!(shown.code(), 0 | 1), "weigh {flags} {root}: {}", shown.status);
            let document = Document::parse(&shown.stdout);
            assert_eq!(document.header["complete"], shown.code() == 0);
            assert!(document.root().entries.is_some_and(|entries| entries > 10), "{root}");
            let names = |path: &str| document.errors().iter().any(|error| error["path"] == path);
            assert!(!names(root), "{root} itself: {}", shown.complaint());
        }
    }
}

//! How the program is linked, where it is known to make it start faster: glibc's loader would
//! otherwise take a third of what weighing a small directory takes (measured on an empty one).

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    // Without 10,000 addresses to be relocated: 1.50 to 1.33 ms. What that gives up, the same code
    // at other addresses in each run, protects memory that is written to by mistake, and there is no
    // unsafe code.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // Without a second library to be loaded, which only a backtrace needs: 1.33 to 1.24 ms.
    if env::var("HOST").is_ok_and(|host| is("TARGET", &host)) && has_static_unwinder() {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Whether the C compiler, which links, has `libgcc_eh.a`: it prints the path of what it has, and
/// the bare name of what it does not have (gcc(1), -print-file-name).
fn has_static_unwinder() -> bool {
    let printed = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    printed.is_ok_and(|output| {
        let path = String::from_utf8_lossy(&output.stdout);
        Path::new(path.trim()).is_absolute()
    })
}

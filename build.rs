//! How the program is linked, where it is known to make it start faster. Its code lies at other addresses in each run
//! (PIE): root runs it on trees that others made.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if !(is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        return;
    }
    // Without a second library to be loaded, which only a backtrace needs: that takes 0.09 ms.
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

//! Slow storage to walk over: `slow MOUNTPOINT [options]` mounts one, made to order, and keeps it until it
//! is told to end (SIGINT, SIGTERM) or somebody unmounts it. `storage.rs` says what it is like.
//!
//! It prints `mounted` once it is there to be walked. Only root may mount it.

mod storage;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};

use storage::{Storage, Trouble};

const USAGE: &str = "\
usage: slow MOUNTPOINT [options]

  --directories N   directories (300; 0 puts the files into the root)
  --files N         files in each (20)
  --delay TIME      what a request takes, as in 5ms, 200us, 1s (1ms)
  --parallel N      how many requests are served at the same time (128)
  --seek TIME       a disk: one request at a time, and a way across all of it takes so long on top
  --eio PATH        a path below MOUNTPOINT that gives an input/output error; may be given again.
                    d0001/f00002 when it is looked up, d0001/ when it is opened
  --hang PATH       the same, but there is no answer
  --die-after N     the connection is cut with this request";

fn main() -> ExitCode {
    let Some((at, storage)) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let told_to_end = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        if let Err(error) = signal_hook::flag::register(signal, Arc::clone(&told_to_end)) {
            eprintln!("slow: {error}");
            return ExitCode::FAILURE;
        }
    }
    match storage.mount(&at) {
        Ok(mounted) => {
            println!("mounted");
            // Relaxed: nothing else is read on account of it.
            while !told_to_end.load(Ordering::Relaxed) && !mounted.is_gone() {
                thread::sleep(Duration::from_millis(20));
            }
            eprintln!("slow: {} names were looked up", mounted.lookups());
            if mounted.hung() > 0 {
                eprintln!("slow: {} requests were never answered", mounted.hung());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("slow: {}: {error}", at.display());
            ExitCode::FAILURE
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<(PathBuf, Storage)> {
    let (mut at, mut storage) = (None, Storage::default());
    while let Some(argument) = arguments.next() {
        if !argument.starts_with('-') {
            at = at.is_none().then(|| argument.into());
            at.as_ref()?;
            continue;
        }
        let value = arguments.next()?;
        match argument.as_str() {
            "--directories" => storage.directories = value.parse().ok()?,
            "--files" => storage.files = value.parse().ok()?,
            "--delay" => storage.delay = time(&value)?,
            "--parallel" => storage.parallel = value.parse().ok()?,
            "--seek" => storage.seek = time(&value)?,
            "--eio" => storage.troubles.push((value, Trouble::Fails(fuser::Errno::EIO))),
            "--hang" => storage.troubles.push((value, Trouble::Hangs)),
            "--die-after" => storage.dies_after = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    Some((at?, storage))
}

/// A number and a unit: `us`, `ms` or `s`.
fn time(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    match &text[digits..] {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        _ => None,
    }
}

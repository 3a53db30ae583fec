//! A program that browses, and panics meanwhile: `panics PATH`. The terminal is to be as it was then, although nothing
//! is dropped: the release build aborts.

use std::panic;
use std::process;
use std::thread;
use std::time::Duration;

use weigh::app::browse::{self, BrowseOptions};
use weigh::internal::ask::{Input, Request};

fn main() {
    let report = panic::take_hook();
    // What the release profile does, in any.
    panic::set_hook(Box::new(move |panic| {
        report(panic);
        process::abort();
    }));
    thread::spawn(|| {
        thread::sleep(Duration::from_millis(500));
        panic!("as it was asked to");
    });
    let source = Input::Roots(std::env::args_os().skip(1).collect());
    let request = Request { source, ..Request::default() };
    let ended = browse::run(&request, BrowseOptions::default());
    unreachable!("it ended before: {ended:?}");
}

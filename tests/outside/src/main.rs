//! Lists the largest entries of a directory, saves two snapshots around a change, and says what grew and what shrank:
//! `outside DIRECTORY`, a directory to write in.

use std::error::Error;
use std::fs;
use std::path::Path;

use weigh::{Measure, Request};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).ok_or("which directory?")?;
    let directory = Path::new(&directory);
    let tree = directory.join("tree");
    fs::create_dir_all(tree.join("logs"))?;
    fs::write(tree.join("logs/old"), vec![b'x'; 300])?;
    fs::write(tree.join("kept"), vec![b'x'; 20])?;
    let [before, after] = ["before.weigh", "after.weigh"].map(|name| directory.join(name));
    let request = Request::of([&tree]).measure(Measure::Apparent);

    weigh::run(&request.clone().save_to(&before))?;
    fs::remove_file(tree.join("logs/old"))?;
    fs::write(tree.join("new"), "five!")?;
    let outcome = weigh::run(&request.save_to(&after))?;
    let largest = outcome.root().children();
    for entry in &largest {
        println!("{:>6} {}", entry.size(), entry.path().display());
    }
    let sizes: Vec<_> = largest.iter().map(|entry| entry.size()).collect();
    assert_eq!(sizes, [20, 5, 0]);

    let request = Request::saved([after]).since(before);
    let outcome = weigh::run(&request)?;
    let mut growth = Vec::new();
    for entry in outcome.root().children() {
        let grew = entry.growth().ok_or("no comparison")?;
        println!("{grew:+6} {}", entry.name().display());
        growth.push((entry.name().into_owned(), grew));
    }
    assert_eq!(growth, [("logs".into(), -300), ("new".into(), 5)]);

    let missing = weigh::run(&Request::of([directory.join("missing")])).expect_err("nothing there");
    println!("{missing}");
    Ok(())
}

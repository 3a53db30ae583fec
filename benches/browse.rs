//! How long a key takes, from being pressed until all is drawn: `browse DIR`, a directory of many entries. Drawn on
//! a screen of 200 × 60 in memory, with the second pane and colours.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use weigh::app::browse::browser::Browser;
use weigh::app::browse::event::Event;
use weigh::app::browse::keys::Key;
use weigh::app::browse::{BrowseOptions, view};
use weigh::internal::ask::{self, Input, Keep, Request};
use weigh::internal::base::measure::Time;
use weigh::internal::show::colors::Colors;
use weigh::internal::show::palette::{Depth, Palette, Theme};
use weigh::internal::tree::tally::Inodes;

fn main() {
    let keep = Keep::Everything(Inodes::FINGERPRINTS);
    let source = Input::Roots(std::env::args_os().skip(1).collect());
    let mut request = Request { source, keep, ..Request::default() };
    request.walk.rules.time = Some(Time::Modified);
    let browsed = ask::browse(&request, Arc::default(), |_| {}).expect("nothing is read first");
    let colors = Some(Colors::new("", Palette::new(Theme::Dark, Depth::Rgb)));
    let mut browser = Browser::new(request, BrowseOptions { colors, ..BrowseOptions::default() });
    let mut terminal = Terminal::new(TestBackend::new(200, 60)).expect("a screen in memory");
    browser.resize(view::list_height(60), usize::MAX);
    let start = Instant::now();
    browser.on(Event::Scanned(Ok(Box::new(browsed))));
    println!("{} entries listed in {:?}", browser.len(), start.elapsed());
    let moves =
        [Key::Down, Key::PageDown, Key::Char(' '), Key::Up, Key::End, Key::Home, Key::PageDown];
    let mut timed = |keys: &[Key], rounds: usize| {
        let mut times: Vec<Duration> = Vec::new();
        for round in 0..rounds {
            let start = Instant::now();
            browser.on(Event::Key(keys[round % keys.len()]));
            view::fit(&mut browser, (200, 60));
            terminal.draw(|frame| view::draw(&browser, frame)).expect("it is in memory");
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!("{keys:?}: median {:?}, 99% {:?}, longest {:?}", at(50), at(99), at(100));
    };
    timed(&moves, 2_000);
    // The treemap on the whole screen.
    timed(&[Key::Char('T')], 1);
    timed(&moves, 2_000);
    timed(&[Key::Char('n'), Key::Char('s'), Key::Char('C')], 12);
    timed(&[Key::Char('A'), Key::Char('U')], 6);
    timed(&[Key::Char('a')], 20);
}

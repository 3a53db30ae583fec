//! `weigh watch`: what grows right now, and who writes it.

use std::time::Duration;

use clap::Args;

use super::CommandInfo;
use crate::app::cli::screen::homes;
use crate::app::cli::{self, flags::Flags};
use crate::app::terminal;
use crate::app::watch::Watching;
use weigh::internal::base::when::parse_duration;
use weigh::internal::show::watch::WatchOptions;

/// The flags of `watch` alone.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Watch")]
pub(in crate::app::cli) struct WatchFlags {
    /// Look every TIME, as in 10s or 1min [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(in crate::app::cli) every: Option<Duration>,

    /// End after TIME, with a summary
    #[arg(long = "for", id = "for_time", value_name = "TIME", value_parser = parse_duration)]
    pub(in crate::app::cli) for_time: Option<Duration>,

    /// Whether that is the command.
    #[arg(skip)]
    pub(in crate::app::cli) is_asked: bool,
}

pub(in crate::app::cli) const WATCH: CommandInfo = CommandInfo {
    name: "watch",
    about: "Show what grows right now, and which process writes it",
    operands: "[PATH]...",
    examples: &[
        ("weigh watch ~", "the places that grow; q ends it"),
        ("sudo weigh watch /", "the whole disk, with each process"),
        ("weigh watch --for 60s /srv >log.jsonl", "one minute, a line of JSON every 2 s"),
        ("weigh watch --for 1h --fail-growth 1G .", "status 3 if it grows by over 1 GiB"),
    ],
    notes: "Keys: q ends, p pauses, s sorts by growth so far, arrows select a place,\n\
        Enter opens it in weigh ui.\n\
        As root on Linux, the kernel names each change and its process. Otherwise,\n\
        and on overlays, weigh scans again and again, within a tenth of one core.\n",
    own: &["every for_time fail_growth limit_filesystem skip output_json"],
    also: &["paths output_format threads read config no_progress quiet print_errors"],
    take: |flags| {
        flags.watch.is_asked = true;
        Ok(())
    },
};

impl Flags {
    /// How to watch, if that is asked for; or why that cannot be done.
    pub(in crate::app::cli) fn watching(&self) -> Result<Option<Watching>, String> {
        const USUAL: Duration = Duration::from_secs(2);
        if !self.watch.is_asked {
            return Ok(None);
        }
        if !self.hosts.is_empty() {
            return Err(
                "watch shows only this machine\nrun weigh watch on the other machine".into()
            );
        }
        let every = self.watch.every.unwrap_or(USUAL);
        if self.watch.for_time.is_some_and(|until| until < every) {
            return Err(
                "--for is shorter than --every (default 2s)\nmake --for longer, or --every shorter"
                    .to_owned(),
            );
        }
        let home = homes().into_iter().next().unwrap_or_default();
        let (columns, lines) = terminal::usual_size();
        Ok(Some(Watching {
            every,
            until: self.watch.for_time,
            is_json: self.print.output_json || !terminal::is_stdout(),
            options: WatchOptions {
                format: self.format(),
                charset: terminal::charset(),
                size: (columns.into(), lines.into()),
                home: home.into_os_string().into_encoded_bytes(),
                by_so_far: false,
                palette: self.wants_colors(terminal::wants_colors).then(|| self.colors().palette),
                selected: None,
            },
            asks_background: terminal::is_stdin() && self.may_ask_background(),
            open: cli::browsing,
        }))
    }
}

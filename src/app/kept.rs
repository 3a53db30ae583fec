//! Which kept scan a scan is compared with, and why there is none.

use std::ffi::OsString;
use std::path::PathBuf;

use weigh::internal::base::escape::harmless;
use weigh::internal::from::series::{Day, Member, Remembered};
use weigh::internal::from::snapshot::{self, Origin, sets_apart};
use weigh::internal::show::errors;
use weigh::internal::show::time::TimeFormat;

/// The kept scans, and how to speak of them.
#[derive(Clone, Debug)]
pub struct KeptScans {
    /// Where they are.
    pub remembered: Remembered,
    /// Whether only complete scans will do.
    pub needs_complete: bool,
    /// The PATHs as one types them, each after a blank; nothing for the current directory.
    pub paths: String,
    /// How the times of scans are written.
    pub minutes: TimeFormat,
    /// How their days are written.
    pub days: TimeFormat,
}

impl KeptScans {
    /// The scan to compare a scan from `now` with: the newest until the end of `day`, or of a time. Its file, and what is to be
    /// said of it. None if there is none: [`nothing`](Self::nothing) says why.
    ///
    /// # Errors
    /// Which file cannot be read.
    pub fn find(
        &self,
        day: Day,
        now: &Origin,
    ) -> Result<Option<(PathBuf, Option<String>)>, String> {
        let found = self.remembered.find(day, now, self.needs_complete);
        let Some(Member { file, header }) = found.map_err(|problem| problem.lines())? else {
            return Ok(None);
        };
        let host = &header.origin.host;
        let note = (*host != now.host).then(|| errors::other_host(host, &now.host));
        let note = note.or_else(|| self.compared_with_above(&header.origin, now));
        Ok(Some((file, note)))
    }

    /// The note for a comparison of `now` with an `earlier` scan of a directory above.
    fn compared_with_above(&self, earlier: &Origin, now: &Origin) -> Option<String> {
        snapshot::way_to(earlier, now)?;
        let part = if self.paths.is_empty() { " this directory" } else { &self.paths };
        let above = earlier.paths().first().map_or_else(String::new, |path| harmless(path));
        Some(format!("compared with the scan of {above}, which contains{part}"))
    }

    /// Why there is no scan to compare `now` with, and what to do instead.
    pub fn nothing(&self, now: &Origin) -> (String, String) {
        let paths = &*self.paths;
        let of = if paths.is_empty() { " ." } else { paths };
        let meanwhile = format!("weigh -F --newer 7d{paths} lists what was written this week");
        let (like, others) = self.remembered.history(now);
        let is_usable = |member: &&Member| member.header.is_complete || !self.needs_complete;
        if let Some(Member { header, .. }) = like.iter().find(is_usable) {
            let [oldest, day] =
                [&self.minutes, &self.days].map(|times| times.write(header.origin.time));
            return (
                format!("no scan of{of} from then or before was kept: the oldest is of {oldest}"),
                format!(
                    "weigh diff {day}{paths} compares with the last scan of that day, and {meanwhile}"
                ),
            );
        }
        if let Some(Member { header, .. }) = like.last() {
            let time = self.minutes.write(header.origin.time);
            return (
                format!(
                    "no complete scan of{of} was kept: the scan of {time} could not read everything"
                ),
                format!(
                    "leave out --fail-growth, or run it as a user who can read everything; {meanwhile}"
                ),
            );
        }
        let mut others = others.iter().rev().map(|member| &member.header.origin);
        if let Some(other) = others.find(|other| other.has_paths_of(now)) {
            let flags: Vec<_> =
                other.options.iter().flatten().filter(|flag| sets_apart(flag)).cloned().collect();
            let with = match flags.is_empty() {
                true => "without flags".to_owned(),
                false => format!("with {}", harmless(flags.join(" ").as_bytes())),
            };
            return (
                format!("the kept scans of{of} were made {with}"),
                format!("make this one {with}, too; {meanwhile}"),
            );
        }
        (
            format!("no earlier scan of{of} was kept"),
            format!(
                "run weigh diff{paths} once to keep one, and again later; until then, {meanwhile}"
            ),
        )
    }
}

/// The `roots`, after a blank, as one types them; nothing for the current directory.
pub fn typed_roots(roots: &[OsString]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-~+".contains(byte);
    match roots {
        [one] if one == "." => String::new(),
        [one] if one.as_encoded_bytes().iter().all(is_plain) => format!(" {}", one.display()),
        _ => " PATH".to_owned(),
    }
}

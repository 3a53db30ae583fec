//! The scans that weigh kept: as a list, and as JSON.

use std::io::{self, Write};
use std::iter;

use super::name::{padded, right_aligned, widest};
use super::size::Format;
use super::time::TimeFormat;
use crate::base::escape::{harmless, json_bytes as bytes, json_string as string};
use crate::from::series::Member;
use crate::from::snapshot::{SnapshotInfo, header};

/// A kept scan.
#[derive(Debug)]
pub struct KeptScan {
    /// Its file and its header.
    pub member: Member,
    /// How many bytes the file has.
    pub length: u64,
}

/// The headings, and a line for each scan: its time, its length, its PATHs, its flags, another host than `host`, and that
/// it lacks something; perhaps also its file.
pub fn list(
    scans: &[KeptScan],
    host: &[u8],
    times: &TimeFormat,
    has_files: bool,
) -> (String, Vec<String>) {
    let headings = ["scanned", "takes", "PATH and flags"].map(str::to_owned);
    let rows = scans.iter().map(|KeptScan { member: Member { header, .. }, length }| {
        let SnapshotInfo { origin, is_complete } = header;
        let paths = origin.paths().into_iter().map(harmless);
        let flags = origin.options.iter().flatten().map(|flag| harmless(flag.as_bytes()));
        let of_another =
            (origin.host != host).then(|| format!("(host {})", harmless(&origin.host)));
        let incomplete = (!is_complete).then(|| "(incomplete)".to_owned());
        let about: Vec<_> = paths.chain(flags).chain(of_another).chain(incomplete).collect();
        [times.write(origin.time), Format::Binary.write(*length), about.join(" ")]
    });
    let rows: Vec<_> = iter::once(headings).chain(rows).collect();
    let [time, length, about] = [0, 1, 2].map(|i| widest(rows.iter().map(|row| &row[i])));
    let file = |member: &Member| harmless(member.file.as_os_str().as_encoded_bytes());
    let files = scans.iter().map(|scan| file(&scan.member));
    let files = iter::once("file".to_owned()).chain(files);
    let mut lines = rows.iter().zip(files).map(|(row, file)| {
        let start = format!("{}  {}  ", padded(&row[0], time), right_aligned(&row[1], length));
        match has_files {
            true => format!("{start}{}  {file}", padded(&row[2], about)),
            false => format!("{start}{}", row[2]),
        }
    });
    (lines.next().unwrap_or_default(), lines.collect())
}

/// Writes the scans as JSON.
///
/// # Errors
/// The writer's.
pub fn json(out: &mut dyn Write, scans: &[KeptScan]) -> io::Result<()> {
    header::tool(out)?;
    header::list(out, r#","scans":"#, scans, |out, KeptScan { member, length }| {
        let SnapshotInfo { origin, is_complete } = &member.header;
        bytes(out, r#"{"file":"#, member.file.as_os_str().as_encoded_bytes())?;
        write!(out, r#","bytes":{length},"complete":{is_complete},"time":{}"#, origin.time)?;
        bytes(out, r#","host":"#, &origin.host)?;
        header::list(out, r#","roots":"#, &origin.paths(), |out, path| {
            bytes(out, r#"{"path":"#, path)?;
            out.write_all(b"}")
        })?;
        let options = origin.options.as_deref().unwrap_or_default();
        header::list(out, r#","options":"#, options, |out, flag| string(out, flag))?;
        out.write_all(b"}")
    })?;
    out.write_all(b"}\n")
}

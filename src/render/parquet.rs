//! Parquet: a table with a row for each node, in the order of `--as csv`, for engines that query many tables. One
//! thread writes each group of rows when it is full, so the bytes depend only on the tree.
//!
//! Names are text columns even if a name is not valid text; a column beside them then has its bytes, as in JSON.
//! Numbers are signed 64-bit integers, which every engine can add up; larger ones saturate.

mod columns;

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::rows::{self, Row};
use crate::inode::Links;
use crate::snapshot::schema::ExportOptions;
use crate::tree::Tree;
use columns::{NumberColumn, TextColumn};

/// The number of rows that are in memory before they are written. DuckDB gives each of its threads as many at a time.
const GROUP: usize = 122_880;

const SCHEMA: &str = "
message weigh {
    required binary path (STRING);
    optional binary path_bytes;
    required binary name (STRING);
    optional binary name_bytes;
    optional binary parent (STRING);
    required int64 depth;
    required binary kind (STRING);
    required int64 size;
    optional int64 own;
    required int64 entries;
    required int64 shared;
    optional int64 inode;
    optional int64 links;
    optional int64 device;
    optional int64 owner;
    optional int64 group;
    optional int64 modified (TIMESTAMP(MICROS,true));
    required binary host (STRING);
    required int64 time (TIMESTAMP(MICROS,true));
}";

/// Rows that are not written yet, by column.
#[derive(Default)]
struct Group {
    path: TextColumn,
    path_bytes: TextColumn,
    name: TextColumn,
    name_bytes: TextColumn,
    parent: TextColumn,
    depth: NumberColumn,
    kind: TextColumn,
    size: NumberColumn,
    own: NumberColumn,
    entries: NumberColumn,
    shared: NumberColumn,
    inode: NumberColumn,
    links: NumberColumn,
    device: NumberColumn,
    owner: NumberColumn,
    group: NumberColumn,
    modified: NumberColumn,
    host: TextColumn,
    time: NumberColumn,
    rows: usize,
}

/// A buffer for the output of the file writer, which wants to own a writer that other threads may use.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<Vec<u8>>>);

/// Writes a row for each node of `tree`.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut impl Write, tree: &Tree, options: &ExportOptions) -> io::Result<()> {
    let pending = Pending::default();
    let schema = Arc::new(parse_message_type(SCHEMA).map_err(failed)?);
    let mut file = SerializedFileWriter::new(pending.clone(), schema, Arc::new(properties()?))
        .map_err(failed)?;
    let mut group = Group::default();
    rows::each(tree, |row| {
        group.push(&row, tree, options);
        if group.rows == GROUP {
            mem::take(&mut group).write(&mut file)?;
            out.write_all(&pending.take())?;
        }
        Ok(())
    })?;
    if group.rows > 0 {
        group.write(&mut file)?;
    }
    file.close().map_err(failed)?;
    out.write_all(&pending.take())
}

fn properties() -> io::Result<WriterProperties> {
    let level = ZstdLevel::try_new(3).map_err(failed)?;
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(format!("weigh version {}", env!("CARGO_PKG_VERSION")))
        .set_dictionary_enabled(false)
        // Neighbouring paths have a common prefix, because they are sorted.
        .set_column_encoding(ColumnPath::from("path"), Encoding::DELTA_BYTE_ARRAY);
    for repeated in ["parent", "kind", "host", "time", "device", "owner", "group", "depth"] {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(repeated), true);
    }
    Ok(properties.build())
}

impl Group {
    fn push(&mut self, row: &Row<'_>, tree: &Tree, options: &ExportOptions) {
        let node = row.node.node();
        let is_root = row.node.parent().is_none() && row.node.id().is_some();
        let name = if is_root { row.path } else { tree.label(node.name) };
        let above = row.path.get(..row.path.len().saturating_sub(name.len())).unwrap_or_default();
        let above = match above.strip_suffix(b"/") {
            Some(above) if !above.is_empty() => above,
            _ => above,
        };
        // Above several roots is a node without a path.
        let above = if above.is_empty() { &b"(total)"[..] } else { above };
        let is_group = row.node.is_group();
        self.path.push_text(row.path, Some(&mut self.path_bytes));
        self.name.push_text(name, Some(&mut self.name_bytes));
        match is_root {
            true => self.parent.push_none(),
            false => self.parent.push_text(above, None),
        }
        self.depth.push(row.depth as u64);
        self.kind.push_text(row.kind.as_bytes(), None);
        self.size.push(row.size);
        let own = if row.node.is_directory() { row.node.own() } else { Some(row.size) };
        self.own.push_option(own.filter(|_| !is_group));
        self.entries.push(row.entries);
        self.shared.push(row.node.totals().shared);
        let details = node.inode.and_then(|inode| inode.details);
        self.inode.push_bits(node.inode.map(|inode| inode.identity.number));
        self.device.push_bits(node.inode.map(|inode| inode.identity.device));
        self.links.push_option(match node.inode.map(|inode| inode.links) {
            Some(Links::Of(links)) => Some(links.into()),
            _ => None,
        });
        self.owner.push_option(details.map(|details| details.owner.into()));
        let group = details.and_then(|details| details.group);
        self.group.push_option(group.map(u64::from));
        self.modified.push_time(details.map(|details| details.modified));
        let (host, time) = options.made();
        self.host.push_text(host, None);
        self.time.push_time(Some(time));
        self.rows += 1;
    }

    /// Writes the rows, with columns in the order of the schema.
    fn write(self, file: &mut SerializedFileWriter<Pending>) -> io::Result<()> {
        let mut group = file.next_row_group().map_err(failed)?;
        self.path.write(&mut group)?;
        self.path_bytes.write_optional(&mut group)?;
        self.name.write(&mut group)?;
        self.name_bytes.write_optional(&mut group)?;
        self.parent.write_optional(&mut group)?;
        self.depth.write(&mut group)?;
        self.kind.write(&mut group)?;
        self.size.write(&mut group)?;
        self.own.write_optional(&mut group)?;
        self.entries.write(&mut group)?;
        self.shared.write(&mut group)?;
        self.inode.write_optional(&mut group)?;
        self.links.write_optional(&mut group)?;
        self.device.write_optional(&mut group)?;
        self.owner.write_optional(&mut group)?;
        self.group.write_optional(&mut group)?;
        self.modified.write_optional(&mut group)?;
        self.host.write(&mut group)?;
        self.time.write(&mut group)?;
        group.close().map(|_| ()).map_err(failed)
    }
}

impl Pending {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An error of the library. No input can cause one: everything is written to memory.
fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

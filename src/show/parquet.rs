//! Parquet: a table with a row for each node, in the order of `--as csv`, for engines that query many tables. One
//! thread writes each group of rows when it is full, so the bytes depend only on the tree.
//!
//! Names are text columns even if a name is not valid text; a column beside them then has its bytes, as in JSON.
//! Numbers are signed 64-bit integers, which every engine can add up; larger ones saturate.

mod column;

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::ExportOptions;
use super::rows::{self, Row};
use crate::base::inode::Links;
use crate::tree::Tree;
use column::{ParquetColumn, Value};

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

/// How many columns the schema has.
const COLUMNS: usize = 19;

/// Rows that are not written yet, by column.
type Group = [ParquetColumn; COLUMNS];

/// Writes a row for each node of `tree`.
///
/// # Errors
/// The writer's.
pub fn write(out: &mut dyn Write, tree: &Tree, options: &ExportOptions) -> io::Result<()> {
    let schema = Arc::new(parse_message_type(SCHEMA).map_err(failed)?);
    // The file writer wants a writer that can be sent to other threads. Not every `out` can.
    let mut file =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties()?)).map_err(failed)?;
    let mut group = Group::default();
    rows::each(tree, options.order, |row| {
        for (column, value) in group.iter_mut().zip(values(&row, tree, options)) {
            column.push(value);
        }
        if group[0].len() == GROUP {
            write_group(mem::take(&mut group), &mut file)?;
            out.write_all(&mem::take(file.inner_mut()))?;
        }
        Ok(())
    })?;
    if group[0].len() > 0 {
        write_group(group, &mut file)?;
    }
    out.write_all(&file.into_inner().map_err(failed)?)
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

/// The values of a row, in the order of the schema.
fn values<'a>(row: &Row<'a>, tree: &Tree, options: &'a ExportOptions) -> [Value<'a>; COLUMNS] {
    let (node, totals) = (row.node.node(), row.node.totals());
    let is_root = row.node.parent().is_none() && row.node.id().is_some();
    let name = if is_root { row.path } else { tree.label(node.name) };
    let own = if row.node.is_directory() { row.node.own() } else { Some(row.node.size()) };
    let links = match node.inode.map(|inode| inode.links) {
        Some(Links::Of(links)) => Some(links.into()),
        _ => None,
    };
    let details = node.inode.and_then(|inode| inode.details);
    let (host, time) = options.made();
    let [path, path_bytes] = Value::text_and_bytes(row.path);
    let [shown_name, name_bytes] = Value::text_and_bytes(name);
    [
        path,
        path_bytes,
        shown_name,
        name_bytes,
        if is_root { Value::None } else { Value::text(parent(row.path, name)) },
        Value::number(Some(row.depth as u64)),
        Value::text(row.node.kind().as_bytes()),
        Value::number(Some(row.node.size())),
        Value::number(own.filter(|_| !row.node.is_group())),
        Value::number(Some(totals.entries)),
        Value::number(Some(totals.shared)),
        Value::bits(node.inode.map(|inode| inode.identity.number)),
        Value::number(links),
        Value::bits(node.inode.map(|inode| inode.identity.device)),
        Value::number(details.map(|details| details.owner.into())),
        Value::number(details.and_then(|details| details.group).map(u64::from)),
        Value::time(details.map(|details| details.modified)),
        Value::text(host),
        Value::time(Some(time)),
    ]
}

/// What comes before `name` in `path`, without the slash between, unless that is the whole of it.
fn parent<'p>(path: &'p [u8], name: &[u8]) -> &'p [u8] {
    match path.get(..path.len().saturating_sub(name.len())).unwrap_or_default() {
        // Above several roots is a node without a path.
        b"" => b"(total)",
        b"/" => b"/",
        above => above.strip_suffix(b"/").unwrap_or(above),
    }
}

fn write_group(group: Group, file: &mut SerializedFileWriter<Vec<u8>>) -> io::Result<()> {
    let mut writer = file.next_row_group().map_err(failed)?;
    for column in group {
        column.write(&mut writer)?;
    }
    writer.close().map(|_| ()).map_err(failed)
}

/// An error of the library. No input can cause one: everything is written to memory.
fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

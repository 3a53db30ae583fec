//! A Parquet file is the same table as CSV, with more columns. The tests read it with the library that writes it, and
//! with DuckDB, pandas and pyarrow if they are installed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use base64::Engine as _;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::dice::{Dice, Names};
use crate::fixture::{Fixture, raw};
use crate::oracle::{self, Eyes};
use crate::rounds::{for_seeds, rounds};
use crate::run::{python, said_by, weigh};

type Row = BTreeMap<String, Field>;

fn rows(file: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().into_columns().into_iter().collect()).collect()
}

fn text(row: &Row, column: &str) -> String {
    match &row[column] {
        Field::Str(text) => text.clone(),
        other => panic!("{column}: {other:?}"),
    }
}

fn number(row: &Row, column: &str) -> Option<i64> {
    match row[column] {
        Field::Long(number) | Field::TimestampMicros(number) => Some(number),
        Field::Null => None,
        ref other => panic!("{column}: {other:?}"),
    }
}

/// What a column says exactly: the bytes beside it, if there are some.
fn exactly(row: &Row, column: &str) -> Vec<u8> {
    match &row[&format!("{column}_bytes")] {
        Field::Bytes(bytes) => bytes.data().to_vec(),
        Field::Null => text(row, column).into_bytes(),
        other => panic!("{column}: {other:?}"),
    }
}

#[test]
fn its_rows_are_those_of_the_other_tables() {
    for_seeds(rounds(20, 200), |seed| {
        let mut dice = Dice::new(seed + 23_000_000);
        let fixture = dice.tree(Fixture::in_memory(), Names::Hostile);
        let place = Fixture::in_memory();
        let several = if seed % 2 == 0 { "tree" } else { "tree elsewhere" };
        for flags in ["", "-s -d 2", "-F", "--inodes -n 7", "-t", "-e 1"] {
            let file = place.at("table");
            for threads in ["-T 1", "-T 8"] {
                let run = weigh(&format!("{flags} {threads} --as parquet {several}"));
                fs::write(place.at(threads), run.within(fixture.path()).run().clean()).unwrap();
            }
            let table = place.bytes("-T 1");
            // But for the time, which is when it was written.
            assert_eq!(table.len(), place.bytes("-T 8").len());
            fs::write(&file, table).unwrap();
            let other = weigh(&format!("{flags} --as ndjson {several}")).within(fixture.path());
            let other = other.run().text();
            let rows = rows(&file);
            assert_eq!(rows.len(), other.lines().count(), "seed {seed}, {flags}");
            for (row, line) in rows.iter().zip(other.lines()) {
                let line: Value = serde_json::from_str(line).unwrap();
                let bytes = line["path_bytes"].as_str();
                let exact =
                    bytes.map(|b| base64::engine::general_purpose::STANDARD.decode(b).unwrap());
                let path = line["path"].as_str().unwrap();
                assert_eq!(text(row, "path"), path);
                assert_eq!(exactly(row, "path"), exact.unwrap_or_else(|| path.into()));
                assert_eq!(text(row, "kind"), line["kind"].as_str().unwrap());
                for column in ["size", "entries", "depth"] {
                    assert_eq!(number(row, column), line[column].as_i64(), "{column} of {line}");
                }
                let names = [exactly(row, "path"), exactly(row, "name")];
                assert!(names[0].ends_with(&names[1]), "{names:?}");
            }
        }
    });
}

/// What each inode comes to by itself adds up to what `du` says, each inode once.
#[test]
fn its_own_weights_add_up() {
    for_seeds(rounds(10, 100), |seed| {
        let fixture = Dice::new(seed + 24_000_000).tree(Fixture::new(), Names::Tame);
        let place = Fixture::in_memory();
        let table = weigh("--as parquet --details").arg(fixture.at("tree")).run().clean();
        fs::write(place.at("table"), table).unwrap();
        let rows = rows(&place.at("table"));
        let own = rows.iter().map(|row| (number(row, "inode"), number(row, "own").unwrap()));
        let own: BTreeMap<_, _> = own.collect();
        let root = &rows[0];
        assert_eq!(own.values().sum::<i64>(), number(root, "size").unwrap(), "seed {seed}");
        assert_eq!(own.len() as i64, number(root, "entries").unwrap());
        let found = oracle::find(&fixture.at("tree"), Eyes::Mine);
        assert_eq!(rows.len(), found.len());
    });
}

#[test]
fn details_and_where_it_comes_from_are_there_where_they_are_known() {
    let fixture = Fixture::new()
        .file("t/a/f", 100)
        .hard_link("t/a/f", "t/g")
        .file("t/old", 5)
        .modified("t/old", 1_000_000_000)
        .modified("t/a", -9_000_000_000_000);
    let run = |flags: &str, name: &str| {
        let table = weigh(flags).within(fixture.path()).run().clean();
        fs::write(fixture.at(name), table).unwrap();
        let rows = rows(&fixture.at(name)).into_iter();
        rows.map(|row| (text(&row, "path"), row)).collect::<BTreeMap<_, _>>()
    };
    let plain = run("-s t --as parquet", "1");
    assert_eq!(number(&plain["t/a/f"], "links"), Some(2));
    assert_eq!(number(&plain["t/old"], "modified"), None);
    weigh("-s t --details --save saved").within(fixture.path()).run().clean();
    for flags in ["-s t --as parquet --details", "--from saved --as parquet --details"] {
        let rows = run(flags, "2");
        assert_eq!(number(&rows["t/old"], "modified"), Some(1_000_000_000_000_000), "{flags}");
        assert!(number(&rows["t/a"], "modified").is_some_and(|time| time < 0));
        assert_eq!(
            number(&rows["t/old"], "owner"),
            Some(rustix::process::geteuid().as_raw().into())
        );
        assert_eq!(number(&rows["t/g"], "inode"), number(&rows["t/a/f"], "inode"));
        let parents = ["t", "t/a", "t/a/f", "t/g"].map(|path| rows[path]["parent"].clone());
        let expected = [None, Some("t"), Some("t/a"), Some("t")];
        let expected = expected.map(|it| it.map_or(Field::Null, |it| Field::Str(it.to_owned())));
        assert_eq!(parents, expected);
        assert!(number(&rows["t"], "time").is_some_and(|time| time > 1_700_000_000_000_000));
        let host = rustix::system::uname().nodename().to_str().unwrap().to_owned();
        assert_eq!(text(&rows["t"], "host"), host);
    }
}

/// There are as many rows in a group as its constant says, and a group is on its way before the next one is full.
#[test]
fn it_is_written_in_groups() {
    let mut fixture = Fixture::in_memory().dir("t");
    fs::create_dir(fixture.at("t/d")).unwrap();
    fixture = fixture.dir("t/e");
    let export: Vec<_> =
        (0..130_000).map(|i| format!("{{\"name\":\"f{i}\",\"dsize\":{i}}}")).collect();
    let export = format!("[1,2,{{\"timestamp\":1}},[{{\"name\":\"/t\"}},{}]]", export.join(","));
    fs::write(fixture.at("export"), export).unwrap();
    let table = weigh("--as parquet --from export").within(fixture.path()).run().clean();
    fs::write(fixture.at("table"), &table).unwrap();
    let reader = SerializedFileReader::new(File::open(fixture.at("table")).unwrap()).unwrap();
    let groups = reader.metadata().row_groups().iter().map(|group| group.num_rows());
    assert_eq!(groups.collect::<Vec<_>>(), [122_880, 7_121]);
    assert_eq!(rows(&fixture.at("table")).len(), 130_001);
    let full = weigh("--as parquet --from export").within(fixture.path());
    let full = full.stdout(File::options().write(true).open("/dev/full").unwrap()).run();
    assert_eq!(full.code(), 1);
    assert!(
        full.complaint().contains("cannot write the output: No space left"),
        "{}",
        full.complaint()
    );
}

#[test]
fn what_it_cannot_show_is_refused() {
    let fixture = Fixture::new().file("t/f", 1);
    weigh("t --save saved").within(fixture.path()).run().clean();
    for flags in [
        "diff t --as parquet --since saved",
        "t --as parquet -m m",
        "t --details",
        "t -j --details",
    ] {
        let shown = weigh(flags).within(fixture.path()).run();
        assert_eq!((shown.code(), shown.stdout.len()), (2, 0), "{flags}");
    }
    // What was saved without them has none.
    let shown = weigh("--from saved --as parquet --details").within(fixture.path()).run();
    assert_eq!(shown.code(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn it_is_never_written_to_a_terminal() {
    let terminal = crate::pty::Terminal::new();
    let shown = weigh("--as parquet /dev/null").on(&terminal).spawn().wait().unwrap();
    assert_eq!(shown.code(), Some(2));
}

/// Names that are none of UTF-8 come back exactly.
#[test]
#[ignore = "needs DuckDB, pandas and pyarrow for Python"]
fn other_programs_read_it() {
    let fixture = Fixture::new()
        .file("t/plain", 100)
        .file(raw(b"t/not utf-8 \xff\n\"\\\x1b\x7f"), 700)
        .file(raw("t/漢字".as_bytes()), 30)
        .hard_link("t/plain", "t/d/linked");
    let table = weigh("-s --as parquet --details t").within(fixture.path()).run().clean();
    fs::write(fixture.at("table.parquet"), table).unwrap();
    let script = r#"
import duckdb, pandas, pyarrow.parquet
def check(rows):
    found = {bytes(b) if b is not None and b == b else p.encode() for p, b in rows}
    expected = {b't', b't/d', b't/d/linked', b't/plain', b't/not utf-8 \xff\n"\\\x1b\x7f', 't/漢字'.encode()}
    assert found == expected, found
check(duckdb.sql("select path, path_bytes from 'table.parquet'").fetchall())
(total,), = duckdb.sql("select sum(own) from (select max(own) as own from 'table.parquet' group by inode)").fetchall()
(size,), = duckdb.sql("select size from 'table.parquet' where depth = 0").fetchall()
assert total == size == 830, (total, size)
frame = pandas.read_parquet('table.parquet')
check(zip(frame.path, frame.path_bytes))
assert str(frame.modified.dtype).startswith('datetime64'), frame.modified.dtype
table = pyarrow.parquet.read_table('table.parquet').to_pydict()
check(zip(table['path'], table['path_bytes']))
"#;
    said_by(python().args(["-c", script]), &fixture);
}

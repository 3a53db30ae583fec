"""Whether queries of examples/spark/fleet.sql say of tables what `weigh -j -d 1` says of the tree:
`spark_sums.py duckdb|spark JSON TABLE…`. All queries are run; of totals and tops the numbers are compared."""

import json
import re
import sys
from pathlib import Path

engine, document, *tables = sys.argv[1:]
text = (Path(__file__).parent.parent / "examples/spark/fleet.sql").read_text()
parts = re.split(r"^-- name: (\w+)\n", text, flags=re.M)
queries = {name: query.strip().rstrip(";") for name, query in zip(parts[1::2], parts[2::2])}

expected = json.loads(Path(document).read_text())
tops = {child["name"]: child["size"] for child in expected["children"]}


def run_on_duckdb(table):
    import duckdb

    connection = duckdb.connect()
    connection.sql(f"CREATE VIEW entries AS FROM read_parquet('{table}/*.parquet')")
    connection.execute(queries["inodes"])
    return {name: connection.execute(query).fetchall() for name, query in queries.items() if name != "inodes"}


def run_on_spark(table):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("sums").getOrCreate()
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW entries USING parquet OPTIONS (path '{table}')")
    spark.sql(queries["inodes"])
    return {name: [tuple(row) for row in spark.sql(query).collect()] for name, query in queries.items() if name != "inodes"}


run = {"duckdb": run_on_duckdb, "spark": run_on_spark}[engine]
for table in tables:
    answers = run(table)
    ((_, _, size, entries),) = answers["totals"]
    assert (int(size), entries) == (expected["size"], expected["entries"]), (table, size, entries)
    assert {top: int(size) for top, size in answers["tops"]} == tops, (table, answers["tops"])
    assert sum(int(row[2]) for row in answers["owners"]) == expected["size"], answers["owners"]
    assert len(answers["ages"]) >= 1 and len(answers["full"]) == 1, answers

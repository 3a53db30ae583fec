#!/usr/bin/env python3
"""Weighs one large tree from all machines of a Spark cluster, into one Parquet table.

    spark-submit weigh_shares.py --shares 64 --weigh /shared/bin/weigh /data /tables/data-2026-11-21

Each of the shares is a task: an executor runs `weigh --shard I/N` on its own machine, which has to see the same tree at
the same path, and TABLE, a directory that all of them see. A task writes its part under a name of its own, and puts it
in its place in one step when it is whole: a task that is retried, or run twice by speculation, does no harm.

If a part is missing in the end, the job fails and says which. A table that is there already is not touched.
"""

import argparse
import os
import subprocess
import sys
import uuid

from pyspark.sql import SparkSession


def weigh_share(share, options):
    """Weighs one share, and returns its number, weigh's exit status, and what it complained of."""
    place = os.path.join(options.table, f"share-{share:05}-of-{options.shares:05}.parquet")
    if os.path.exists(place):
        return share, 0, ""
    draft = os.path.join(options.table, f"_draft-{share:05}-{uuid.uuid4().hex}")
    command = [options.weigh, "--no-progress", "--as", "parquet", "--details"]
    command += ["--shard", f"{share}/{options.shares}", *options.flag, "--", options.path]
    try:
        with open(draft, "wb") as out:
            done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=False)
            os.fsync(out.fileno())
        # 1: something could not be read. The part has everything else, and stderr says what is missing.
        if done.returncode not in (0, 1):
            raise RuntimeError(f"share {share}: {done.stderr.decode(errors='replace')}")
        os.rename(draft, place)
    finally:
        if os.path.exists(draft):
            os.remove(draft)
    return share, done.returncode, done.stderr.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--shares", type=int, default=64, help="into how many to divide it; some for each core")
    parser.add_argument("--weigh", default="weigh", help="where the program is on each machine")
    parser.add_argument("--flag", action="append", default=[], help="a flag for weigh, as in --flag=-x")
    parser.add_argument("path", help="the tree, at the same path on each machine")
    parser.add_argument("table", help="a directory that all machines see, for the table")
    options = parser.parse_args()
    if os.path.exists(os.path.join(options.table, "_SUCCESS")):
        sys.exit(f"{options.table} is there already: give another directory")
    os.makedirs(options.table, exist_ok=True)

    spark = SparkSession.builder.appName(f"weigh {options.path}").getOrCreate()
    shares = spark.sparkContext.parallelize(range(1, options.shares + 1), options.shares)
    done = shares.map(lambda share: weigh_share(share, options)).collect()
    for share, _, complaint in sorted(done):
        for line in complaint.splitlines():
            print(f"share {share}: {line}", file=sys.stderr)
    parts = {name for name in os.listdir(options.table) if name.startswith("share-")}
    wanted = {f"share-{share:05}-of-{options.shares:05}.parquet" for share in range(1, options.shares + 1)}
    # Drafts of killed executors. Spark ignores names that begin with an underscore.
    for name in os.listdir(options.table):
        if name.startswith("_draft-"):
            os.remove(os.path.join(options.table, name))
    if parts != wanted:
        sys.exit(f"missing: {sorted(wanted - parts)}; of other shares: {sorted(parts - wanted)}")
    open(os.path.join(options.table, "_SUCCESS"), "w").close()
    spark.stop()
    sys.exit(1 if any(status for _, status, _ in done) else 0)


if __name__ == "__main__":
    main()

"""The table of a benchmark run: table.py DIR, where benches/run left what hyperfine measured.

A section a tree; in it a row a program: the median of all its runs in all rounds, the middle half
of them, the fastest, how many times the floor and how many times weigh that median is, and the
peak memory. Fastest first.
"""

import json
import pathlib
import statistics
import sys


def main():
    raw = pathlib.Path(sys.argv[1])
    print("# Results\n")
    print("Written by `benches/run`; [README.md](README.md) explains how to read it. The floor asks about every name. weigh")
    print("can be below it where it need not ask, above all where many names are links to few inodes.\n")
    print((raw / "about").read_text())
    for place in sorted(path for path in raw.iterdir() if path.is_dir()):
        print(section(place))


def section(place):
    shape, entries, file_system = (
        (place / name).read_text().strip() for name in ("shape", "entries", "file_system")
    )
    memory = dict(line.split("\t") for line in (place / "memory").read_text().splitlines())
    times, statuses = {}, {}
    rounds = sorted(place.glob("*.json"))
    for path in rounds:
        for result in json.loads(path.read_text())["results"]:
            times.setdefault(result["command"], []).extend(result["times"])
            statuses.setdefault(result["command"], set()).update(result["exit_codes"])
    # Who took too long for turns has the one run that showed it.
    hopeless = place / "hopeless"
    for line in hopeless.read_text().splitlines() if hopeless.exists() else []:
        name, milliseconds = line.split("\t")
        times[name], statuses[name] = [int(milliseconds) / 1000], {0}
    medians = {name: statistics.median(runs) for name, runs in times.items()}
    # Of the floors on 1, 2, 16 … threads the fastest is the one that counts.
    floor = min((medians[name] for name in medians if name.startswith("floor")), default=None)
    weigh = medians.get("weigh")
    runs = max(len(of_one) for of_one in times.values())

    lines = [
        f"## {shape}",
        "",
        f"{int(entries):,} entries on {file_system}; {len(rounds)} rounds, {runs} runs of each.",
        "",
        "| program | median | middle half | fastest | × floor | × weigh | peak memory |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    failures = []
    for name in sorted(medians, key=medians.get):
        low, high = map(duration, middle_half(times[name]))
        middle = f"{low} – {high}" if len(times[name]) > 1 else "one run"
        mark = ""
        if statuses[name] != {0}:
            mark = " (!)"
            said = ", ".join(str(status) for status in sorted(statuses[name], key=str))
            failures.append(f"(!) {name} ended with status {said}.")
        lines.append(
            f"| {name}{mark} | {duration(medians[name])} | {middle} "
            f"| {duration(min(times[name]))} | {ratio(medians[name], floor)} "
            f"| {ratio(medians[name], weigh)} | {size(memory.get(name))} |"
        )
    notes = [line for failure in failures for line in (failure, "")]
    return "\n".join(lines + [""] + notes)


def middle_half(times):
    """The first and the third quartile."""
    if len(times) < 2:
        return times[0], times[0]
    low, _, high = statistics.quantiles(times, n=4, method="inclusive")
    return low, high


def duration(seconds):
    """Three digits or a tenth of a millisecond, whichever says more."""
    if seconds < 1:
        return f"{seconds * 1000:.{2 if seconds < 0.01 else 1 if seconds < 0.1 else 0}f} ms"
    return f"{seconds:.2f} s"


def ratio(median, base):
    return f"{median / base:.2f}" if base else "–"


def size(kibibytes):
    if not kibibytes or not kibibytes.isdigit():
        return "–"
    return f"{int(kibibytes) / 1024:.1f} MiB"


if __name__ == "__main__":
    main()

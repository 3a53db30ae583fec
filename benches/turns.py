#!/usr/bin/env python3
"""Runs programs in turns and prints how long each took: turns.py [--rounds N] [--runs N] [--before COMMAND] NAME=COMMAND…

Each round runs every program so often, in an order that rotates. Before each run the shell runs COMMAND. The table has
the median of the times, their middle half, the median of the CPU time, and the ratios to the first program whose name
begins with `floor`, or else to the first: of the medians, and the median of the ratios within rounds, which a change
of the machine between rounds does not touch. Standard library only.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import time


def run(command):
    """Wall and CPU time in ms of a command, which prints to nowhere."""
    with open(os.devnull, "w", encoding="ascii") as nowhere:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    return wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000, process.returncode


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--before")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    programs = dict(program.split("=", 1) for program in options.programs)
    names, times, statuses = list(programs), {name: [] for name in programs}, {}
    for turn in range(options.rounds):
        for i in range(len(names)):
            name = names[(i + turn) % len(names)]
            command, of_round = shlex.split(programs[name]), []
            for _ in range(options.runs):
                if options.before:
                    subprocess.run(options.before, shell=True, check=True)
                wall, cpu, status = run(command)
                of_round.append((wall, cpu))
                statuses.setdefault(name, set()).add(status)
            times[name].append(of_round)
    base = next((name for name in names if name.startswith("floor")), names[0])
    middle = [statistics.median(wall for wall, _ in one) for one in times[base]]
    print(f"{'median':>9} {'middle half':>17} {'CPU':>9} {'ratio':>6} {'paired':>6}  (ms)")
    whole = statistics.median(wall for one in times[base] for wall, _ in one)
    for name in names:
        all_of = [pair for one in times[name] for pair in one]
        walls = sorted(wall for wall, _ in all_of)
        quarter = len(walls) // 4
        median = statistics.median(walls)
        cpu = statistics.median(cpu for _, cpu in all_of)
        mine = [statistics.median(wall for wall, _ in one) for one in times[name]]
        paired = statistics.median(a / b for a, b in zip(mine, middle))
        half = f"{walls[quarter]:.1f} … {walls[-1 - quarter]:.1f}"
        said = "" if statuses[name] == {0} else f"  (status {sorted(statuses[name])})"
        print(f"{median:9.1f} {half:>17} {cpu:9.1f} {median / whole:6.2f} {paired:6.2f}  {name}{said}")


main()

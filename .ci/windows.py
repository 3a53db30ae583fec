#!/usr/bin/env python3
"""Runs weigh.exe under Wine, and holds what it says against what Python says of the same tree.

Usage: windows.py PROGRAM, which starts it with the arguments that it is given.
"""

import glob
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
PATIENCE = 60


def run(*arguments, status=0, **more):
    shown = subprocess.run(
        [PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, **more
    )
    assert shown.returncode == status, (arguments, shown.returncode, shown.stderr)
    assert status == 0 or shown.stderr, (arguments, status, "and no word")
    return shown.stdout.decode()


def document(*arguments, **more):
    return json.loads(run("-j", *arguments, **more))


def windows(path):
    return "Z:" + path.replace("/", "\\")


def write(path, length):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"x" * length)


def weighed(tree, weight, each_once):
    """What everything in `tree` comes to: the oracle."""
    seen, total = set(), 0
    for top, _, files in os.walk(tree):
        for name in files:
            stat = os.stat(os.path.join(top, name))
            if each_once and (stat.st_dev, stat.st_ino) in seen:
                continue
            seen.add((stat.st_dev, stat.st_ino))
            total += weight(stat.st_size)
    return total


def nodes(node, way=()):
    yield (*way, node["name"]), node
    for child in node.get("children", []):
        yield from nodes(child, (*way, node["name"]))


def totals(tree):
    """1,000 files in 50 directories, some of them links to others, on 2 threads."""
    for i in range(1000):
        path = f"{tree}/d{i % 50}/f{i}"
        if i % 20 == 19:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.link(f"{tree}/d{(i - 1) % 50}/f{i - 1}", path)
        else:
            write(path, i * 7)
    measures = {
        "-s": lambda length: length,
        "--no-apparent-size": lambda length: -(-length // 4096) * 4096,
        "-f": lambda _: 1,
    }
    for flag, weight in measures.items():
        for links in None, "--exact-links", "-L":
            said = document(flag, "-T", "2", *filter(None, [links]), windows(tree))
            expected = weighed(tree, weight, each_once=links is not None)
            assert said["size"] == expected, (flag, links, said["size"], expected)
    # What has no links elsewhere, and so would be freed: 900 files, as each link has its file in another directory.
    top = document("-s", "--exact-links", windows(f"{tree}/d18"))
    said = top["size"] - top.get("shared", 0)
    stats = [os.stat(f"{tree}/d18/f{i}") for i in range(18, 1000, 50)]
    alone = sum(stat.st_size for stat in stats if stat.st_nlink == 1)
    assert said == alone, (said, alone)
    said = {way[1:]: node["size"] for way, node in nodes(document("-s", "-T", "2", windows(tree)))}
    for top, _, files in os.walk(tree):
        for name in files:
            path = os.path.join(top, name)
            way = tuple(os.path.relpath(path, tree).split("/"))
            assert said[way] == os.path.getsize(path), way
    assert len(said) == 1 + 50 + 1000
    shown = [run("-j", "-T", str(threads), windows(tree)) for threads in (1, 2, 8)]
    # Without what says when it was made.
    shown = {re.sub(r',"time":.*,"complete":', "", json) for json in shown}
    assert len(shown) == 1, "what is said depends on the number of threads"


def names(tree):
    """Names that Windows' own calls could not open, and paths longer than 260 characters."""
    strange = ["ümlaut", "日本", "em😀ji", "a b", "nul", "con.txt", "dot.", "blank ", "UPPER", "upper"]
    for name in strange:
        write(f"{tree}/{name}/{name}", 100)
    deep = tree + ("/" + "d" * 60) * 12
    write(deep + "/deepest", 777)
    said = document("-s", windows(tree))
    assert said["size"] == 777 + 100 * len(strange) and not said["errors"], said
    found = {way[1:] for way, _ in nodes(said)}
    assert all((name, name) in found for name in strange), found
    for spelled in windows(tree), "Z:" + tree, "\\\\?\\" + windows(tree), windows(tree) + "\\":
        assert document("-s", spelled)["size"] == said["size"], spelled
    assert document("-s", windows(deep))["size"] == 777
    assert document("-s", ".", cwd=tree)["size"] == said["size"]
    # A root in another, and one that is given twice.
    assert document("-s", windows(tree), windows(deep), "Z:" + tree)["size"] == said["size"]


def filters(tree):
    write(f"{tree}/a/b/one.log", 1)
    write(f"{tree}/a/b/two.txt", 2)
    write(f"{tree}/kept/four", 4)
    subprocess.run(["git", "init", "-q", tree], check=True)
    with open(f"{tree}/.gitignore", "w") as file:
        file.write("*.log\n")
    whole = weighed(tree, lambda length: length, each_once=False)
    root = windows(tree)
    for flags, size in (
        ([], whole),
        (["-X", windows(tree) + "\\a\\b"], whole - 3),
        (["-X", "a/b"], whole - 3),
        (["-X", "a\\b"], whole - 3),
        (["-X", "kept"], whole - 4),
        (["--exclude", "a/b"], whole - 3),
        (["-v", "a/b/one"], whole - 1),
        (["-e", r"\.txt$"], 2),
        (["--gitignore"], whole - 1),
        (["--only-ignored"], 1),
        (["-i"], 7),
        (["-d", "1"], whole),
    ):
        said = document("-s", *flags, root)["size"]
        assert said == size, (flags, said, size)
        # From a directory below the work tree's top, rules from above it hold too.
    assert document("--gitignore", "-s", windows(f"{tree}/a/b"))["size"] == 2


def scans(tree):
    write(f"{tree}/in/old", 50_000)
    write(f"{tree}/in/ünicode", 10)
    for file in "scan.weigh", "scan":
        saved = f"{os.path.dirname(tree)}/{file}"
        run("-s", "--save", windows(saved), windows(tree))
        walked, loaded = run("-s", windows(tree)), run("--from", windows(saved))
        assert walked == loaded, (walked, loaded)
        # In the place of what is there, and with no draft left behind.
        run("-s", "--save", windows(saved), windows(tree))
    write(f"{tree}/in/new", 70_000)
    os.unlink(f"{tree}/in/old")
    changes = run("diff", "-s", windows(saved), windows(tree))
    for said in "grew by 19.5Ki", "  gone", "  new", "+68.4Ki", "-48.8Ki":
        assert said in changes, (said, changes)
    left = sorted(os.listdir(os.path.dirname(tree)))
    assert not [name for name in left if "draft" in name], left
    run("-s", "--save", windows(saved), windows(tree))
    streamed = subprocess.run(
        [PROGRAM, "--from", "-"], input=open(saved, "rb").read(),
        capture_output=True, timeout=PATIENCE,
    )
    assert streamed.stdout.decode() == run("-s", windows(tree)), streamed.stderr


def picture(tree):
    for i in range(30):
        write(f"{tree}/directory {i}/with a name that is rather long for a line, {i}", 5000 * i)
    shown = run("-w", "80", windows(tree))
    widths = {len(line) for line in shown.splitlines()}
    assert widths == {80} and "█" in shown and "100%" in shown, shown
    colored = run("-w", "80", windows(tree), env={**os.environ, "CLICOLOR_FORCE": "1"})
    assert "\x1b[" in colored and "\x1b[" not in shown
    print(shown.splitlines()[-1])


def space(tree):
    """The room of a drive, as statvfs(3) has it. Others write to it meanwhile. Wine knows nothing of root's share."""
    drive = "Z:\\"
    flags = [flag for name in os.listdir("/") for flag in ("-X", name)]
    said = json.loads(run("df", "-j", "-d", "0", *flags, drive))["file_systems"]
    room = os.statvfs("/")
    assert [one["path"] for one in said] == [drive], said
    assert said[0]["size"] == room.f_blocks * room.f_frsize, (said, room)
    assert abs(said[0]["free"] - room.f_bavail * room.f_frsize) < 1 << 30, (said, room)
    assert "available of" in run("df", "-w", "80", *flags, drive)


def statuses(tree):
    write(f"{tree}/a", 5000)
    run(windows(tree))
    run(windows(tree) + "\\is not there", status=1)
    run("--no-such-flag", status=2)
    run("--source", "portable", windows(tree), status=2)
    run("-l", "--exact-links", windows(tree), status=2)
    # Owners have no numbers there.
    run("--owner", "0", windows(tree), status=2)
    run("--fail-over", "1k", windows(tree), status=3)
    run("--save", windows(tree), windows(tree), status=1)
    run("--from", windows(tree) + "\\a", status=2)


def listens(session):
    """Whether a process of `session` has the thread that waits for Ctrl-C."""
    for name in glob.glob("/proc/[0-9]*/task/*/comm"):
        try:
            with open(name) as comm, open(f"{os.path.dirname(name)}/stat") as stat:
                if comm.read() == "ctrl-c\n" and int(stat.read().rsplit(")")[1].split()[3]) == session:
                    return True
        except (FileNotFoundError, ProcessLookupError):
            pass
    return False


def interrupted(_):
    """Ctrl-C on a terminal, while what is to be loaded has not come to its end yet."""
    process, terminal = pty.fork()
    if process == 0:
        os.execv(PROGRAM, [PROGRAM, "--from", "-"])
    end, shown = time.monotonic() + PATIENCE, b""
    status, pressed = None, False
    while status is None and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:
                pass
        if not pressed and listens(process):
            os.write(terminal, b"\x03")
            pressed = True
        ended, how = os.waitpid(process, os.WNOHANG)
        status = os.waitstatus_to_exitcode(how) if ended else None
    if status is None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    os.close(terminal)
    assert pressed and status == 130, (pressed, status, shown)


def main():
    for part in totals, names, filters, scans, picture, space, statuses, interrupted:
        with tempfile.TemporaryDirectory() as place:
            part(f"{place}/tree")
        print(f"{part.__name__}: as it should be", flush=True)


main()

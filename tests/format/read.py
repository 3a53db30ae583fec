#!/usr/bin/env python3
"""Reads a .weigh file and prints it as JSON: its header, and beside it the nodes, as -j has them, with all that is
known of each. Written from docs/format.md alone, to
show that nothing is missing there: read.py FILE.weigh"""

import base64
import json
import struct
import sys

try:
    from compression import zstd  # Python 3.14

    unpack = zstd.decompress
except ImportError:
    import zstandard

    def unpack(frame):
        return zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)


MAGIC = b"\x89weigh\r\n"
LARGEST = 1 << 20
USUAL_TIME = 1704067200
FACTOR = 0x9E3779B97F4A7C15
WORD = (1 << 64) - 1
MEASURES = ["disk", "apparent", "files", "inodes"]


def check(holds, what):
    if not holds:
        sys.exit(f"read.py: {what}")


class Bytes:
    """Bytes that are read from front to back."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, length):
        check(length <= self.left(), "it ends too early")
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self):
        number = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                check(number < 1 << 64, "a number of more than 64 bits")
                return number
        sys.exit("read.py: a number of more than 10 bytes")

    def signed(self):
        number = self.number()
        return -(number + 1 >> 1) if number & 1 else number >> 1

    def near(self, other):
        return (other + self.signed()) % (1 << 64)

    def near_time(self, other):
        time = self.near(other)
        return time - (1 << 64) if time >= 1 << 63 else time

    def figures(self):
        disk = self.number()
        return [disk, self.near(disk), self.number(), self.number()]

    def record(self, is_directory):
        """A record. That it is a directory is known from where it stands."""
        head = self.number()
        node = {"name": self.take(head >> 2), "mode": self.number() ^ 0o100644}
        kind = {0o040000: "directory", 0o100000: "file", 0o120000: "symlink"}.get(node["mode"] & 0o170000, "other")
        node["kind"] = kind
        disk = self.number()
        length = self.near(disk)
        kept = head & 3
        if kept == 2:
            kept = self.number()
            check(not kept & ~55, "something that is not in a file")
        counts = [self.number(), self.number()] if kept & 32 else [int(kind == "file"), 1]
        node["all"] = [disk, length] + counts
        node["newest"] = self.near_time(USUAL_TIME) if kept & 4 else None
        node["frees"] = [disk - self.number(), disk - self.number(), self.number()] if kept & 16 else None
        node["inode"] = [self.number() for _ in range(4)] if kept & 1 else None
        node["details"] = self.details() if kept & 2 else None
        node["modified"] = node["newest"]
        if is_directory:
            node["entries"] = self.near(node["all"][3])
            node["shared"] = self.figures() if self.number() else [0, 0, 0, 0]
            self.own(node)
        if node["details"]:
            node["modified"] = node["details"][0]
        return node

    def own(self, node):
        own = self.number()
        check(own in (0, 1, 2, 6), "a directory's own figures of a kind that is not known")
        node["own"] = None
        if own == 1:
            node["own"] = [self.number(), 0, 0, 1]
        elif own:
            node["own"] = self.figures()
        node["modified"] = self.signed() if own == 6 else None

    def details(self):
        modified = self.signed()
        changed, born = self.near_time(modified), self.near_time(modified)
        owner, group = self.number(), self.number()
        return modified, changed, born, owner, group - 1 if group else None


def sections(data):
    """The kind, the place, the length and the content of each section, after a check of the end."""
    check(data.startswith(MAGIC), "not a .weigh file")
    at, order, found = len(MAGIC), "HDCI", []
    while data[at : at + 1] != b"E":
        check(at + 5 <= len(data), "it ends too early")
        kind, length = data[at : at + 1].decode("latin-1"), struct.unpack_from("<I", data, at + 1)[0]
        check(kind in order, f"a section {kind!r} where none can be")
        order = order[order.index(kind) :]
        content = unpack(data[at + 5 : at + 5 + length])
        check(len(content) <= LARGEST, "a section that is too large")
        found.append((kind, at, 5 + length, content))
        at += 5 + length
    index = [place for kind, place, _, _ in found if kind == "I"] or [at]
    check(data[at:] == b"E" + struct.pack("<Q", index[0]), "its end is damaged")
    return found


class Listings:
    """Reads listings from the contents of all sections of directories, in order."""

    def __init__(self, contents):
        self.contents, self.firsts = iter(contents), []
        self.here, self.number = Bytes(b""), 0

    def section(self):
        check(not self.here.left(), "a section goes on after the last listing")
        self.here = Bytes(next(self.contents))
        self.firsts.append(self.here.number())
        check(self.firsts[-1] == self.number, "a section begins with another directory")

    def entries(self):
        """The subdirectories of the next directory, each with the number of directories below it; and the others."""
        directories, leaves, is_last = [], [], False
        while not is_last:
            if not self.here.left():
                self.section()
            length, leaf_length = self.here.number(), self.here.number()
            is_last = length & 1
            piece = Bytes(self.here.take(length >> 1))
            while piece.left():
                directory = piece.record(True)
                directories.append((directory, piece.number()))
            piece = Bytes(self.here.take(leaf_length))
            while piece.left():
                leaves.append(piece.record(False))
        self.number += 1
        return directories, leaves


def mix(digest, *words):
    for word in words:
        product = (digest ^ word) * FACTOR
        digest = (product ^ product >> 64) & WORD
    return digest


def mix_figures(digest, figures):
    disk, length, files, inodes = figures
    return mix(digest, disk, length, (files << 32 & WORD) ^ inodes)


def mix_name(digest, name):
    words = [name[at : at + 8] for at in range(0, len(name) + 1, 8)]
    return mix(digest, *[int.from_bytes(word, "little") for word in words], len(name))


def digest_alone(record, leaves):
    """The digest of a directory without its subdirectories."""
    leaves = [mix_name(mix_figures(FACTOR, leaf["all"]), leaf["name"]) for leaf in leaves]
    digest = mix_figures(mix(FACTOR, sum(leaves) & WORD), record["all"])
    own = record["own"]
    return mix_name(mix_figures(mix(digest, 1), own) if own else mix(digest, 0), record["name"])


class Tree:
    """Makes the nodes of JSON."""

    def __init__(self, header):
        self.size = MEASURES.index(header["measure"])
        self.known = set(header.get("figures", []))
        self.device = self.mount = None

    def figures(self, node, whose, figures, usual):
        for measure, name in enumerate(MEASURES):
            if name in self.known and measure != self.size and figures[measure] != usual[measure]:
                node[whose + name] = figures[measure]

    def node(self, record, is_root=False):
        node = {"kind": record["kind"], "size": record["all"][self.size]}
        name = record["name"]
        if is_root and not name:
            name, node["kind"] = b"(total)", "total"
        check(name and b"\0" not in name, "a node without a name, or with a NUL in it")
        node["name"] = name.decode("utf-8", "replace")
        if node["name"].encode() != name:
            node["name_bytes"] = base64.b64encode(name).decode()
        is_directory = record["kind"] == "directory"
        usual = [0, 0, int(record["kind"] == "file"), 1]
        if is_directory:
            usual = [0, 0, 0, record["entries"]]
            node.update(entries=record["entries"], children=[])
            if record["shared"][self.size]:
                node["shared"] = record["shared"][self.size]
            self.figures(node, "shared_", record["shared"], [0, 0, 0, 0])
            if record["own"]:
                node["own"] = record["own"][self.size]
                self.figures(node, "own_", record["own"], [0, 0, 0, 1])
        self.figures(node, "", record["all"], usual)
        if record["frees"]:
            node["frees_least"], node["frees_most"], extents = record["frees"]
            if extents == (1 << 64) - 1:
                node["frees_exact"] = False
        if record["mode"] != {"directory": 0o40755, "file": 0o100644, "symlink": 0o120777}.get(record["kind"], 0):
            node["mode"] = record["mode"]
        self.inode(node, record, is_root)
        if record["modified"] is not None:
            node["modified"] = record["modified"]
        if is_directory and record["newest"] not in (None, record["modified"]):
            node["newest"] = record["newest"]
        if record["details"]:
            _, changed, born, node["owner"], group = record["details"]
            node.update({name: time for name, time in [("changed", changed), ("born", born)] if time})
            if group is not None:
                node["group"] = group
        return node

    def inode(self, node, record, is_root):
        if not record["inode"]:
            return
        mount, device, node["inode"], links = record["inode"]
        if device != self.device:
            node["device"] = device
        if mount != self.mount:
            node["mount"] = mount
        if links:
            node["links"] = max(0, links - 2)
        if is_root:
            self.device, self.mount = device, mount


def read(data):
    found = sections(data)
    header = json.loads(b"".join(content for kind, _, _, content in found if kind == "H"))
    check(header.pop("format") == 1, "another version of the format")
    count = header.pop("directories")
    blocks = [(place, length, content) for kind, place, length, content in found if kind == "D"]
    listings = Listings(content for _, _, content in blocks)
    digests = root(header, count, listings) if blocks else []
    saved = b"".join(content for kind, _, _, content in found if kind == "C")
    check(saved in (b"", struct.pack(f"<{count}Q", *digests)), "its digests are damaged")
    check(listings.number == count and not listings.here.left(), "there are more directories, or fewer")
    check_index(found, blocks, listings.firsts)
    return header


def root(header, count, listings):
    tree = Tree(header)
    listings.section()
    record = listings.here.record(True)
    below = listings.here.number()
    check(count == (below + 1 if record["kind"] == "directory" else 0), "the root has more directories, or fewer")
    header.update(tree.node(record, is_root=True))
    # The directories whose listings are to come, each with how many are below it; the next one last.
    ahead = [(header, record, count - 1)] if count else []
    digests, all_below = [], []
    while ahead:
        node, record, below = ahead.pop()
        directories, leaves = listings.entries()
        check(sum(1 + below for _, below in directories) == below, "more directories below one, or fewer")
        names = [record["name"] for record, _ in directories]
        check(names == sorted(names), "subdirectories that are not in order")
        digests.append(digest_alone(record, leaves))
        all_below.append(below)
        children = [(tree.node(record), record, below) for record, below in directories]
        node["children"] = [child for child, _, _ in children] + [tree.node(record) for record in leaves]
        ahead += reversed(children)
    # Subdirectories come after their parent, each followed by all that are below it.
    for number in reversed(range(count)):
        child = number + 1
        while child <= number + all_below[number]:
            digests[number] += digests[child]
            child += 1 + all_below[child]
        digests[number] = mix(digests[number] & WORD, 0)
    return digests


def check_index(found, blocks, firsts):
    index = Bytes(b"".join(content for kind, _, _, content in found if kind == "I"))
    before = 0
    for (_, length, _), first in zip(blocks, firsts, strict=True):
        check((index.number(), index.number()) == (length, first - before), "its index is damaged")
        before = first
    check(not index.left(), "its index is damaged")


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        json.dump(read(file.read()), sys.stdout)

"""Random histories of a containerd, for .ci/engines: images of one's own, tags, containers, snapshots, leases, in three
namespaces; removed again one by one. After each step, what weigh says is compared with ctr, du and statvfs.

containerd.py [HISTORIES [SEED]], in a directory of its own; `weigh` and `base` are in the environment."""
import gzip, hashlib, io, json, os, random, subprocess, sys, tarfile, time

histories = int(sys.argv[1]) if len(sys.argv) > 1 else 2
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
dice = random.Random(seed)
weigh, base = os.environ["weigh"], os.environ["base"]
place = os.path.abspath("containerd")
root, socket = place + "/root", os.path.abspath("containerd.sock")
SPACES = ["default", "k8s.io", "moby"]
# Nothing is removed in the background.
CONFIG = f"""version = 2
root = "{root}"
state = "{place}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "{socket}"
[ttrpc]
address = "{socket}.ttrpc"
[plugins."io.containerd.gc.v1.scheduler"]
mutation_threshold = 1000000
"""


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def ctr(space, *command):
    return run("ctr", "-a", socket, "-n", space, *command)


def lines(space, *command):
    return ctr(space, *command).split("\n")[:-1]


def table(space, *command):
    return [line.split() for line in lines(space, *command)[1:]]


def layer(name, size):
    if name == "base":
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.add(base, "/")
        return archive.getvalue()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        file = tarfile.TarInfo(name)
        file.size = size
        tar.addfile(file, io.BytesIO(dice.randbytes(size)))
    return archive.getvalue()


class Image:
    """An OCI archive of layers, by their names."""

    def __init__(self, layers, contents):
        self.blobs, descriptions = {}, []
        for content in (contents[name] for name in layers):
            packed = gzip.compress(content, 1, mtime=0)
            kind = "application/vnd.oci.image.layer.v1.tar+gzip"
            descriptions.append({"mediaType": kind, "digest": self.add(packed), "size": len(packed)})
        diffs = ["sha256:" + hashlib.sha256(contents[name]).hexdigest() for name in layers]
        config = {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": diffs},
                  "config": {"Cmd": ["/bin/sleep", "1000"], "Env": ["PASSWORD=secret"]}}
        config = json.dumps(config).encode()
        self.kind = "application/vnd.oci.image.manifest.v1+json"
        manifest = json.dumps({"schemaVersion": 2, "mediaType": self.kind, "layers": descriptions, "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json", "digest": self.add(config), "size": len(config)}})
        self.size, self.digest = len(manifest), self.add(manifest.encode())

    def add(self, content):
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return digest

    def write(self, path, name):
        index = {"schemaVersion": 2, "manifests": [{"mediaType": self.kind, "digest": self.digest, "size": self.size,
                 "annotations": {"io.containerd.image.name": name}}]}
        files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": json.dumps(index).encode()}
        files |= {"blobs/sha256/" + digest[7:]: content for digest, content in self.blobs.items()}
        with tarfile.open(path, "w") as tar:
            for name, content in files.items():
                file = tarfile.TarInfo(name)
                file.size = len(content)
                tar.addfile(file, io.BytesIO(content))


def images(space):
    """The names of each image, by what it refers to."""
    found = {}
    for name, _, digest, *_ in table(space, "images", "ls"):
        found.setdefault(digest, []).append(name)
    return found


def shown(space, names):
    names = sorted(names)
    return f"image {names[0]}{', …' if len(names) > 1 else ''} in {space}"


def said(container, space):
    """What a container is called, by its labels."""
    info = json.loads(ctr(space, "containers", "info", container))
    labels = info.get("Labels") or {}
    pod = labels.get("io.kubernetes.pod.name")
    if pod:
        container = f"{labels['io.kubernetes.container.name']} of pod {labels['io.kubernetes.pod.namespace']}/{pod}"
    state = ", mounted" if container_runs(space, info["ID"]) else ""
    return f"container {container[:12] if len(container) == 64 else container} in {space}{state}"


def container_runs(space, container):
    return container in [task[0] for task in table(space, "tasks", "ls")]


def listed(space):
    """What ctr lists."""
    containers = [said(id, space) for id in lines(space, "containers", "ls", "-q")]
    leases = [f"lease {lease[0]} in {space}" for lease in table(space, "leases", "ls")]
    snapshots = [snapshot[0] for snapshot in table(space, "snapshots", "ls")]
    named = [shown(space, names) for names in images(space).values()]
    return named, containers, leases, snapshots, lines(space, "content", "ls", "-q")


def check():
    """Names against ctr, sizes against du."""
    while True:
        before = [listed(space) for space in SPACES]
        found = look()
        # containerd may still have been at work.
        if before == [listed(space) for space in SPACES]:
            return compare(*found, [sum(lists, []) for lists in zip(*before)])


def look():
    tree = json.loads(run(weigh, "-j", "-q", root))
    size = int(run("du", "-sx", "--block-size=1", root).split()[0])
    return tree, size, json.loads(run(weigh, "-j", "-q", "--by", "image", root))


def compare(tree, size, document, lists):
    assert tree["size"] == size, (tree["size"], size)
    notes, sizes = {}, {}

    def walk(node, path):
        for child in node.get("children", []):
            at = path + [child["name"]]
            if "note" in child:
                notes["/".join(at)], sizes["/".join(at)] = child["note"], child["size"]
            walk(child, at)
    walk(tree, [])
    assert "secret" not in str(notes)
    by_user = {group["name"]: group for group in document["children"]}
    assert document["size"] == tree["size"]
    for kind, expected in zip(["image", "container", "lease"], lists):
        found = {name for name in by_user if name.startswith(kind + " ")}
        assert found == set(expected), (found, expected)
    noted = [path for path in notes if "/snapshots/" in path]
    assert len(noted) == len(lists[3]), (noted, lists[3])
    noted, blobs = {path.rsplit("/", 1)[1] for path in notes if "/blobs/" in path}, {one[7:] for one in lists[4]}
    assert noted == blobs, (noted - blobs, blobs - noted)
    # Every byte is in one group, or shared by some.
    rest = by_user["(everything else)"]["size"]
    assert sum(sizes.values()) + rest == tree["size"], (sizes, rest, tree["size"])
    own = sum(group["size"] - group.get("shared", 0) for group in by_user.values())
    assert own <= tree["size"]
    return by_user


def used():
    info = os.statvfs(place)
    return (info.f_blocks - info.f_bfree) * info.f_frsize


def frees(name, said, remove):
    """What `remove` frees is what was said, but for pages of the databases."""
    before = used()
    remove()
    freed = before - used()
    assert abs(freed - said) <= max(65536, said // 100), f"{name}: freed {freed}, and not {said}"
    return freed


def clear(space="default"):
    """Has containerd remove what nothing refers to."""
    lease = ctr(space, "leases", "create", "--id", "clear").strip()
    ctr(space, "leases", "delete", "--sync", lease)


def history(number, images_made):
    steps, freed, names = dice.randint(6, 14), 0, iter(range(1000))
    for _ in range(steps):
        space = dice.choice(SPACES)
        there, step = images(space), dice.randrange(9)
        tags = sorted(name for some in there.values() for name in some)
        unpacked = {snapshot[0] for snapshot in table(space, "snapshots", "ls") if snapshot[-1] == "Committed"}
        if step < 3 or not tags:
            name = f"docker.io/library/i{next(names)}:{number}"
            dice.choice(images_made).write("image.tar", name)
            ctr(space, "images", "import", *(["--no-unpack"] if dice.random() < 0.2 else []), "image.tar")
        elif step == 3:
            ctr(space, "images", "tag", dice.choice(tags), f"example.org/t{next(names)}:{number}")
        elif step in (4, 5):
            id = "%064x" % dice.getrandbits(256) if space != "default" else f"c{next(names)}"
            labels = {"k8s.io": ["io.kubernetes.pod.name=p-0", f"io.kubernetes.pod.namespace=n{next(names)}",
                                 "io.kubernetes.container.name=main"],
                      "moby": ["com.docker/engine.bundle.path=/run/docker/x"], "default": []}[space]
            labels = [part for label in labels for part in ("--label", label)]
            if step == 4:
                ctr(space, "containers", "create", *labels, dice.choice(tags), id)
            else:
                ctr(space, "run", "-d", *labels, dice.choice(tags), id, "/bin/sleep", "1000")
                ctr(space, "tasks", "exec", "--exec-id", "x", id, "/bin/dd", "if=/dev/zero", "of=/written", "bs=1000",
                    f"count={dice.randint(1, 300)}")
        elif step == 6 and unpacked:
            name = f"s{next(names)}"
            ctr(space, "snapshots", "prepare", name, dice.choice(sorted(unpacked)))
            if dice.random() < 0.5:
                # Then nothing keeps it.
                ctr(space, "snapshots", "label", name, "containerd.io/gc.root=")
        elif step == 7:
            ctr(space, "leases", "create", "--id", f"l{next(names)}")
        elif step == 8:
            ctr(space, "images", "rm", dice.choice(tags))
        check()
    # What nothing refers to; then each image, each container and the rest, in any order.
    unused = check().get("(nothing refers to it)", {"frees_most": 0})["frees_most"]
    freed += frees("nothing refers to it", unused, clear)
    left = [(space, "image", digest) for space in SPACES for digest in images(space)]
    left += [(space, "container", id) for space in SPACES for id in lines(space, "containers", "ls", "-q")]
    left += [(space, "lease", lease[0]) for space in SPACES for lease in table(space, "leases", "ls")]
    dice.shuffle(left)
    for space, kind, one in left:
        if kind == "image":
            some = images(space)[one]
            name = shown(space, some)
            what = check()[name]["frees_most"]
            freed += frees(name, what, lambda: ctr(space, "images", "rm", "--sync", *some))
        elif kind == "lease":
            ctr(space, "leases", "delete", "--sync", one)
        else:
            if container_runs(space, one):
                ctr(space, "tasks", "rm", "-f", one)
            name = said(one, space)
            what = check()[name]["frees_most"]

            def remove():
                ctr(space, "containers", "rm", one)
                clear(space)
            freed += frees(name, what, remove)
    for space in SPACES:
        for name in [one[0] for one in table(space, "snapshots", "ls") if not one[0].startswith("sha256:")]:
            ctr(space, "snapshots", "rm", name)
    clear()
    by_user = check()
    assert list(by_user) == ["(everything else)"], by_user.keys()
    return steps + len(left), freed


with open("containerd.toml", "w") as config:
    config.write(CONFIG)
server = subprocess.Popen(["containerd", "--config", "containerd.toml"], stderr=open("containerd.log", "w"))
try:
    for _ in range(100):
        if subprocess.run(["ctr", "-a", socket, "version"], capture_output=True).returncode == 0:
            break
        time.sleep(0.2)
    contents = {name: layer(name, dice.randint(50_000, 900_000)) for name in ["base", *"abcdef"]}
    made = [Image(["base", *dice.sample("abcdef", dice.randint(0, 4))], contents) for _ in range(8)]
    steps = freed = 0
    for number in range(histories):
        more = history(number, made)
        steps, freed = steps + more[0], freed + more[1]
    version = run("containerd", "--version").split()[2]
    print(f"containerd {version} agrees: {histories} histories of {steps} steps, {freed} bytes freed")
finally:
    server.terminate()
    server.wait()

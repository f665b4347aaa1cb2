"""Hostile code in a worker: it stands where Tesseract would, and tells what it could do as words."""

import hashlib
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from conftest import WORKER_OPTIONS
from proving.pages import OPTIONS
from visualproof_server.model import codec
from visualproof_server.model.document import Page
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.tasks import Describe, ReadPage
from visualproof_server.storing.disk import DiskStore
from visualproof_server.workers import bubblewrap
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

pytestmark = pytest.mark.slow

MINE, OTHER = "ab" * 16, "cd" * 16
SCAN = Path(__file__).parents[2] / "examples" / "invoice" / "scan.jpg"
SHA256 = hashlib.sha256(SCAN.read_bytes()).hexdigest()
# Each line of `tries` is a name and a Python expression that is True if the deed was done.
HOSTILE = """#!{python}
import ctypes, os, socket, sys
libc = ctypes.CDLL(None)
def call(number, *arguments):
    done = libc.syscall(number, *(a if isinstance(a, bytes) else ctypes.c_long(a) for a in arguments))
    if done == 0 and number in (56, 435):
        os._exit(0)
    return done >= 0
def tried_in_a_child(deed):
    # What it would change must not change this program.
    child = os.fork()
    if child == 0:
        os._exit(0 if deed() else 1)
    return os.waitpid(child, 0)[1] == 0
if "--version" in sys.argv: print("tesseract 5.3.0"); raise SystemExit
if "--list-langs" in sys.argv: print("List of available languages (1):\\neng"); raise SystemExit
def can(deed):
    try:
        return bool(deed())
    except (OSError, PermissionError):
        return False
found = {{
{tries}
}}
# `tesseract images.txt base ... tsv` writes base.tsv.
rows = ["level page_num block_num par_num line_num word_num left top width height conf text".replace(" ", "\\t")]
for n, (name, deed) in enumerate(found.items()):
    word = name + ("=YES" if can(deed) else "=no")
    rows.append("\\t".join(["5", "1", "1", "1", str(n + 1), "1", "60", str(60 + 60 * n), "300", "40", "96", word]))
base = sys.argv[2]
open(base + ".tsv", "w").write("\\n".join(rows) + "\\n")
"""


# System calls of x86_64, with arguments that work without privileges where they are allowed.
CALLS = {
    "userns": "56, 0x10000011, 0, 0, 0, 0",
    "userns-mounts": "56, 0x10020011, 0, 0, 0, 0",
    "userns-net": "56, 0x50000011, 0, 0, 0, 0",
    "userns-pids": "56, 0x30000011, 0, 0, 0, 0",
    "clone3": "435, (0x10000000).to_bytes(8, 'little') + bytes(24) + (17).to_bytes(8, 'little') + bytes(48), 88",
    "clone3-plain": "435, bytes(32) + (17).to_bytes(8, 'little') + bytes(48), 88",
    "unshare": "272, 0x10000000",
    "fsopen": "430, b'tmpfs', 0",
    "open-tree": "428, -100, b'/usr', 1",
    "shmget": "29, 0, 4096, 0o1600",
    "semget": "64, 0, 1, 0o1600",
    "msgget": "68, 0, 0o1600",
    "mq": "240, b'hostile', 0o102, 0o600, 0",
    "memfd": "319, b'x', 0",
    "memfd-secret": "447, 0",
    "execveat": "322, -100, b'/usr/bin/true', 0, 0, 0",
    "pidfd": f"434, {os.getppid()}, 0",
    "io-uring": "425, 1, bytes(120)",
}


def tries(root: Path, port: int) -> dict[str, str]:
    return {
        "passwd": "lambda: open('/etc/passwd').read()",
        "hosts": "lambda: os.listdir('/home') or os.listdir('/root')",
        "store": f"lambda: os.listdir({str(root / 'documents')!r})",
        "other": f"lambda: open({str(root / 'documents' / OTHER / 'source')!r}, 'rb').read(1)",
        "views": f"lambda: os.listdir({str(root / 'views')!r})",
        "scratches": f"lambda: os.listdir({str(root / 'scratch')!r})",
        "outside": f"lambda: open({str(root / 'hacked')!r}, 'w').write('x')",
        "socket": f"lambda: socket.create_connection(('127.0.0.1', {port}), 2)",
        "unix": "lambda: socket.socket(socket.AF_UNIX)",
        "kill": f"lambda: os.kill({os.getpid()}, 0) is None",
        "environ": f"lambda: open('/proc/{os.getpid()}/environ', 'rb').read()",
        "key": "lambda: os.environ.get('AWS_SECRET_ACCESS_KEY')",
        "source": (
            f"lambda: open(os.path.join({str(root / 'views')!r},"
            f" os.path.basename(os.environ['TMPDIR']), '{MINE}', 'source'), 'ab')"
        ),
        **{
            name: f"lambda: tried_in_a_child(lambda: call({said}))"
            for name, said in (CALLS if platform.machine() == "x86_64" else {}).items()
        },
        "mine": "lambda: open(os.path.join(os.environ['TMPDIR'], 'own'), 'w').write('x')",
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store = DiskStore(tmp_path / "documents")
    for name in (MINE, OTHER):
        store.put(name, "source", SCAN.read_bytes())
    return tmp_path


def words_of(root: Path, monkeypatch: pytest.MonkeyPatch, sandbox: str) -> dict[str, str]:
    """What the hostile program did, by name."""
    folder = root / "bin"
    folder.mkdir()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        lines = [f"    {k!r}: {v}," for k, v in tries(root, listening.getsockname()[1]).items()]
        body = HOSTILE.format(python=sys.executable, tries="\n".join(lines))
        (folder / "tesseract").write_text(body)
        (folder / "tesseract").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of the store")
        settings = WorkerSettings(
            str(root / "views"), str(root / "scratch"), 4096, 500, WORKER_OPTIONS, sandbox
        )
        pool = WorkerPool(1, settings, DiskStore(root / "documents"))
        try:
            page = pool.submit(ReadPage(MINE, SHA256, 1, OPTIONS)).result(60).page
        finally:
            pool.close()
    words = [w.text for w in codec.loads(Page, page).words]
    return dict(w.split("=") for w in words)


@pytest.mark.parametrize("enclosed", [True, False])
def test_hostile_code_finds_all_doors_closed(
    root: Path, monkeypatch: pytest.MonkeyPatch, enclosed: bool
) -> None:
    """With bubblewrap, where it works, and without."""
    if not enclosed:
        monkeypatch.setattr(bubblewrap, "_bubblewrap", lambda: ())
    found = words_of(root, monkeypatch, "strict")
    assert found.pop("mine") == "YES"
    assert set(found) == set(tries(root, 0)) - {"mine"}
    assert {name for name, done in found.items() if done != "no"} == set()
    assert not (root / "hacked").exists()


def test_without_the_sandbox_it_could(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    found = words_of(root, monkeypatch, "off")
    assert {
        found[n] for n in ("passwd", "store", "other", "outside", "socket", "kill", "source")
    } == {"YES"}
    # What this kernel lets an ordinary program do.
    if platform.machine() == "x86_64":
        assert {found[n] for n in ("clone3-plain", "shmget", "semget", "memfd")} == {"YES"}


def test_strict_refuses_to_start_without(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import ctypes, visualproof_server.worker.confinement as s\n"
        "def none(*a): raise s.Unavailable('x')\n"
        "s._landlock = none\n"
        "from pathlib import Path\n"
        "print(s.confine(Path('.'), Path('.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['no_new_privs', 'seccomp']"
    monkeypatch.setenv("PYTHONPATH", str(patched(root)))
    settings = WorkerSettings(
        str(root / "views"), str(root / "scratch"), 4096, 500, WORKER_OPTIONS, "strict"
    )
    pool = WorkerPool(1, settings, DiskStore(root / "documents"))
    try:
        with pytest.raises(VisualProofError, match="cannot start"):
            pool.submit(Describe()).result(60)
    finally:
        pool.close()


def test_bubblewrap_encloses_workers_where_it_works(root: Path) -> None:
    tried = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    try:
        works = subprocess.run(tried, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        works = False
    pool = WorkerPool(
        1, WorkerSettings(str(root / "views"), str(root / "scratch"), 4096, 500, WORKER_OPTIONS),
        DiskStore(root / "documents"),
    )  # fmt: skip
    try:
        layers = pool.submit(Describe()).result(60).sandbox
        assert ("bubblewrap" in layers) is works
        if works:
            (outer,) = (p for p in psutil.Process().children() if p.name() == "bwrap")
            (worker,) = outer.children()
            for space in ("net", "pid", "ipc", "mnt"):
                theirs, ours = (
                    Path(f"/proc/{p}/ns/{space}").readlink() for p in (worker.pid, "self")
                )
                assert theirs != ours
    finally:
        pool.close()


def patched(root: Path) -> Path:
    """A folder whose sitecustomize takes landlock away, as an old kernel would."""
    folder = root / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import visualproof_server.worker.confinement as s\n"
        "def none(*a):\n    raise s.Unavailable('landlock')\n"
        "s._landlock = none\n"
    )
    return folder

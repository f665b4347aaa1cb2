"""Mixed traffic from eight clients while something breaks every second; then P1 to P8 must hold.

    python bench/chaos.py [--seconds 60] [--seed 1]

Faults: kill -9 of a worker, of a program that it runs, of the server (which is started again on
the same data), calls cancelled in the middle, hostile files, a disk that stands still or is full for
seconds, stored files that are torn or have a flipped byte, frozen workers, uploads that stand still, a
clock that jumps by a day. Prints JSON with what was done and
every violation; exits 1 if there is any.
"""

import argparse
import hashlib
import io
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc
from PIL import Image
from visualproof import CallError, Client, DocumentFailed, Unreachable
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof.v1 import visual_proof_service_pb2_grpc as stubs

HERE = Path(__file__).parent
SCAN = HERE.parent / "examples" / "invoice" / "scan.jpg"
ANSWER = (HERE.parent / "examples" / "invoice" / "answer.json").read_bytes()
CANARY = "CANARY-CHAOS-71"
DEADLINE_S = 40.0
sys.path.insert(0, str(HERE.parent / "tests"))
from documents.bombs import BOMBS  # noqa: E402

# Found by the server's Python at its start: its disk and its clock do as two files say.
SHIM = """
import os, pathlib, time
here, sync, clock = pathlib.Path(__file__).parent, os.fsync, time.time
def said(name):
    try:
        return float((here / name).read_text())
    except (OSError, ValueError):
        return 0.0
def fsync(handle):
    time.sleep(said("stall"))
    if said("full"):
        raise OSError(28, "No space left on device")
    sync(handle)
os.fsync = fsync
time.time = lambda: clock() + said("jump")
"""


def small_scan(number: int) -> bytes:
    """The project's scan at a quarter of its size, with a pixel of its own."""
    with Image.open(SCAN) as opened:
        image = opened.convert("L").resize((620, 877))
    image.putpixel((number % 600, number // 600), 0)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class Chaos:
    """One run: the server, what clients saw, and what is wrong."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        self.target = f"127.0.0.1:{self.port}"
        self.done: Counter[str] = Counter()
        self.violations: list[str] = []
        self.blocks: dict[str, str] = {}
        self.uploaded: set[str] = set()
        self.damaged: set[str] = set()
        self.lock = threading.Lock()
        self.restarting = threading.Event()
        (folder / "shim").mkdir()
        (folder / "shim" / "sitecustomize.py").write_text(SHIM)
        self.process = self.start()

    def start(self) -> "subprocess.Popen[bytes]":
        log = (self.folder / "log.jsonl").open("ab")
        process = subprocess.Popen(
            [sys.executable, "-m", "visualproof_server", "--listen", self.target,
             "--data-dir", str(self.folder / "data"), "--engine", "tesseract", "--workers", "2",
             "--page-timeout-s", "15", "--raster-timeout-s", "4", "--queue-size", "64",
             "--readiness-s", "5", "--upload-idle-s", "4"],
            stdout=subprocess.DEVNULL, stderr=log,
            env=os.environ | {"PYTHONPATH": str(self.folder / "shim")},
        )  # fmt: skip
        log.close()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                with Client(self.target, timeout=2) as client:
                    client.info()
                return process
            except CallError:
                time.sleep(0.1)
        raise SystemExit("the server did not come up")

    def wrong(self, what: str) -> None:
        with self.lock:
            self.violations.append(what)

    def call(self, name: str, work: Callable[..., Any], *args: object) -> Any:
        """Runs a call; P2: it ends in time, with a typed status."""
        started = time.monotonic()
        try:
            result = work(*args)
            code = "OK"
        except (CallError, DocumentFailed) as error:
            result, code = None, error.code or type(error).__name__
            if isinstance(error, Unreachable) and not self.restarting.is_set():
                code = "UNREACHABLE"
        except grpc.RpcError as error:
            result, code = None, f"raw {error.code().name}"
        except Exception as error:
            result, code = None, "untyped"
            self.wrong(f"P2: {name} raised {type(error).__name__}: {error}")
        took = time.monotonic() - started
        if took > DEADLINE_S * 4 + 2:
            self.wrong(f"P2: {name} took {took:.0f} s")
        with self.lock:
            self.done[f"{name} {code}"] += 1
        return result

    def traffic(self, number: int, until: float) -> None:
        rng = random.Random(self.random.random())
        while time.monotonic() < until:
            with Client(self.target, timeout=DEADLINE_S) as client:
                what = rng.random()
                if what < 0.15:
                    self.call(
                        "bomb", lambda: client.ingest(rng.choice(BOMBS)(), timeout=DEADLINE_S)
                    )
                elif what < 0.3:
                    self.cancelled(rng)
                else:
                    self.document(client, rng)

    def document(self, client: Client, rng: random.Random) -> None:
        content = small_scan(rng.randrange(40))
        made = self.call(
            "ingest", lambda: client.ingest(content, file_name=CANARY, timeout=DEADLINE_S)
        )
        if made is None:
            return
        name = made.document_id
        with self.lock:
            self.uploaded.add(name)
        pages = self.call("pages", lambda: list(client.pages(name)))
        if pages is not None:
            state = self.call("get", client.get, name)
            if state is not None and len(pages) != state.page_count:
                self.wrong(f"P4: {name} has {state.page_count} pages and {len(pages)} came")
            failed = [p.failure.code for p in pages if p.failure.code]
            if not failed:
                self.same_blocks(client, name)
        self.call("verify", lambda: client.verify(name, ANSWER))
        if rng.random() < 0.3:
            target = self.folder / f"{threading.get_ident()}.zip"
            self.call("export", lambda: client.export(name, ANSWER, to=target))
        if rng.random() < 0.2:
            self.call("delete", client.delete, name)

    def same_blocks(self, client: Client, name: str) -> None:
        """P6: an id stands for the same blocks, whoever reads them and when."""
        blocks = self.call("blocks", lambda: list(client.blocks(name)))
        if blocks is None:
            return
        digest = hashlib.sha256(
            b"".join(b.SerializeToString(deterministic=True) for b in blocks)
        ).hexdigest()
        with self.lock:
            if self.blocks.setdefault(name, digest) != digest:
                self.violations.append(f"P6: {name} has other blocks than before")

    def cancelled(self, rng: random.Random) -> None:
        """A call broken off at a random moment."""
        with grpc.insecure_channel(self.target) as channel:
            stub = stubs.VisualProofServiceStub(channel)
            known = rng.choice(sorted(self.uploaded) or ["0" * 32])
            content = small_scan(rng.randrange(40))

            def upload() -> Iterator[pb.UploadDocumentRequest]:
                yield pb.UploadDocumentRequest(header=pb.UploadHeader())
                for at in range(0, len(content), 10_000):
                    yield pb.UploadDocumentRequest(content=content[at : at + 10_000])
                    time.sleep(0.01)

            verify = pb.VerifyAnswerRequest(document_id=known, answer_json=ANSWER.decode())
            begin: list[Callable[[], Any]] = [
                lambda: stub.UploadDocument.future(upload()),
                lambda: stub.VerifyAnswer.future(verify),
                lambda: stub.ExportEvidence(pb.ExportEvidenceRequest(answer=verify)),
                lambda: stub.WatchDocument(pb.WatchDocumentRequest(document_id=known)),
            ]
            call = rng.choice(begin)()
            time.sleep(rng.random() * 0.3)
            call.cancel()
        with self.lock:
            self.done["cancelled"] += 1

    def faults(self, until: float) -> None:
        """One a second."""
        last_kill = time.monotonic()
        while time.monotonic() < until - 8:
            time.sleep(1.0)
            try:
                children = psutil.Process(self.process.pid).children(recursive=True)
            except psutil.Error:
                children = []
            if time.monotonic() - last_kill > 12 and self.random.random() < 0.3:
                last_kill = time.monotonic()
                self.restarting.set()
                self.process.kill()
                self.process.wait()
                self.gone(children)
                self.process = self.start()
                self.restarting.clear()
                self.done["killed server"] += 1
            elif self.random.random() < 0.25:
                self.disturb()
            elif self.random.random() < 0.15:
                self.damage()
            elif self.random.random() < 0.15:
                threading.Thread(target=self.idle_uploads, daemon=True).start()
            elif children and self.random.random() < 0.2:
                self.freeze(children)
            elif children:
                victim = self.random.choice(children)
                try:
                    self.done[f"killed {victim.name()[:12]}"] += 1
                    os.kill(victim.pid, signal.SIGKILL)
                except (psutil.Error, ProcessLookupError):
                    continue

    def disturb(self) -> None:
        """A disk that stands still, or a clock that is a day ahead, for a second or two."""
        name, value = self.random.choice(
            [("stall", 1.5), ("full", 1.0), ("jump", 86_400.0), ("jump", -86_400.0)]
        )
        (self.folder / "shim" / name).write_text(str(value))
        time.sleep(self.random.random() * 2)
        (self.folder / "shim" / name).unlink()
        self.done[name] += 1

    def damage(self) -> None:
        """A stored file with a flipped byte, or torn; what comes of it is found, and never served."""
        files = [p for p in (self.folder / "data" / "documents").glob("*/*") if p.is_file()]
        if not files:
            return
        file = self.random.choice(files)
        try:
            whole = file.read_bytes()
            at = self.random.randrange(len(whole) or 1)
            torn = self.random.random() < 0.3
            file.write_bytes(
                whole[:at] if torn else whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
            )
        except (OSError, IndexError):
            return
        with self.lock:
            self.damaged.add(file.parent.name)
            self.done["torn" if torn else "flipped"] += 1

    def freeze(self, children: list[psutil.Process]) -> None:
        """A worker that stands still: its task ends in time all the same, and it is replaced."""
        try:
            victim = self.random.choice([c for c in children if "python" in c.name()])
            victim.suspend()
            self.done["frozen"] += 1
        except (psutil.Error, IndexError):
            return

    def idle_uploads(self) -> None:
        """More uploads than are taken at once, that bring nothing more."""
        over = threading.Event()

        def standing() -> Iterator[pb.UploadDocumentRequest]:
            yield pb.UploadDocumentRequest(header=pb.UploadHeader(), content=b"%PDF-")
            over.wait(6)

        with grpc.insecure_channel(self.target) as channel:
            stub = stubs.VisualProofServiceStub(channel)
            calls = [stub.UploadDocument.future(standing()) for _ in range(40)]
            over.wait(5)
            for call in calls:
                call.cancel()
        with self.lock:
            self.done["idle uploads"] += 1

    def gone(self, children: list[psutil.Process]) -> None:
        """P5: what a killed server had started dies with it."""
        _, alive = psutil.wait_procs(children, timeout=15)
        alive = [c for c in alive if c.is_running() and c.status() != psutil.STATUS_ZOMBIE]
        if alive:
            self.wrong(f"P5: {[c.name() for c in alive]} outlived the server")

    def end(self) -> None:
        """Waits until all is quiet, then looks at what is left."""
        with Client(self.target, timeout=DEADLINE_S) as client:
            for name in sorted(self.uploaded):
                try:
                    *_, last = client.watch(name, timeout=120)
                    if last.state == 3 and last.read_page_count != last.page_count:
                        self.wrong(f"P8: {name} is READY with pages missing")
                except DocumentFailed:
                    continue
                except CallError as error:
                    found = error.code == "DOCUMENT_DAMAGED" and name in self.damaged
                    if error.code != "DOCUMENT_NOT_FOUND" and not found:
                        self.wrong(f"P8: {name} ended with {error.code}")
            fresh = client.ingest(SCAN, timeout=120)
            report = client.verify(fresh, ANSWER)
            if report["/vendor"].status.name != "VERIFIED":
                self.wrong("P1: the next good call does not work")
            with grpc.insecure_channel(self.target) as channel:
                health = health_pb2_grpc.HealthStub(channel)
                started = time.monotonic()
                health.Check(health_pb2.HealthCheckRequest(), timeout=5)
                if time.monotonic() - started > 1:
                    self.wrong("P1: health took more than a second")
        data = self.folder / "data"
        end = time.monotonic() + 30
        left = ["?"]
        while left and time.monotonic() < end:
            left = [
                str(p.relative_to(data))
                for name in ("views", "scratch", "incoming", "deleting")
                for p in (data / name).rglob("*")
                if p.is_file()
            ] + [str(p.relative_to(data)) for p in data.rglob(".tmp-*")]
            time.sleep(0.2)
        if left:
            self.wrong(f"P5: left behind: {left[:5]}")
        running = psutil.Process(self.process.pid).children(recursive=True)
        odd = [c.name() for c in running if "tesseract" in c.name() or "pdftoppm" in c.name()]
        if odd:
            self.wrong(f"P5: still running: {odd}")
        self.process.terminate()
        self.process.wait(timeout=60)
        self.gone(running)
        if CANARY in (self.folder / "log.jsonl").read_text(errors="replace"):
            self.wrong("P7: text reached the log")


def run(seconds: float, seed: int) -> Chaos:
    with tempfile.TemporaryDirectory() as name:
        chaos = Chaos(Path(name), seed)
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(9) as threads:
            jobs = [threads.submit(chaos.traffic, n, until) for n in range(8)]
            jobs.append(threads.submit(chaos.faults, until))
            for job in jobs:
                job.result()
        chaos.end()
        return chaos


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chaos = run(args.seconds, args.seed)
    print(json.dumps({"seed": args.seed, "done": dict(sorted(chaos.done.items())),
                      "violations": chaos.violations}, indent=1))  # fmt: skip
    sys.exit(1 if chaos.violations else 0)


if __name__ == "__main__":
    main()

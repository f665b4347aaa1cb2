"""The service under load: fairness between tenants, scaling over workers, soak.

    python bench/service.py [--calls 25] [--pages 300] [--cancels 5000] [--watchers 500] [--small 2000]

fairness: p95 of ingest and verify of a small scan by one tenant, alone and while another floods.
scaling: a PDF of --pages pages by OCR on one worker, on two, and on two of a Dask cluster.
soak: --cancels calls broken off, --watchers streams held open, --small pages read; health while
that goes on, and memory of the server process before and after. 0 leaves a part out. Prints JSON.
"""

import argparse
import hashlib
import io
import itertools
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc
from PIL import Image, ImageDraw, ImageFont
from serving import cluster, serving
from visualproof import Client, ServerBusy
from visualproof.v1 import visual_proof_service_pb2 as pb
from visualproof.v1 import visual_proof_service_pb2_grpc as stubs

EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
from make_documents import pdf, report_lines  # noqa: E402

_number = iter(range(10**9))


def note() -> bytes:
    """A few clean lines, with a number of their own."""
    image = Image.new("L", (900, 220), 255)
    lines = f"Delivery note {next(_number)}\nReceived in good order\nTotal 1,250.00 EUR"
    ImageDraw.Draw(image).text((40, 40), lines, 0, ImageFont.load_default(36))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def scan(size: tuple[int, int] = (620, 877)) -> bytes:
    """The project's scan, small, with a pixel of its own, so that nothing is known already."""
    number = next(_number)
    with Image.open(EXAMPLES / "invoice" / "scan.jpg") as opened:
        image = opened.convert("L").resize(size)
    for bit in range(20):
        image.putpixel((bit, 0), 255 * (number >> bit & 1))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def p95(values: list[float]) -> float:
    return round(statistics.quantiles(values, n=20)[-1], 2)


def fairness(calls: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        tokens = Path(name) / "tokens"
        tokens.write_text(
            "".join(f"{t} {hashlib.sha256(t.encode()).hexdigest()}\n" for t in ("one", "flood"))
        )
        flags = ("--tokens-file", str(tokens), "--engine", "tesseract", "--queue-size", "32")
        with serving(*flags) as (target, _), Client(target, token="one") as client:

            def mine() -> float:
                started = time.perf_counter()
                document = client.ingest(scan())
                client.verify(document, {"total": "16,020.00"})
                return time.perf_counter() - started

            mine()
            alone = [mine() for _ in range(calls)]
            over = threading.Event()
            # Told apart by what follows the image: the flood costs the server, not this process.
            whole = scan()
            files = (whole + n.to_bytes(4, "big") for n in itertools.count(1))

            def flood() -> None:
                with Client(target, token="flood") as other:
                    while not over.is_set():
                        try:
                            document = other.upload(next(files))
                            if other.get(document).state == 3:
                                other.verify(document, {"total": "16,020.00"})
                        except ServerBusy:
                            time.sleep(0.05)

            with ThreadPoolExecutor(8) as threads:
                for _ in range(8):
                    threads.submit(flood)
                time.sleep(5)
                flooded = [mine() for _ in range(calls)]
                over.set()
    return {
        "p95_alone_s": p95(alone), "p95_flooded_s": p95(flooded),
        "ratio": round(p95(flooded) / p95(alone), 2),
    }  # fmt: skip


def scaling(pages: int) -> dict[str, float]:
    content = pdf([report_lines(n) for n in range(1, pages + 1)])

    def seconds(*flags: str) -> float:
        with serving("--engine", "tesseract", *flags) as (target, _), Client(target) as client:
            # Workers start with their first task.
            client.ingest(content, dpi=72, last_page=4)
            started = time.perf_counter()
            assert client.ingest(content, dpi=150).read_page_count == pages
            return time.perf_counter() - started

    one, two = (seconds("--workers", str(workers)) for workers in (1, 2))
    with cluster(2) as (store, scheduler):
        far = seconds("--workers", "1", "--store-url", store, "--page-scheduler", scheduler)
    return {
        "one_worker_s": round(one, 1), "two_workers_s": round(two, 1), "times": round(one / two, 2),
        "two_dask_workers_s": round(far, 1), "dask_of_local": round(two / far, 2),
    }  # fmt: skip


def soak(cancels: int, watchers: int, small: int) -> dict[str, float]:
    flags = ("--engine", "tesseract", "--queue-size", "600")
    with serving(*flags) as (target, pid), Client(target) as client:
        process = psutil.Process(pid)
        document = client.ingest(scan())
        client.verify(document, "{}")
        slowest = 0.0
        over = threading.Event()

        def health() -> None:
            nonlocal slowest
            with grpc.insecure_channel(target) as channel:
                stub = health_pb2_grpc.HealthStub(channel)
                while not over.wait(0.2):
                    started = time.perf_counter()
                    stub.Check(health_pb2.HealthCheckRequest(), timeout=30)
                    slowest = max(slowest, time.perf_counter() - started)

        watcher = threading.Thread(target=health)
        watcher.start()
        verify = pb.VerifyAnswerRequest(document_id=document.document_id, answer_json="{}")

        def cancel(channel: grpc.Channel, number: int) -> None:
            stub = stubs.VisualProofServiceStub(channel)
            begin: list[Callable[[], Any]] = [
                lambda: stub.VerifyAnswer.future(verify),
                lambda: stub.ExportEvidence(pb.ExportEvidenceRequest(answer=verify)),
                lambda: stub.WatchDocument(
                    pb.WatchDocumentRequest(document_id=document.document_id)
                ),
            ]  # fmt: skip
            call = begin[number % 3]()
            time.sleep(number % 7 / 1000)
            call.cancel()

        with grpc.insecure_channel(target) as channel, ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda n: cancel(channel, n), range(cancels // 5)))
            time.sleep(3)
            warm = process.memory_info().rss
            list(threads.map(lambda n: cancel(channel, n), range(cancels)))
        time.sleep(3)
        after_cancels = process.memory_info().rss
        with grpc.insecure_channel(target) as channel:
            slow = client.upload(pdf([report_lines(n) for n in range(60)]), dpi=200)
            stub = stubs.VisualProofServiceStub(channel)
            request = pb.WatchDocumentRequest(document_id=slow.document_id)
            held = [stub.WatchDocument(request) for _ in range(watchers)]
            firsts = [next(iter(h)) for h in held]
            assert len(firsts) == watchers
            for call in held:
                call.cancel()
            client.delete(slow)
        started = time.perf_counter()
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda _: client.ingest(note()), range(small)))
        took = time.perf_counter() - started
        after_all = process.memory_info().rss
        over.set()
        watcher.join()
    return {
        "slowest_health_s": round(slowest, 3),
        "mb_after_cancels": round((after_cancels - warm) / 1e6, 1),
        "mb_after_all": round((after_all - warm) / 1e6, 1),
        "small_pages_a_minute": round(small / took * 60) if small else 0,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=25)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--cancels", type=int, default=5000)
    parser.add_argument("--watchers", type=int, default=500)
    parser.add_argument("--small", type=int, default=2000)
    args = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    if args.calls:
        figures["fairness"] = fairness(args.calls)
    print(json.dumps(figures), flush=True)
    if args.pages:
        figures["scaling"] = scaling(args.pages)
        print(json.dumps(figures["scaling"]), flush=True)
    if args.cancels:
        figures["soak"] = soak(args.cancels, args.watchers, args.small)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()

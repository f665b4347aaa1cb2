"""Two servers on one real S3 store, behind a real Envoy: any answers for any document, and when one
is killed no call and no document is lost."""

import io
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import EXAMPLE, Bucket, RunningServer, free_ports, start_server
from PIL import Image
from visualproof import CallError, Client, NotFound, Status

pytestmark = pytest.mark.slow

ENVOY = Path(sys.executable).parent / "envoy"
CONFIG = Path(__file__).parents[2] / "deploy" / "envoy.yaml"


@pytest.fixture
def replicas(s3: Bucket, tmp_path: Path) -> Iterator[list[RunningServer]]:
    url = s3.url(f"replicas-{tmp_path.name}")
    flags = ("--store-url", url, "--engine", "tesseract", "--workers", "1")
    made = [start_server(tmp_path / name, *flags) for name in ("one", "two")]
    yield made
    for server in made:
        server.stop()


def pages(count: int) -> bytes:
    frames = [
        Image.open(EXAMPLE / "scan.jpg").convert("L").resize((827, 1170)) for _ in range(count)
    ]
    for number, frame in enumerate(frames):
        frame.putpixel((number, 0), 0)
    out = io.BytesIO()
    frames[0].save(out, "TIFF", save_all=True, append_images=frames[1:])
    return out.getvalue()


def envoy(folder: Path, targets: list[str]) -> tuple["subprocess.Popen[bytes]", str]:
    """The project's own configuration, with this machine's addresses."""
    (port,) = free_ports(1)
    config: Any = yaml.safe_load(CONFIG.read_text())
    listener = config["static_resources"]["listeners"][0]["address"]["socket_address"]
    listener |= {"address": "127.0.0.1", "port_value": port}
    endpoints = config["static_resources"]["clusters"][0]["load_assignment"]["endpoints"][0]
    for place, target in zip(endpoints["lb_endpoints"], targets, strict=True):
        host, _, number = target.partition(":")
        place["endpoint"]["address"]["socket_address"] = {
            "address": host,
            "port_value": int(number),
        }
    file = folder / "envoy.yaml"
    file.write_text(yaml.safe_dump(config))
    process = subprocess.Popen(
        [str(ENVOY), "-c", str(file), "--use-dynamic-base-id", "--log-level", "error"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    end = time.monotonic() + 30
    while True:
        try:
            with Client(f"127.0.0.1:{port}", timeout=2) as client:
                client.info()
            return process, f"127.0.0.1:{port}"
        except CallError:
            assert time.monotonic() < end, "Envoy did not come up"


def test_any_replica_answers_for_any_document(replicas: list[RunningServer]) -> None:
    one, two = (Client(r.target) for r in replicas)
    with one, two:
        document = one.upload(pages(2))
        *_, last = two.watch(document)
        assert (last.page_count, last.read_page_count) == (2, 2)
        assert two.upload(pages(2)).document_id == document.document_id
        report = two.verify(document, {"total": "16,020.00"})
        assert report["/total"].status in (Status.VERIFIED, Status.AMBIGUOUS)
        assert list(one.blocks(document)) == list(two.blocks(document))
        two.delete(document)
        with pytest.raises(NotFound):
            one.verify(document, "{}")


def test_what_a_killed_replica_was_reading_is_taken_over(replicas: list[RunningServer]) -> None:
    first, second = replicas
    with Client(first.target) as one, Client(second.target) as two:
        document = one.upload(pages(6))
        for state in two.watch(document):
            if state.read_page_count >= 2:
                break
        first.process.kill()
        first.process.wait()
        *_, last = two.watch(document, timeout=120)
        assert last.read_page_count == last.page_count == 6
        assert [p.failure.code for p in two.pages(document)] == [""] * 6


def test_none_of_400_calls_is_lost_when_a_replica_dies(
    replicas: list[RunningServer], tmp_path: Path
) -> None:
    proxy, target = envoy(tmp_path, [r.target for r in replicas])
    try:
        with Client(target) as client:
            document = client.ingest(pages(1))

            def call(number: int) -> int:
                if number == 100:
                    replicas[0].process.kill()
                if number % 4:
                    return client.get(document).page_count
                return len(client.verify(document, {"a": f"{number}"}))

            with ThreadPoolExecutor(16) as threads:
                assert list(threads.map(call, range(400))) == [1] * 400
        assert replicas[0].process.poll() is not None
    finally:
        proxy.kill()
        proxy.wait()

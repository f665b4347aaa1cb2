"""What is shipped to run it: manifests that their tools accept, and that say what the server knows."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from conftest import RunningServer
from packaging.requirements import Requirement
from visualproof_server.health import main as health
from visualproof_server.settings import parse

ROOT = Path(__file__).parents[2]
MANIFESTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text())
)


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda m: m["kind"])
@pytest.mark.filterwarnings("ignore")
def test_kubernetes_takes_it(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, "1.31", strict=True)


def test_its_flags_are_settings(tmp_path: Path) -> None:
    container = MANIFESTS[0]["spec"]["template"]["spec"]["containers"][0]
    flags = []
    for flag in container["args"]:
        name, _, value = flag.partition("=")
        if value.startswith(("/tls", "/secrets")):
            file = tmp_path / value.strip("/").replace("/", "-")
            file.write_text("x")
            value = str(file)
        flags.append(f"{name}={value}")
    made = parse(flags, {})
    assert (made.sandbox, made.store_url) == ("strict", "s3://documents/visualproof")
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert MANIFESTS[0]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 60


def test_compose_takes_it() -> None:
    tool = Path(sys.executable).parent / "check-jsonschema"
    command = [str(tool), "--builtin-schema", "vendor.compose-spec", str(ROOT / "compose.yaml")]
    subprocess.run(command, check=True, capture_output=True)


def test_probes_tell_serving_from_not(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    service = "visualproof.v1.VisualProofService"
    assert health(["--target", server.target]) == 0
    assert health(["--target", server.target, "--service", service]) == 0
    assert health(["--target", server.target, "--service", "no such service"]) == 1
    assert health(["--target", "127.0.0.1:9", "--timeout", "1"]) == 1
    assert "UNAVAILABLE" in capsys.readouterr().err


def test_the_image_is_served_in_plain_text_by_nobody_who_did_not_ask() -> None:
    assert "INSECURE_BIND" not in (ROOT / "Dockerfile").read_text()
    with pytest.raises(SystemExit):
        parse([], {"VISUALPROOF_LISTEN": "0.0.0.0:50051"})
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["visualproof"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert parse([], {"VISUALPROOF_LISTEN": "0.0.0.0:1", **service["environment"]}).insecure_bind


def test_the_image_says_whether_it_is_well_and_has_a_slim_form() -> None:
    docker = (ROOT / "Dockerfile").read_text()
    assert 'CMD ["visualproof-health"]' in docker
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", docker, re.M)
    assert {name for _, name in stages} >= {"slim", "full"}
    assert stages[-1][1] == "full"
    slim = (ROOT / "requirements-slim.txt").read_text()
    assert not re.search("rapidocr|onnxruntime|dask|distributed|obstore|opentelemetry", slim)


def test_the_slim_image_has_all_that_the_service_needs() -> None:
    """Each requirement of visualproof-server, and of what it requires, is pinned there."""
    text = (ROOT / "requirements-slim.txt").read_text().lower().replace("_", "-")
    pinned = set(re.findall(r"^([a-z0-9-]+)==", text, re.M)) | {"visualproof"}
    found, todo = set(), ["visualproof-server"]
    while todo:
        for line in importlib.metadata.requires(todo.pop()) or []:
            wanted = Requirement(line)
            name = wanted.name.lower().replace("_", "-")
            here = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
            if here and name not in found:
                found.add(name)
                todo.append(wanted.name)
    assert found <= pinned, found - pinned


def test_the_image_installs_what_is_pinned_and_what_make_installs() -> None:
    """Debian packages of the image are among those that `make apt` installs; nothing is unpinned."""
    docker = (ROOT / "Dockerfile").read_text()
    ours = re.search(r"^APT := (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert ours is not None
    wanted = set(re.findall(r"(?:tesseract-ocr|poppler|fonts|lib)[\w.-]*", docker)) - {"lib"}
    packages = {w for w in wanted if not w.startswith("libreoffice")}
    assert packages <= set(ours[1].split()), packages - set(ours[1].split())
    for file in ROOT.glob("requirements*.txt"):
        for line in file.read_text().splitlines():
            if line and not line.startswith(("#", "-r")):
                assert "==" in line, line

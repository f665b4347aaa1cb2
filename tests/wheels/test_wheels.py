"""What is shipped: both wheels, with all that is in them, of one version."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import visualproof
import visualproof_server
import yaml

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
VERSION = (ROOT / "VERSION").read_text().strip()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    for name in ("client", "server"):
        # What an earlier build left would go into the wheel, though its source is gone.
        shutil.rmtree(ROOT / name / "build", ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder)]
    subprocess.run([*command, str(ROOT / "client"), str(ROOT / "server")], check=True)
    return {re.split("-[0-9]", w.name)[0]: w for w in folder.glob("*.whl")}


def metadata(wheel: Path) -> "dict[str, list[str]]":
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        message = Parser().parsestr(archive.read(name).decode())
    return {key: message.get_all(key, []) for key in message.keys()}  # noqa: SIM118


def test_there_is_one_version(wheels: dict[str, Path]) -> None:
    assert sorted(wheels) == ["visualproof", "visualproof_server"]
    for wheel in wheels.values():
        assert metadata(wheel)["Version"] == [VERSION]
    needed = metadata(wheels["visualproof_server"])["Requires-Dist"]
    assert f"visualproof=={VERSION}" in needed
    assert (visualproof.__version__, visualproof_server.__version__) == (VERSION, VERSION)
    assert f'image.version="{VERSION}"' in (ROOT / "Dockerfile").read_text()
    manifest = next(yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text()))
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith(f":{VERSION}")
    assert f"## [{VERSION}]" in (ROOT / "CHANGELOG.md").read_text()


def test_both_have_the_licence_and_all_files(wheels: dict[str, Path]) -> None:
    for name, wheel in wheels.items():
        source = ROOT / ("client" if name == "visualproof" else "server") / name
        ours = {
            f"{name}/{p.relative_to(source).as_posix()}"
            for p in source.rglob("*")
            if p.is_file() and p.suffix != ".pyc"
        }
        with zipfile.ZipFile(wheel) as archive:
            packed = set(archive.namelist())
            (licence,) = (n for n in packed if n.endswith("LICENSE"))
            assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
        assert ours <= packed, ours - packed


def test_the_tests_pass_on_the_wheels(wheels: dict[str, Path], tmp_path: Path) -> None:
    """Those that start nothing, with packages that come from the wheels alone."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path)]
    subprocess.run([*command, *(str(w) for w in wheels.values())], check=True)
    where = "import visualproof, visualproof_server as s; print(visualproof.__file__, s.__file__)"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", where],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert all(file.startswith(str(tmp_path)) for file in done.stdout.split())
    tests = ["tests/prompting", "tests/model", "tests/proving/test_prove.py", "tests/client"]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests],
        cwd=ROOT, env=environment, check=True, capture_output=True,
    )  # fmt: skip


def test_the_client_needs_grpc_and_protobuf_only(wheels: dict[str, Path], tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=True)
    python = tmp_path / "bare" / "bin" / "python"
    wheel = str(wheels["visualproof"])
    subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True)
    script = "import visualproof, visualproof.aio, visualproof.testing; print(visualproof.Status.VERIFIED)"
    done = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "1"
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze"], check=True, capture_output=True, text=True
    )
    names = {line.split("==")[0] for line in listed.stdout.split()}
    assert names <= {"visualproof", "grpcio", "protobuf", "typing_extensions", "pip", "setuptools"}

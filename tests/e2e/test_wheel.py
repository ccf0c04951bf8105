"""The wheels work where there is no Rust and no source tree, foreign ones with an interpreter of their platform."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel

DIST = Path(__file__).parents[2] / "dist"
LIMIT = 6_000_000
MODEL_LIMIT = 20_000_000

PROGRAM = """
import pathlib, shutil, sys
assert sys.flags.isolated
assert shutil.which("cargo") is None and shutil.which("rustc") is None
site = sys.argv[1] if len(sys.argv) > 1 else sys.prefix
if site != sys.prefix:
    sys.path.insert(0, site)
import memctx
assert pathlib.Path(memctx.__file__).is_relative_to(site), memctx.__file__

assert memctx.tokenize("parseHTTPHeader 飞书") == [
    "parse", "http", "header", "parsehttpheader", "飞", "书", "飞书"]

texts = {"a": "the webhook listens on port 8443", "b": "支付回调的端口", "c": "something unrelated"}
index = memctx.lowlevel.Bm25Index()
index.add_many(texts.items())
assert [hit.id for hit in index.search("webhook port", 1)] == ["a"]
assert [hit.id for hit in index.search("支付", 1)] == ["b"]

embedder = memctx.lowlevel.HashEmbedder()
matrix = embedder.embed_many(texts.values())
assert matrix.shape == (3, 384) and str(matrix.dtype) == "float32"
flat = memctx.lowlevel.FlatIndex(embedder.dim)
flat.add_many(list(texts), matrix)
assert flat.search(embedder.embed(texts["b"]), 1)[0].id == "b"

memctx.lowlevel.vmem.write("vectors.bin", list(texts), matrix)
ids, same = memctx.lowlevel.vmem.read("vectors.bin", strict=True)
assert ids == list(texts) and (same == matrix).all()

with memctx.open("store", session_id="s") as memory:
    said = [{"role": "user", "content": text} for text in texts.values()]
    assert memory.archive(said).added == 3
    assert memory.search("webhook port", limit=1)[0].segment.content == texts["a"]
    used = memory.health()["embedding"]
    assert used["note"] is None and used["used"] != "hash", used
    assert memory.reembed().lacking == 0
import memctx_model
assert memctx_model.is_intact()
print("works:", memctx.__version__)
"""


def newest(pattern: str) -> Path:
    wheels = sorted(DIST.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not wheels:
        pytest.skip("dist/ holds no wheel: `make wheel` builds one")
    return wheels[-1]


def is_native(wheel: Path) -> bool:
    """Return whether the wheel is for this machine; of two Linux wheels, whether it is for this libc."""
    tag = wheel.stem.split("-")[-1]
    machine = platform.machine().lower()
    if sys.platform != "linux":
        return machine in tag or "universal" in tag
    libc = "manylinux" if platform.libc_ver()[0] == "glibc" else "musllinux"
    return tag.startswith(libc) and tag.endswith(machine)


WHEELS = sorted(DIST.glob("memctx-*.whl"))
FOREIGN = [wheel for wheel in WHEELS if not is_native(wheel)]
LIBC = {"manylinux": "gnu", "musllinux": "musl"}


@pytest.fixture(scope="module")
def wheel() -> Path:
    native = [wheel for wheel in WHEELS if is_native(wheel)]
    if not native:
        pytest.skip("dist/ holds no wheel for this machine: `make wheel` builds one")
    return max(native, key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="module")
def model() -> Path:
    return newest("memctx_model-*.whl")


@pytest.mark.parametrize("each", WHEELS, ids=lambda path: path.stem.split("-")[-1])
def test_wheel_is_small_and_fits_many_systems(each: Path) -> None:
    assert each.stat().st_size < LIMIT
    assert not [name for name in zipfile.ZipFile(each).namelist() if "__pycache__" in name]
    python, abi, tag = each.stem.split("-")[2:]
    assert (python, abi) == ("cp311", "abi3")
    if sys.platform == "linux":
        assert re.match(r"(manylinux2014|manylinux_2_17|musllinux_1_2)_", tag)


def test_wheel_of_the_model_is_pure_data(model: Path) -> None:
    assert model.stat().st_size < MODEL_LIMIT
    assert model.stem.split("-")[2:] == ["py3", "none", "any"]
    names = zipfile.ZipFile(model).namelist()
    assert {
        "memctx_model/__init__.py",
        "memctx_model/encoder.safetensors",
        "memctx_model/encoder.safetensors.sha256",
        "memctx_model/py.typed",
    } == {name for name in names if ".dist-info/" not in name}


@pytest.mark.timeout(300)
def test_wheel_works_without_rust(wheel: Path, model: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    environment = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
    environment["PATH"] = path_without_rust()

    def run(*arguments: str | Path) -> str:
        result = subprocess.run(
            [python, *arguments],
            cwd=tmp_path,
            env=environment,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert result.returncode == 0, result.stdout
        return result.stdout

    options = ("--quiet", "--only-binary=:all:", "--find-links", model.parent)
    run("-I", "-m", "pip", "install", *options, wheel)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    assert run("-I", "-X", "utf8", program).startswith("works: ")


@pytest.mark.parametrize("each", FOREIGN, ids=lambda path: path.stem.split("-")[-1])
@pytest.mark.timeout(900)
def test_foreign_wheel_works_with_an_interpreter_of_its_platform(
    each: Path, model: Path, tmp_path: Path
) -> None:
    """``PYTHON_AARCH64_MUSL`` and the like are commands that run such an interpreter on this machine."""
    tag = each.stem.split("-")[-1].split(".")[0]
    machine = "aarch64" if tag.endswith("aarch64") else "x86_64"
    variable = f"PYTHON_{machine.upper()}_{LIBC[tag[:9]].upper()}"
    if variable not in os.environ:
        pytest.skip(f"{each.name} is not tried: {variable} names no interpreter")
    python = shlex.split(os.environ[variable])

    def run(*command: str | Path) -> str:
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PATH": path_without_rust()},
            check=True,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ).stdout

    version = run(*python, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    # pip knows which wheels fit another platform; the interpreter need not have it.
    options = [
        "--quiet",
        "--only-binary=:all:",
        "--implementation",
        "cp",
        "--python-version",
        version,
    ]
    abis = [f"cp{version.replace('.', '')}", "abi3", "none"]
    # Dependencies may be built for another libc of the same kind.
    libcs = (
        ["musllinux_1_1", "musllinux_1_2"]
        if tag.startswith("musl")
        else ["manylinux2014", *(f"manylinux_2_{minor}" for minor in range(17, 35))]
    )
    for libc in libcs:
        options += ["--platform", f"{libc}_{machine}"]
    for abi in abis:
        options += ["--abi", abi]
    site = tmp_path / "site"
    packages: list[str | Path] = [each, "--find-links", model.parent, "--target", site]
    run(sys.executable, "-m", "pip", "install", *options, *packages)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    assert run(*python, "-I", "-X", "utf8", program, site).startswith("works: ")


def path_without_rust() -> str:
    """Return the folders of PATH that hold neither cargo nor rustc."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(
        folder
        for folder in folders
        if not shutil.which("cargo", path=folder) and not shutil.which("rustc", path=folder)
    )

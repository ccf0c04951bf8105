"""The command `memctx ui`: its address, its end, and an installation without the extra."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from click.testing import CliRunner

import memctx
import process
from memctx.cli import main

if TYPE_CHECKING:
    import subprocess

ASSETS = Path(memctx.__file__).parent / "ui" / "assets"
MAX_BYTES = 300_000


def start(store: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "memctx", "ui", "--store", str(store), "--no-browser"]
    environ = {**os.environ, "MEMCTX_EMBEDDING_MODEL": "hash"}
    return process.start([*command, *options], env=environ, stdout=-1)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_command_prints_an_address_and_ends_at_a_signal(filled: Path, name: str) -> None:
    child = start(filled)
    assert child.stdout is not None
    try:
        address = child.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        with httpx2.Client(timeout=30) as client:
            assert client.get(address).status_code == 200
            found = client.get(f"{address.partition('?')[0]}api/page").json()
        assert found["may_write"] is False
    finally:
        child.send_signal(getattr(signal, name))
        output, errors = process.finish(child, timeout=20, status=None)
    assert (output, child.returncode) == ("", 0), errors
    assert "read-only" in errors
    assert "Traceback" not in errors


def test_a_missing_store_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["ui", "--store", str(tmp_path / "none"), "--no-browser"])
    assert result.exit_code == 2
    assert "there is no store" in result.output
    assert not (tmp_path / "none").exists()


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, filled: Path) -> None:
    monkeypatch.setattr("memctx.providers.sdk.find_spec", lambda _: None)
    result = CliRunner().invoke(main, ["ui", "--store", str(filled)])
    assert result.exit_code == 2
    assert "pip install 'memctx[ui]'" in result.output


def test_the_package_loads_no_web_framework_before_it_is_used() -> None:
    program = "import memctx.ui, sys; print(*sys.modules)"
    loaded = process.run([sys.executable, "-I", "-c", program]).stdout.split()
    assert {"starlette", "uvicorn", "numpy", "memctx.memory"}.isdisjoint(loaded)


def test_assets_are_small_and_name_no_other_machine() -> None:
    files = list(ASSETS.iterdir())
    assert sum(path.stat().st_size for path in files) < MAX_BYTES
    for path in files:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text, path.name
        assert "https:" not in text, path.name
        assert "innerHTML" not in text, path.name
        assert " style=" not in text, path.name

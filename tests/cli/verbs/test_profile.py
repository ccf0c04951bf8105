"""`memctx profile`: figures of every step, the user's store untouched, flame graphs, and an interrupted run."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memctx
from memctx.cli.profiling import find_profiler, make_messages
from process import finish, run, start

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = str(Path(memctx.__file__).parents[1])
SMALL = ("--segments", "150", "--turns", "15", "--window", "8000")
HASHED = {
    "MEMCTX_EMBEDDING_MODEL": "hash"
}  # several times as fast as the encoder in a build for tests
TURN_STEPS = ["read", "cut", "recall", "assemble", "check", "keep", "in Python"]


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "memctx", "profile", *map(str, arguments)]


def environment(scratch: Path, **more: str) -> dict[str, str]:
    scratch.mkdir(exist_ok=True)
    return {**os.environ, "PYTHONPATH": ROOT, "PYTHONUTF8": "1", "TMPDIR": str(scratch), **more}


def profile(
    tmp_path: Path, *arguments: object, status: int | None = 0, **more: str
) -> subprocess.CompletedProcess[str]:
    env = environment(tmp_path / "scratch", **more)
    done = run(command(*arguments), env=env, timeout=240, status=status)
    assert not list((tmp_path / "scratch").glob("memctx*")), "scratch folders are removed"
    return done


def operations(output: str) -> Mapping[str, Any]:
    return {each["name"]: each for each in json.loads(output)["operations"]}


def files_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def stored(path: Path, messages: int = 300) -> Path:
    with memctx.open(path, session_id="s", embedding_model="hash") as memory:
        memory.archive(make_messages(0, messages))
    return path


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_profile_measures_every_operation_and_its_steps(tmp_path: Path) -> None:
    done = profile(tmp_path, *SMALL, "--json")
    data = json.loads(done.stdout)
    assert data["segments"] >= 150
    assert (data["store"], data["window"]) == (None, 8_000)
    assert (data["flame_graph"], data["flame_graph_error"]) == (None, None)
    found = operations(done.stdout)
    assert list(found) == [
        *("first turn", "steady turn", "trimming turn"),
        *("search", "archive", "add a fact", "search facts"),
    ]
    for operation in found.values():
        spread = operation["milliseconds"]
        assert operation["calls"] > 0
        assert 0 < spread["p50"] <= spread["p95"] <= spread["p99"]
        assert sum(step["share"] for step in operation["steps"]) == pytest.approx(1)
    assert [step["name"] for step in found["trimming turn"]["steps"]] == TURN_STEPS
    assert "Store.add" in [step["name"] for step in found["archive"]["steps"]]
    assert "plan_trim" in [step["name"] for step in found["trimming turn"]["core"]]


@pytest.mark.timeout(300)
def test_profile_of_a_store_plays_in_a_copy(tmp_path: Path) -> None:
    store = stored(tmp_path / "store")
    before = files_of(store)
    done = profile(tmp_path, "--store", store, *SMALL[2:])
    assert files_of(store) == before
    assert f"segments, a copy of {store}" in done.stdout
    assert "trimming turn" in done.stdout
    assert "vectors by hash" in done.stdout


@pytest.mark.timeout(300)
def test_profile_of_a_store_that_an_agent_has_open(tmp_path: Path) -> None:
    store = stored(tmp_path / "store")
    with memctx.open(store, session_id="s", embedding_model="hash") as memory:
        profile(tmp_path, "--store", store, *SMALL[2:])
        assert memory.archive(make_messages(300, 2)).added == 2


@pytest.mark.timeout(300)
def test_profile_asks_no_server_for_vectors(tmp_path: Path) -> None:
    store = stored(tmp_path / "store")
    closed = "http://127.0.0.1:9/v1"  # a model that is asked would fail, and be named as the fallback's reason
    done = profile(tmp_path, "--store", store, *SMALL[2:], "--json", MEMCTX_EMBEDDING_URL=closed)
    assert json.loads(done.stdout)["embedding_model"] == "hash"


@pytest.mark.timeout(300)
def test_flame_graph_shows_functions_of_a_turn(tmp_path: Path) -> None:
    profiler = shutil.which("py-spy", path=str(Path(sys.executable).parent))
    if profiler is None:
        pytest.skip("py-spy is not installed")
    svg = tmp_path / "turns.svg"
    done = profile(tmp_path, *SMALL, "--flame-graph", svg, status=None, **HASHED)
    if done.returncode and re.search("(?i)permission|ptrace", done.stdout):
        pytest.skip("this system lets no process look into another")
    assert done.returncode == 0, done.stdout
    assert f"Flame graph: {svg}" in done.stdout
    assert svg.read_text(encoding="utf-8").rstrip().endswith("</svg>")
    titles = re.findall("<title>([^<]*)", svg.read_text(encoding="utf-8"))
    assert any("prepare (memctx/memory.py" in title for title in titles)


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for the profiler")
@pytest.mark.timeout(300)
def test_a_profiler_that_fails_costs_no_figures(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "py-spy"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'Error: Permission Denied' >&2\nexit 1\n")
    fake.chmod(0o755)
    svg = tmp_path / "turns.svg"
    hidden = (
        f"import sysconfig; sysconfig.get_path = lambda name: {str(fake.parent)!r}\n"
        "from memctx.__main__ import main; main()"
    )
    arguments: list[str | Path] = [
        sys.executable,
        "-c",
        hidden,
        "profile",
        *SMALL,
        "--flame-graph",
        svg,
    ]
    env = environment(tmp_path / "scratch", **HASHED)
    done = run(arguments, env=env, timeout=240, status=1)
    assert "steady turn" in done.stdout
    assert "py-spy wrote no flame graph: Error: Permission Denied" in done.stdout
    assert not svg.exists()


def test_missing_profiler_is_named_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(memctx.errors.ConfigError, match="py-spy, which is not installed"):
        find_profiler()


@pytest.mark.skipif(sys.platform == "win32", reason="other signals")
@pytest.mark.parametrize("step", ["store", "settings.json"])
@pytest.mark.timeout(300)
def test_interrupt_leaves_no_file_and_no_process(tmp_path: Path, step: str) -> None:
    """While the store is filled, and while a profiler samples."""
    if (
        step == "settings.json"
        and shutil.which("py-spy", path=str(Path(sys.executable).parent)) is None
    ):
        pytest.skip("py-spy is not installed")
    scratch, svg = tmp_path / "scratch", tmp_path / "turns.svg"
    size = ("--segments", "5000") if step == "store" else SMALL[:2]
    options = (*size, *SMALL[2:], *(() if step == "store" else ("--flame-graph", svg)))
    child = start(command(*options), env=environment(scratch, **HASHED), stdout=subprocess.PIPE)
    until = time.monotonic() + 240
    while not list(scratch.glob(f"memctx-profile-*/{step}")):
        assert child.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    output, errors = finish(child, timeout=60, status=130)
    assert "Traceback" not in errors
    assert not output
    assert not list(scratch.iterdir())
    assert not svg.exists()
    assert not processes_naming(str(scratch))


def processes_naming(text: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True)  # noqa: S607 - of any system
    return [line for line in listed.stdout.splitlines() if text in line and "ps -eo" not in line]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--segments", "99"], "99 is not in the range x>=100"),
        (["--segments", "many"], "'many' is not a valid integer"),
        (["--turns", "0"], "0 is not in the range x>=1"),
        (["--window", "10"], "10 is not in the range x>=2000"),
        (["--store", "nowhere"], "'nowhere' does not exist"),
        (["--flame-graph", "nowhere/turns.svg"], "there is no such folder"),
    ],
)
def test_unusable_arguments_are_refused(tmp_path: Path, arguments: list[str], reason: str) -> None:
    if (
        "--flame-graph" in arguments
        and shutil.which("py-spy", path=str(Path(sys.executable).parent)) is None
    ):
        pytest.skip("py-spy is not installed")
    done = profile(tmp_path, *arguments, status=2)
    assert reason in done.stderr


def test_store_without_enough_messages_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = profile(tmp_path, "--store", tmp_path / "empty", status=2)
    assert "there is no store" in done.stderr
    done = profile(tmp_path, "--store", stored(tmp_path / "few", 10), status=2)
    assert "expected at least 20" in done.stderr
    done = profile(tmp_path, "--store", tmp_path / "few", "--segments", 500, status=2)
    assert "--segments is for a synthetic store" in done.stderr


def test_synthetic_messages_are_the_same_everywhere() -> None:
    """In several scripts, code and tool calls with their results; all of them distinct."""
    said = make_messages(0, 400)
    assert said == [make_messages(number, 1)[0] for number in range(400)]
    assert len({json.dumps(each) for each in said}) == 400
    text = " ".join(each["content"] for each in said)
    for script in (
        "[a-z]{4}",
        "[\u4e00-\u9fff]{2}",
        "[\u30a0-\u30ff]{2}",
        "[\uac00-\ud7af]{2}",
        "def ",
    ):
        assert re.search(script, text)
    calls = {call["id"] for each in said for call in each.get("tool_calls", ())}
    assert calls == {each["tool_call_id"] for each in said if each["role"] == "tool"}
    assert memctx.validate(said) == []

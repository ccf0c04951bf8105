"""The command as a separate process: pipes, terminals, and an installation without the extra."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import memctx
from memctx.cli import output
from memctx.cli.formatting import Table
from process import run, start

ROOT = str(Path(memctx.__file__).parents[1])


def process(
    *arguments: object, code: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    start = ["-m", "memctx"] if code is None else ["-c", code]
    command = [sys.executable, "-W", "error", *start, *map(str, arguments)]
    environ = {**os.environ, "PYTHONPATH": ROOT, "PYTHONUTF8": "1", **variables}
    return run(command, env=environ, status=None)


def test_a_pipe_gets_plain_text_in_every_script(store: Path) -> None:
    done = process("search", "支付回调", "--store", store, FORCE_COLOR="")
    assert (done.returncode, done.stderr) == (0, "")
    assert "支付回调失败后" in done.stdout
    assert "\x1b" not in done.stdout


def test_search_times_are_utc_in_every_time_zone(store: Path) -> None:
    span = ("--since", "2026-02-02T02:40", "--until", "2026-02-02T02:40")
    done = process("search", "webhook", *span, "--store", store, TZ="Asia/Tokyo")
    assert done.returncode == 0
    assert "2026-02-02 02:40" in done.stdout


def test_json_and_exit_codes_reach_the_shell(store: Path) -> None:
    done = process("search", "webhook", "--json", "--store", store)
    assert json.loads(done.stdout)["hits"]
    assert process("search", "zzzqqq", "--store", store).returncode == 1
    assert process("search", "x", "--store", store / "none").returncode == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes")
def test_a_reader_that_leaves_early_sees_no_traceback(store: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": ROOT}
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, "-m", "memctx", "config", "show", "--store", str(store)]
    done = subprocess.run(
        command, check=False, stdout=theirs, stderr=subprocess.PIPE, env=environ, timeout=60
    )
    os.close(theirs)
    assert b"Traceback" not in done.stderr


def test_help_does_not_load_the_memory() -> None:
    code = "import sys, memctx.cli.app; print(*sys.modules)"
    loaded = process(code=code).stdout.split()
    assert "memctx.cli.app" in loaded
    assert {"asyncio", "numpy", "pydantic", "memctx.memory"}.isdisjoint(loaded)


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_a_missing_extra_names_the_package_to_install(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from memctx.__main__ import main; main()"
    done = process(code=code)
    assert done.returncode == 2
    needs = f"memctx: the command line needs {missing}: pip install 'memctx[cli]'"
    assert done.stderr == f"{needs}; `memctx demo` runs without\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_terminal_gets_colors_unless_no_color_is_set(store: Path) -> None:
    import pty  # noqa: PLC0415 - there is none on Windows

    def shown(**variables: str) -> str:
        ours, theirs = pty.openpty()
        environ = {**os.environ, "PYTHONPATH": ROOT, "TERM": "xterm", "COLUMNS": "100", **variables}
        command = [sys.executable, "-m", "memctx", "facts", "list", "--store", str(store)]
        with subprocess.Popen(command, stdout=theirs, env=environ) as running:
            os.close(theirs)
            output = b""
            while True:
                try:
                    piece = os.read(ours, 65_536)
                except OSError:
                    break
                if not piece:
                    break
                output += piece
            os.close(ours)
            assert running.wait(30) == 0
        return output.decode()

    colored = shown()
    assert "\x1b[" in colored
    assert "The ledger rounds half to even" in colored
    assert "\x1b[3" not in shown(NO_COLOR="1")


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.slow
def test_an_interrupted_import_says_how_to_resume_and_does(tmp_path: Path) -> None:
    said = [{"role": "user", "content": f"Parcel {n} went to gate {n * 7}"} for n in range(60_000)]
    (tmp_path / "talk.jsonl").write_text("\n".join(map(json.dumps, said)))
    store = tmp_path / "store"
    command = ["import", str(tmp_path / "talk.jsonl"), "--store", str(store)]
    environ = {**os.environ, "PYTHONPATH": ROOT, "MEMCTX_EMBEDDING_MODEL": "hash"}
    child = start([sys.executable, "-m", "memctx", *command], env=environ)
    log = store / "segments.jsonl"
    while child.poll() is None and not (log.exists() and log.stat().st_size):
        time.sleep(0.005)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (130, "memctx: interrupted; run it again to resume\n")
    before = len(log.read_bytes().splitlines())
    assert before < 60_000
    done = process(*command, "--json", MEMCTX_EMBEDDING_MODEL="hash")
    assert json.loads(done.stdout)["added"] == 60_000 - before
    assert len(log.read_bytes().splitlines()) == 60_000


def test_search_names_sessions_and_highlights_words(tmp_path: Path) -> None:
    for session in ("shop", "blog"):
        with memctx.open(tmp_path, session_id=session, embedding_model="hash") as memory:
            memory.archive([{"role": "user", "content": f"The {session} listens on port 8443"}])
    shown = process("search", "port", "--store", tmp_path).stdout.splitlines()
    assert {line.split()[5] for line in shown[1:]} == {"shop", "blog"}
    assert shown[0].split() == ["id", "when", "role", "score", "session", "text"]
    table = Table(("id", "text"), (("a", "The Webhooks listen"),), marked=("Webhooks",))
    console = Console(force_terminal=True, color_system="standard", width=60, file=StringIO())
    console.print(output.render(table, is_narrow=False))
    assert "\x1b[1;33mWebhooks\x1b[0m" in console.file.getvalue()  # type: ignore[attr-defined]

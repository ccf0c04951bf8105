"""Flame graphs: turns that play in a child process, which py-spy samples, with the frames of the core."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING

from memctx.errors import ConfigError, MemctxError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memctx.config import Config

PLAYER = "memctx.cli.profiling"
"""Module that plays in the child."""
SAMPLES_PER_SECOND = 250
HAS_NATIVE_FRAMES = sys.platform in {"linux", "win32"}
"""Platforms on which py-spy sees the frames of compiled code."""


def find_profiler() -> str:
    """Return the path of py-spy: of this environment, else on PATH.

    Raises:
        ConfigError: it is not installed.
    """
    found = shutil.which("py-spy", path=sysconfig.get_path("scripts")) or shutil.which("py-spy")
    if found is None:
        raise ConfigError(
            "a flame graph needs py-spy, which is not installed: pip install 'memctx[profile]'"
        )
    return found


def write_flame_graph(
    profiler: str, config: Config, svg: Path, *, turns: int, is_copy: bool
) -> None:
    """Play over the scratch store of ``config`` in a child, and write its flame graph to ``svg``, whole or not at all.

    Raises:
        MemctxError: the profiler failed; it says why.
    """
    folder = config.storage_path.parent
    settings, unfinished = folder / "settings.json", folder / "flame.svg"
    settings.write_text(json.dumps(config.to_dict()), encoding="utf-8")
    options = ["--native"] if HAS_NATIVE_FRAMES else []
    command = [
        *(profiler, "record", *options, "--function", "--rate", str(SAMPLES_PER_SECOND)),
        *("--format", "flamegraph", "--output", str(unfinished), "--"),
        *(sys.executable, "-m", PLAYER, str(settings), str(turns), str(int(is_copy))),
    ]
    said = _run(command, folder)
    if not unfinished.exists():
        lines = [line for line in said.splitlines() if line.strip()]
        raise MemctxError(
            f"py-spy wrote no flame graph: {lines[-1] if lines else 'it said nothing'}"
        )
    shutil.move(unfinished, svg)


def _run(command: Sequence[str], scratch: Path) -> str:
    """Run a profiler and its child as a process group, and return what they print; end both if interrupted.

    Temporary files are made in ``scratch``: a profiler that is killed leaves its own.
    """
    child = subprocess.Popen(  # noqa: S603 - a profiler that was looked up, and this interpreter
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "TMPDIR": str(scratch)},
        start_new_session=True,
    )
    try:
        return child.communicate()[0]
    finally:
        if child.poll() is None:
            if sys.platform == "win32":
                child.kill()
            else:
                os.killpg(child.pid, signal.SIGKILL)
            child.communicate()

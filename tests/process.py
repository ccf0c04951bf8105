"""Child processes of tests, guarded like the tests, with their stderr in every failure; locks as of another process."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx import _core

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

GUARD = str(Path(__file__).parent / "guard")
SHOWN = 4_000
"""Characters of stderr in a failure, the last ones."""


def run(  # noqa: PLR0913 - what a child is given
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    input: str | None = None,
    timeout: float = 60,
    status: int | None = 0,
) -> subprocess.CompletedProcess[str]:
    """Run a child to its end and return its output; fail with its stderr on an unexpected exit status.

    ``status=None`` takes any.
    """
    child = start(command, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    output, errors = finish(child, input=input, timeout=timeout, status=status)
    return subprocess.CompletedProcess(child.args, child.returncode, output, errors)


def start(  # noqa: PLR0913 - as above
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: Any = None,
    stdout: Any = None,
    stderr: Any = subprocess.PIPE,
) -> subprocess.Popen[str]:
    """Start a child; a Python process may read nothing outside the repository."""
    environ = dict(os.environ if env is None else env)
    paths = [GUARD, environ.get("PYTHONPATH", "")]
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    if "MEMCTX_DATA" in os.environ:
        environ["MEMCTX_DATA"] = os.environ["MEMCTX_DATA"]
    return subprocess.Popen(
        list(map(str, command)),
        env=environ,
        cwd=cwd,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        text=True,
        encoding="utf-8",
    )


def finish(
    child: subprocess.Popen[str],
    *,
    input: str | None = None,
    timeout: float = 60,
    status: int | None = 0,
) -> tuple[str, str]:
    """Wait for a child and return its output and stderr; fail with its stderr on an unexpected exit status."""
    try:
        output, errors = child.communicate(input, timeout=timeout)
    except subprocess.TimeoutExpired:
        child.kill()
        output, errors = child.communicate()
        raise AssertionError(
            f"{_named(child)} did not end within {timeout:g} s\n{_told(errors)}"
        ) from None
    finally:
        child.kill()
    if status is not None and child.returncode != status:
        raise AssertionError(
            f"{_named(child)} ended with {child.returncode}, not {status}\n{_told(errors)}"
        )
    return output, errors


def _named(child: subprocess.Popen[str]) -> str:
    words = child.args if isinstance(child.args, list) else [str(child.args)]
    return " ".join(word if len(word) < 80 else f"{word[:77]}..." for word in map(str, words))


def _told(errors: str | None) -> str:
    return f"Its stderr:\n{errors[-SHOWN:]}" if errors else "Its stderr is empty."


@contextmanager
def holding(path: Path) -> Generator[None, None, None]:
    """Hold a lock file as another process would."""
    lease = _core.Lease(path)
    assert lease.acquire()
    try:
        yield
    finally:
        lease.release()

"""Bad arguments of every public function: `MemctxError`, `TypeError` or the system's `OSError`, with a short text."""

from __future__ import annotations

import asyncio
import inspect
import logging
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import memctx

from .surface import OBJECTS, SECRET, Call, Unanswered, calls, nasty, suitable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ALLOWED = (memctx.MemctxError, TypeError, OSError, Unanswered)
LONGEST = 500
CALLS = list(calls())
PATHS = {"path", "folder", "root", "source", "memory", "store", "transcript"}


@pytest.fixture
def _quiet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Nothing is written but below the test's own folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    logging.disable(logging.NOTSET)


def call(
    wanted: Call, target: Callable[..., Any], folder: Path, parameter: inspect.Parameter, value: Any
) -> None:
    """Call it with one unsuitable argument, and with suitable ones where there is no default."""
    given: list[Any] = []
    named: dict[str, Any] = {}
    for each in wanted.parameters:
        if each is not parameter and each.default is not each.empty:
            continue
        filled = value if each is parameter else suitable(each.name, folder)
        if each.kind is each.POSITIONAL_ONLY:
            given.append(filled)
        else:
            named[each.name] = filled
    made = target(*given, **named)
    if inspect.iscoroutine(made):
        asyncio.run(made)


def check(error: Exception, parameter: inspect.Parameter, name: str) -> None:
    told = str(error)
    assert len(told) <= LONGEST, (parameter.name, name, type(error), told[:200])
    # A system's error names the file, whatever it is called.
    is_path = isinstance(error, OSError) and parameter.name in PATHS
    assert is_path or SECRET[:30] not in told, (parameter.name, name, told[:200])


@pytest.mark.thread_unsafe(reason="changes the working directory")
@pytest.mark.usefixtures("_quiet", "alone")
@pytest.mark.parametrize("wanted", CALLS, ids=[each.name for each in CALLS])
def test_bad_arguments_raise_only_memctx_and_type_errors(
    wanted: Call, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = nasty()
    for parameter in wanted.parameters:
        for name, value in values.items():
            # Not part of what is tested: it must succeed.
            target = wanted.make(tmp_path)
            try:
                call(wanted, target, tmp_path, parameter, value)
            except ALLOWED as error:
                check(error, parameter, name)
            except BaseException as error:
                error.add_note(f"{wanted.name}({parameter.name}={name})")
                raise
    capsys.readouterr()


def test_every_public_callable_is_called_with_bad_arguments() -> None:
    names = {each.name for each in CALLS}
    assert {
        "memctx.open",
        "memctx.tokenize",
        "memctx.lowlevel.vmem.read",
        "memctx.lowlevel.fusion.blend",
    } <= names
    assert {"Memory.archive", "Memory.prepare", "Memory.search", "Facts.add"} <= names
    assert {name.split(".")[0] for name in names} >= set(OBJECTS)


def test_exceptions_of_callers_pass_through(tmp_path: Path) -> None:
    """Only faults of arguments are translated, not those of callbacks."""

    def progress(*_: int) -> None:
        raise KeyError("the caller's own")

    with memctx.open(tmp_path, session_id="s1") as memory:
        memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
        with pytest.raises(KeyError, match="the caller's own"):
            memory.reembed(progress)


@pytest.mark.parametrize("length", [10, 100_000])
def test_messages_are_masked_and_bounded(length: int) -> None:
    """In the one place where they are made, and with the remedy at their end."""
    value = f"{'x' * length} {SECRET} {'y' * length}"
    told = str(memctx.ConfigError(f"name is {value!r}; expected another one"))
    assert SECRET[:20] not in told
    assert len(told) <= LONGEST
    assert told.startswith("name is 'xxx")
    assert told.endswith("expected another one")
    with pytest.raises(memctx.ConfigError) as caught:
        memctx.tokenize("text", mode=value)  # type: ignore[arg-type]
    assert SECRET[:20] not in str(caught.value)
    assert len(str(caught.value)) <= LONGEST

"""The public surface, found by walking it, and arguments that do not fit it."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import memctx

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SECRET = "sk-ant-api03-" + "Ab3dE6gH1jK4mN7pQ0sT" * 4 + "-9xYzAA"

PASSED_OVER = {
    # They run until they are stopped, or ask a model for whatever they are given.
    "memctx.cli.verbs.bench",
    "memctx.compaction.run_with_recovery",
    "memctx.compaction.run_with_recovery_sync",
    # It raises ImportError for a package that is not installed, whatever its name.
    "memctx.bridge.require",
}


class Unanswered(Exception):  # noqa: N818 - no fault of ours
    """An exception of the caller's own object, which passes through unchanged."""


class Hostile:
    """An object that answers nothing."""

    def __getattr__(self, name: str) -> Any:
        raise Unanswered(name)


def nested(depth: int = 3_000) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def cyclic() -> list[Any]:
    message: dict[str, Any] = {"role": "user", "content": []}
    message["content"].append(message)
    return [message]


def nasty() -> dict[str, Any]:
    """Return values that hardly any argument takes, by name."""
    return {
        "None": None,
        "minus one": -1,
        "beyond 64 bits": 2**70,
        "below 64 bits": -(2**70),
        "beyond a float": 2**2000,
        "nan": math.nan,
        "inf": math.inf,
        "true": True,
        "lone surrogate": "half \ud83d a pair",
        "zero byte": "a\x00b",
        "bytes": b"\xff\x00",
        "empty": "",
        "long text": "x" * 20_000,
        "secret": f"token {SECRET}",
        "list": [1, None],
        "list of texts": ["\ud83d", "\x00"],
        "nested": nested(),
        "cyclic": cyclic(),
        "dict": {"\ud83d": object()},
        "nested message": [{"role": "user", "content": nested()}],
        "deep dict": [{"role": "user", "content": [{"type": "text", "text": nested()}]}],
        "object": object(),
        "hostile": Hostile(),
        "hostile list": [Hostile()],
        "class": int,
        "function": print,
        "generator": iter(()),
    }


class Call(NamedTuple):
    """Something that may be called."""

    name: str
    make: Callable[[Path], Callable[..., Any]]
    """Gives what is called, for a folder of its own."""
    parameters: tuple[inspect.Parameter, ...]


SUITABLE: dict[str, Any] = {
    "query": "which port?",
    "text": "The webhook listens on port 8443",
    "texts": ["The webhook listens on port 8443"],
    "content": "The webhook listens on port 8443",
    "messages": [{"role": "user", "content": "The webhook listens on port 8443"}],
    "id": "a",
    "ids": ["a"],
    "name": "webhook",
    "keywords": ["webhook"],
    "session_id": "s1",
    "k": 3,
    "key": 7,
    "dim": 384,
    "limit": 3,
}


def suitable(name: str, folder: Path) -> Any:
    """Return a value that an argument of that name may well take."""
    if name in {"path", "storage_path", "store", "memory", "source", "root", "folder"}:
        return str(folder / "given")
    return SUITABLE.get(name)


def calls() -> Iterator[Call]:
    """Return every public function, class and method of an object that can be made without a model."""
    for where in ["memctx", *modules()]:
        module = importlib.import_module(where)
        for name in sorted(getattr(module, "__all__", ())):
            value = getattr(module, name)
            if callable(value) and f"{where}.{name}" not in PASSED_OVER and not _is_error(value):
                yield from _call(f"{where}.{name}", partial(_itself, value), value)
    for name, make in OBJECTS.items():
        kind = KINDS[name]
        for method, value in inspect.getmembers(kind, callable):
            if not method.startswith("_") and method not in {"reopen", "close"}:
                yield from _call(f"{name}.{method}", partial(_method, make, method), value, skip=1)


def _itself(value: Any, _: Path) -> Any:
    return value


def _method(make: Callable[[Path], Any], name: str, folder: Path) -> Any:
    return getattr(make(folder), name)


def modules() -> list[str]:
    """Return the packages that export names."""
    left_out = {
        "memctx.__main__",
        "memctx._core",
        "memctx.cli",
        "memctx.cli.replay.page",
        "memctx.errors",
    }
    # Adapters need their frameworks; what is in them is tested there.
    found = (each.name for each in pkgutil.walk_packages(memctx.__path__, "memctx.", str))
    adapters = "memctx.integrations."
    names = [name for name in found if name not in left_out and not name.startswith(adapters)]
    return [name for name in names if hasattr(importlib.import_module(name), "__all__")]


def _memory(folder: Path) -> Any:
    return memctx.open(folder / "memory", session_id="s1", context_window=8_000)


def _bm25(_: Path) -> Any:
    index = memctx.lowlevel.Bm25Index()
    index.add("a", "one text")
    return index


OBJECTS: dict[str, Callable[[Path], Any]] = {
    "Memory": _memory,
    "Facts": lambda folder: _memory(folder).facts,
    "Store": lambda folder: _memory(folder).store,
    "FactStore": lambda folder: memctx.lowlevel.FactStore(
        folder / "facts", memctx.lowlevel.StoreOptions(session_id="s1")
    ),
    "LogReader": lambda folder: memctx.lowlevel.LogReader(_memory(folder).store.path),
    "LineWriter": lambda folder: memctx.lowlevel.LineWriter(folder / "memory"),
    "Bm25Index": _bm25,
    "FlatIndex": lambda _: memctx.lowlevel.FlatIndex(3),
    "HashEmbedder": lambda _: memctx.lowlevel.HashEmbedder(64),
    "Redactor": lambda _: memctx.Redactor(),
}


def _kinds() -> dict[str, type]:
    from memctx.facts import Facts  # noqa: PLC0415 - with all it needs

    return {"Memory": memctx.Memory, "Facts": Facts} | {
        name: getattr(memctx.lowlevel, name, None) or getattr(memctx, name)
        for name in OBJECTS
        if name not in {"Memory", "Facts"}
    }


KINDS = _kinds()


def _is_error(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


def _call(
    name: str, make: Callable[[Path], Callable[..., Any]], value: Any, skip: int = 0
) -> Iterator[Call]:
    try:
        parameters = tuple(inspect.signature(value).parameters.values())[skip:]
    except (ValueError, TypeError):
        return
    takes = tuple(
        each for each in parameters if each.kind not in {each.VAR_POSITIONAL, each.VAR_KEYWORD}
    )
    if takes:
        yield Call(name, make, takes)

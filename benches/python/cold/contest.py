"""Runner of the engines: a process to build each store, and one to search each, all of a size in turn."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from cold import build, engine, figures
from cold.material import Material, questions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

SOURCES = Path(__file__).parents[1]


class Process:
    """A process that has one store open and searches it."""

    def __init__(self, name: str, folder: Path, asked: Path) -> None:
        command = [sys.executable, "-m", "cold.ask", name, str(folder), str(asked)]
        self._process = subprocess.Popen(
            command, cwd=SOURCES, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._to.close()
        self._process.wait()

    def ask(self, do: str, **task: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        self._to.write(json.dumps({"do": do, **task}) + "\n")
        self._to.flush()
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    @property
    def _to(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin


class Contest:
    """A folder with the material and a store for each engine at each size."""

    def __init__(self, folder: Path, names: Sequence[str], *, reuse: bool) -> None:
        self._folder = folder.resolve()
        self._names = names
        self._reuse = reuse
        self.material = Material(self._folder / "material")

    def build(self, size: int) -> dict[str, dict[str, Any]]:
        """Fill the stores of a size, each in its own process; return the costs."""
        return {name: self._built(name, size) for name in self._names}

    def search(self, size: int, rounds: int, seconds: float) -> dict[str, dict[str, Any]]:
        """Search the stores of a size: a round to warm up, the rounds that count, the memory, the recall.

        All queries of one engine, then of the next, and again; a slow engine runs as many queries as there is time.
        """
        asked = self._folder / "questions.json"
        asked.write_text(json.dumps([each.to_json() for each in questions()]), encoding="utf-8")
        found: dict[str, dict[str, Any]] = {}
        with ExitStack() as stack:
            processes = {
                name: stack.enter_context(Process(name, self._store(name, size), asked))
                for name in self._names
            }
            for process in processes.values():
                process.ask("search", seconds=seconds)
            turns: dict[str, list[dict[str, Any]]] = {name: [] for name in processes}
            for _ in range(rounds):
                for name, process in processes.items():
                    turns[name].append(process.ask("search", seconds=seconds))
            for name, process in processes.items():
                memory = process.ask("memory")
                ids = process.ask("nearest", seconds=seconds)["ids"]
                near = engine.load(name).numbers(self._store(name, size), ids)
                built = json.loads(build.kept(self._store(name, size)).read_text(encoding="utf-8"))
                recall = self.material.recall(size, near)
                found[name] = figures.figures(built, turns[name], memory, recall)
                found[name]["compared"] = len(near)
        return found

    def _store(self, name: str, size: int) -> Path:
        return self._folder / str(size) / name

    def _built(self, name: str, size: int) -> dict[str, Any]:
        folder = self._store(name, size)
        kept = build.kept(folder)
        if not (self._reuse and kept.exists()):
            folder.parent.mkdir(parents=True, exist_ok=True)
            arguments = [name, str(self._folder / "material"), str(size), str(folder)]
            command = [sys.executable, "-m", "cold.build", *arguments]
            subprocess.run(command, cwd=SOURCES, check=True)
        built: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return built

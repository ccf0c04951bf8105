"""Quality of fact search; `python -m facts.search_quality`, run in ``tests``, prints it.

Recall at 5 is the share of questions whose fact is among the first five; silence is the share of questions without an
answer that find nothing.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx._core import FactStore, StoreOptions

from . import crowd as crowds

if TYPE_CHECKING:
    from collections.abc import Sequence

QUESTIONS = Path(__file__).with_name("questions.toml")
FOUND = 5


@dataclass(frozen=True)
class Score:
    """Results for the questions of one language."""

    language: str
    questions: int
    missed: tuple[str, ...]
    first: int
    silent: int
    spoken: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def recall(self) -> float:
        """The share of questions whose fact is among the first five."""
        return 1 - len(self.missed) / self.questions

    @property
    def silence(self) -> float:
        """The share of questions without an answer that find nothing."""
        return 1 - len(self.spoken) / self.silent


def read() -> dict[str, Any]:
    """Return the facts and the questions."""
    return tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))


def scores(folder: Path, *, held_out: bool = False, crowd: Sequence[str] = ()) -> list[Score]:
    """Ask every question of a store with all facts: the questions used for tuning, or the held-out ones.

    ``crowd`` are further facts that no question is about.
    """
    asked = read()
    chosen = asked["held_out"] if held_out else asked
    store = FactStore(folder / "memory", StoreOptions(session_id="s", durability="os"))
    for name, content in asked["facts"].items():
        store.add("config", content, id=name)
    crowds.fill(store, crowd)
    return [
        _score(store, language, chosen["questions"][language], chosen["silent"][language])
        for language in chosen["questions"]
    ]


def _score(
    store: FactStore, language: str, questions: dict[str, list[str]], silent: list[str]
) -> Score:
    found = {
        question: tuple(hit.fact.id for hit in store.search(question, limit=FOUND))
        for question in (*questions, *silent)
    }
    return Score(
        language,
        len(questions),
        tuple(q for q, wanted in questions.items() if not {*wanted} & {*found[q]}),
        sum(found[q][0] in wanted for q, wanted in questions.items() if found[q]),
        len(silent),
        tuple((q, found[q]) for q in silent if found[q]),
    )


def overall(results: list[Score]) -> tuple[float, float]:
    """Return recall at 5 and silence over all languages."""
    asked, silent = sum(s.questions for s in results), sum(s.silent for s in results)
    missed, spoken = sum(len(s.missed) for s in results), sum(len(s.spoken) for s in results)
    return 1 - missed / asked, 1 - spoken / silent


def table(results: list[Score]) -> str:
    """Format the scores as a table."""
    lines = ["language  questions  recall@5  first  silent questions  silence"]
    lines += [
        f"{s.language:8}  {s.questions:9}  {s.recall:8.3f}  {s.first:5}  {s.silent:16}  {s.silence:7.3f}"
        for s in results
    ]
    asked, silent = sum(s.questions for s in results), sum(s.silent for s in results)
    (recall, silence), first = overall(results), sum(s.first for s in results)
    lines.append(f"all       {asked:9}  {recall:8.3f}  {first:5}  {silent:16}  {silence:7.3f}")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, the missed questions and the false answers."""
    many = crowds.sentences(10_000)
    for name, held_out, crowd in (
        ("chosen by", False, ()),
        ("held out", True, ()),
        ("chosen by, among 10,000 other facts", False, many),
        ("held out, among 10,000 other facts", True, many),
    ):
        with tempfile.TemporaryDirectory() as folder:
            results = scores(Path(folder), held_out=held_out, crowd=crowd)
        sys.stdout.write(f"{name}\n{table(results)}\n")
        for score in results:
            for question in score.missed:
                sys.stdout.write(f"missed  {question}\n")
            for question, found in score.spoken:
                sys.stdout.write(f"spoken  {question}  {', '.join(found)}\n")


if __name__ == "__main__":
    main()

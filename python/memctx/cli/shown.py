"""How an outcome reaches a person or a program: tables on a terminal, plain text in a pipe, JSON on request."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from memctx.commands import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from memctx.commands import Outcome, Part

FOUND_NOTHING = 1
"""The exit code where nothing was found, or a check did not hold."""

SHORT = frozenset({"id", "when", "role", "type", "state"})
"""Columns that are never broken into lines."""
NARROW = 80
TENTHS = 10
SPARE = frozenset({"when"})
"""Columns that a narrow terminal does without."""
STYLES = {"id": "cyan", "when": "dim", "score": "green", "session": "cyan"}
WORDS = {"bad": "bold red", "note": "yellow", "ok": "green", "forgotten": "red", "holds": "green"}


def show(outcome: Outcome, *, is_json: bool) -> None:
    """Print an outcome, and end with the exit code it stands for."""
    if is_json:
        click.echo(json.dumps(outcome.data, ensure_ascii=False, indent=2))
    elif sys.stdout.isatty():
        console = Console(highlight=False)
        is_narrow = console.width < NARROW
        for place, part in enumerate(outcome.printable()):
            if place:
                console.print()
            console.print(_rich(part, is_narrow=is_narrow))
    else:
        click.echo(outcome.text)
    if not outcome.is_ok:
        click.get_current_context().exit(FOUND_NOTHING)


def working(words: str) -> AbstractContextManager[object]:
    """Say on a terminal that something takes its time. Nothing of it goes into a pipe."""
    console = Console(stderr=True)
    return console.status(f"{words} …") if console.is_terminal else nullcontext()


@contextmanager
def progress(words: str, total: int) -> Generator[Callable[[int, int], None], None, None]:
    """A bar on a terminal; what is yielded moves it. Nothing of it goes into a pipe."""
    from rich.progress import Progress  # noqa: PLC0415 - hardly any command has one

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(words, total=total)
        yield lambda done, of: bar.update(task, completed=done, total=of)


@contextmanager
def steps(words: str) -> Generator[Callable[[int, int], None], None, None]:
    """As `progress`, for what takes long enough that a pipe is told too: a line where errors go, for every tenth."""
    if Console(stderr=True).is_terminal:
        with progress(words, 1) as advance:
            yield advance
        return
    told = -1

    def tell(done: int, total: int) -> None:
        nonlocal told
        tenth = TENTHS * done // total if total else TENTHS
        if tenth > told:
            told = tenth
            click.echo(f"{words}: {100 * tenth // TENTHS} %", err=True)

    yield tell


def _rich(part: Part, *, is_narrow: bool) -> RichTable | Text:
    if not isinstance(part, Table):
        return Text(part)
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    shown = [
        place for place, heading in enumerate(part.headings) if not (is_narrow and heading in SPARE)
    ]
    for heading in (part.headings[place] for place in shown):
        is_right = heading in part.right
        table.add_column(
            heading,
            justify="right" if is_right else "left",
            style=STYLES.get(heading),
            no_wrap=is_right or heading in SHORT,
            overflow="fold",
        )
    for row in part.rows:
        cells = (row[place] for place in shown)
        table.add_row(*(Text(cell, style=WORDS.get(cell, "")) for cell in cells))
    return table

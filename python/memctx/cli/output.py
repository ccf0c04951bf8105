"""Output of the command line: tables on a terminal, plain text in a pipe, JSON on request; progress on stderr."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from memctx.cli.escaping import json_text
from memctx.cli.verbs import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from memctx.cli.verbs import Outcome, Part

NOT_OK = 1
"""Exit code if nothing was found or a check failed."""

UNWRAPPED = frozenset({"id", "when", "role", "type", "state"})
"""Columns that are never wrapped."""
NARROW = 80
TENTHS = 10
OPTIONAL = frozenset({"when"})
"""Columns that a narrow terminal does not show."""
STYLES = {"id": "cyan", "when": "dim", "score": "green", "session": "cyan"}
MARKED = "bold yellow"
WORDS = {"bad": "bold red", "note": "yellow", "ok": "green", "forgotten": "red", "active": "green"}


def print_outcome(outcome: Outcome, *, is_json: bool) -> None:
    """Print an outcome and exit with its code."""
    if is_json:
        click.echo(json_text(outcome.data, indent=2))
    elif sys.stdout.isatty():
        console = Console(highlight=False)
        is_narrow = console.width < NARROW
        for number, part in enumerate(outcome.printable()):
            if number:
                console.print()
            console.print(render(part, is_narrow=is_narrow))
    elif outcome.parts:
        click.echo(outcome.text)
    if not outcome.is_ok:
        click.get_current_context().exit(NOT_OK)


def show_status(words: str) -> AbstractContextManager[object]:
    """Show a spinner on a terminal, and nothing in a pipe."""
    console = Console(stderr=True)
    return console.status(f"{words} …") if console.is_terminal else nullcontext()


@contextmanager
def show_progress(words: str, total: int) -> Generator[Callable[[int, int], None], None, None]:
    """Show a progress bar on a terminal and nothing in a pipe; yield the function that advances it."""
    from rich.progress import Progress  # noqa: PLC0415 - few commands have one

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(words, total=total)
        yield lambda done, of: bar.update(task, completed=done, total=of)


@contextmanager
def log_progress(words: str) -> Generator[Callable[[int, int], None], None, None]:
    """Show a progress bar on a terminal; write one line to stderr for every tenth otherwise."""
    if Console(stderr=True).is_terminal:
        with show_progress(words, 1) as advance:
            yield advance
        return
    logged = -1

    def log(done: int, total: int) -> None:
        nonlocal logged
        tenth = TENTHS * done // total if total else TENTHS
        if tenth > logged:
            logged = tenth
            click.echo(f"{words}: {100 * tenth // TENTHS} %", err=True)

    yield log


def render(part: Part, *, is_narrow: bool) -> RichTable | Text:
    """Return a part as a terminal shows it."""
    if not isinstance(part, Table):
        return Text(part)
    table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    columns = [
        index
        for index, heading in enumerate(part.headings)
        if not (is_narrow and heading in OPTIONAL)
    ]
    for heading in (part.headings[index] for index in columns):
        is_right = heading in part.right
        table.add_column(
            heading,
            justify="right" if is_right else "left",
            style=STYLES.get(heading),
            no_wrap=is_right or heading in UNWRAPPED,
            overflow="fold",
        )
    for row in part.rows:
        cells = [Text(row[index], style=WORDS.get(row[index], "")) for index in columns]
        cells[-1].highlight_words(part.marked, MARKED, case_sensitive=False)
        table.add_row(*cells)
    return table

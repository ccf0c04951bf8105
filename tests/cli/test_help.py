"""Help texts: each command and option says what it is, in whole sentences that fit a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import click
import pytest
from click.testing import CliRunner

from memctx.cli import app, main
from memctx.commands import bench, memories
from memctx.config import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUPS = {"memory", "facts", "context", "config"}


def commands(group: click.Group, *before: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        yield (*before, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *before, name)


ALL = dict(commands(main))


def test_the_commands_are_those_of_the_contract() -> None:
    assert {" ".join(path) for path in ALL} - GROUPS == {
        "status", "search", "show", "stats", "memory show", "memory add", "memory forget", "memory search",
        "facts list", "facts history", "context list", "context detail", "compact", "verify", "reindex",
        "reembed", "gc", "bench",
        "replay", "report", "import", "export", "config show", "config check", "doctor",
    }  # fmt: skip


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_is_whole(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, [*path, "--help"], terminal_width=80)
    assert result.exit_code == 0
    assert "..." not in result.output.partition("Commands:")[2], result.output
    assert all(len(line) <= 80 for line in result.output.splitlines())
    command = ALL[path]
    assert command.help
    assert command.help.split("\n")[0].endswith(".")
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, option.name


def test_every_command_has_json_and_those_on_a_store_its_place() -> None:
    without = {
        "config show",
        "config check",
        "context list",
        "context detail",
        "bench",
        "replay",
        "report",
    }
    for path, command in ALL.items():
        names = {option for each in command.params for option in each.opts}
        if " ".join(path) not in GROUPS:
            assert "--json" in names
            assert ("--store" in names) == (" ".join(path) not in without)


def test_what_deletes_or_rewrites_has_yes() -> None:
    has_yes = {
        " ".join(path)
        for path, command in ALL.items()
        if "--yes" in {option for each in command.params for option in each.opts}
    }
    assert has_yes == {"memory forget", "compact", "verify", "gc"}


def test_the_first_help_shows_every_line_in_full() -> None:
    output = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    listed = output.partition("Commands:")[2]
    assert "..." not in listed
    assert "Exit codes:" in output
    assert listed.index("status") < listed.index("search") < listed.index("doctor")


def test_choices_are_those_of_the_settings_and_verbs() -> None:
    assert get_args(Ranking) == app.RANKINGS
    assert memories.ADDED_AS == app.ADDED_AS
    assert bench.BATCH == app.LEAST_BENCH


def test_a_slip_is_exit_code_2() -> None:
    result = CliRunner().invoke(main, ["serach"])
    assert result.exit_code == 2
    assert "No such command" in result.stderr

"""The verb table: help texts in whole sentences that fit a terminal, and handlers that take what it lists."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, get_args

import click
import pytest
from click.testing import CliRunner

from memctx.cli import main
from memctx.cli.verbs.table import VERBS
from memctx.config import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memctx.cli.verbs.verb import Verb

GROUPS = {"facts", "context", "config", "fleet"}


def commands(group: click.Group, *before: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
        yield (*before, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *before, name)


ALL = dict(commands(main))


def test_shell_commands_are_pinned() -> None:
    assert {" ".join(path) for path in ALL} - GROUPS == {
        "status", "search", "show", "sizes", "notes", "facts add", "facts forget", "facts search",
        "facts list", "facts history", "context list", "context detail", "compact", "verify", "reindex",
        "reembed", "gc", "bench", "profile",
        "demo", "replay", "import", "export", "config show", "config check", "doctor", "mcp",
        "install", "uninstall", "hook", "serve", "ui", "push", "pull", "fleet add", "fleet erase", "fleet gc",
        "fleet migrate", "fleet status", "fleet verify",
    }  # fmt: skip


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_command_help_is_complete(path: tuple[str, ...]) -> None:
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


def test_every_command_has_json_and_those_on_a_store_name_it() -> None:
    without = {
        "config show",
        "config check",
        "context list",
        "context detail",
        "demo",
        "replay",
        "bench",
        "install",
        "uninstall",
        *(name for name in map(" ".join, ALL) if name.startswith("fleet ")),
    }
    for path, command in ALL.items():
        names = {option for each in command.params for option in each.opts}
        if " ".join(path) not in GROUPS:
            assert ("--json" in names) == (
                path not in {("mcp",), ("hook",), ("ui",)}
            )  # stdout belongs to the protocol, or has the address alone
            assert ("--store" in names) == (" ".join(path) not in without)


def test_commands_that_delete_or_rewrite_have_yes() -> None:
    has_yes = {
        " ".join(path)
        for path, command in ALL.items()
        if "--yes" in {option for each in command.params for option in each.opts}
    }
    assert has_yes == {
        "facts forget",
        "compact",
        "verify",
        "gc",
        "install",
        "uninstall",
        "fleet erase",
        "fleet gc",
    }


def test_main_help_shows_every_summary_in_full() -> None:
    output = CliRunner().invoke(main, ["--help"], terminal_width=80).output
    listed = output.partition("Commands:")[2]
    assert "..." not in listed
    assert "Exit codes:" in output
    assert listed.index("status") < listed.index("search") < listed.index("doctor")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_handler_takes_the_parameters_of_its_verb(verb: Verb) -> None:
    request, *keywords = inspect.signature(verb.load()).parameters.values()
    assert request.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = {each.name for each in keywords if each.kind is not inspect.Parameter.VAR_KEYWORD}
    takes_more = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in keywords)
    given = {each.name for each in verb.parameters}
    assert names <= given
    assert takes_more or names == given
    required = {each.name for each in keywords if each.default is inspect.Parameter.empty}
    required -= {each.name for each in keywords if each.kind is inspect.Parameter.VAR_KEYWORD}
    assert required <= {each.name for each in verb.parameters if each.is_required}


def test_names_of_verbs_and_aliases_are_unique() -> None:
    names = [name for verb in VERBS for name in (verb.name, *verb.aliases)]
    assert len(names) == len(set(names))
    assert all(verb.in_shell or verb.in_chat for verb in VERBS)


def test_an_unknown_ranking_is_exit_code_2(store: Path) -> None:
    result = CliRunner().invoke(main, ["search", "x", "--ranking", "none", "--store", str(store)])
    assert result.exit_code == 2
    for known in get_args(Ranking):
        assert known in result.stderr


def test_an_unknown_command_is_exit_code_2() -> None:
    result = CliRunner().invoke(main, ["serach"])
    assert result.exit_code == 2
    assert "No such command" in result.stderr

"""The click application, made from the verb table: commands, common options, exit codes."""

from __future__ import annotations

from datetime import UTC, datetime
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import memctx
from memctx import replica
from memctx.cli import output
from memctx.cli.escaping import terminal
from memctx.cli.verbs.table import GROUPS, VERBS
from memctx.errors import ConfigError, MemctxError, MessageFormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memctx.cli.verbs.verb import CommonOption, Parameter, Verb

INTERRUPTED: dict[str, str] = dict.fromkeys(
    ("import", "push", "pull", "reembed", "reindex"), "interrupted; run it again to resume"
)
"""Messages after Ctrl-C, by command: these have kept what they had done."""
TIME_FORMATS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")
EPILOG = """\b
Exit codes:
  0  success
  1  nothing found, or a check failed
  2  wrong usage or settings
  3  a file could not be read or written
  130  interrupted by Ctrl-C

Commands that delete or rewrite describe the changes; --yes applies them.
"""


class Failure(click.ClickException):
    """A file could not be read or written."""

    exit_code = 3

    def show(self, file: Any = None) -> None:  # noqa: ANN401 - as click has it
        """Print the message to stderr."""
        click.echo(f"memctx: {terminal(self.format_message())}", file=file, err=True)


class Misuse(Failure):
    """Wrong usage or settings."""

    exit_code = 2


class Interrupted(Failure):
    """The person pressed Ctrl-C."""

    exit_code = 130


class OrderedGroup(click.Group):
    """A group that lists its commands in the order of the verb table."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click has it
        """Return the names of the commands, in order."""
        return list(self.commands)


class Application(OrderedGroup):
    """The command line; errors of memctx become one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (ConfigError, MessageFormatError) as error:
            raise Misuse(str(error)) from error
        except (MemctxError, OSError) as error:
            raise Failure(str(error)) from error
        except KeyboardInterrupt:
            raise Interrupted(
                INTERRUPTED.get(ctx.invoked_subcommand or "", "interrupted")
            ) from None


class Time(click.DateTime):
    """A time in UTC, the zone in which times are shown."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> datetime:
        """Return the time with its zone."""
        found: datetime = super().convert(value, param, ctx)
        return found.replace(tzinfo=UTC)


class Store(click.Path):
    """The directory of a store."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - as click has it
        """Return the path; refuse the address of a server, which may hold a password."""
        if replica.is_server(value):
            self.fail(
                "expected a directory; for memory on a server see `memctx fleet --help`, or fetch a copy:"
                " memctx pull ADDRESS --store DIRECTORY",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


@click.group(
    cls=Application, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(memctx.__version__, prog_name="memctx", message="%(prog)s %(version)s")
def main() -> None:
    """Search, correct and maintain the memory of LLM agents."""


def make_command(verb: Verb) -> click.Command:
    """Return the command of a verb."""
    return click.Command(
        verb.name.rpartition(" ")[2],
        params=[
            *map(_click_parameter, verb.parameters),
            *(_common_option(each) for each in verb.common),
        ],
        callback=_callback(verb),
        help=_help(verb.summary, verb.details),
    )


def _callback(verb: Verb) -> Callable[..., None]:
    def run(
        *,
        common_store: Path | None = None,
        common_session: str | None = None,
        config_file: Path | None = None,
        is_json: bool = False,
        **given: Any,  # noqa: ANN401 - the parameters of the verb
    ) -> None:
        from memctx.cli.verbs.shell import ShellRequest  # noqa: PLC0415 - help does not load the memory

        request = ShellRequest(common_store, common_session, config_file)
        options = {
            each.name: " ".join(given[each.name]) if each.kind == "words" else given[each.name]
            for each in verb.parameters
            if given[each.name] not in (None, ())
        }
        output.print_outcome(verb.load()(request, **options), is_json=is_json)

    return run


def _help(summary: str, details: str) -> str:
    return f"{summary}.\n\n{cleandoc(details)}".rstrip()


def _argument_metavar(parameter: Parameter) -> str | None:
    if parameter.metavar is None or parameter.is_required:
        return parameter.metavar
    return f"[{parameter.metavar}]"


def _click_parameter(parameter: Parameter) -> click.Parameter:
    kind = _click_type(parameter)
    if not parameter.flags:
        return click.Argument(
            [parameter.name],
            type=kind,
            required=parameter.is_required,
            nargs=-1 if parameter.kind == "words" else 1,
            metavar=_argument_metavar(parameter),
        )
    return click.Option(
        [*parameter.flags.split(), parameter.name],
        type=kind,
        is_flag=parameter.kind == "flag",
        multiple=parameter.is_repeated,
        default=parameter.default,
        show_default=parameter.default is not None,
        metavar=parameter.metavar,
        help=parameter.help,
    )


def _click_type(parameter: Parameter) -> click.ParamType[Any] | None:
    low, high = parameter.minimum, parameter.maximum
    if parameter.choices:
        return click.Choice(parameter.choices)
    if parameter.kind == "integer":
        return click.IntRange(min=None if low is None else int(low))
    if parameter.kind == "number":
        return click.FLOAT if low is None else click.FloatRange(low, high)
    if parameter.kind == "time":
        return Time(TIME_FORMATS)
    if parameter.kind in {"path", "file", "folder"}:
        return click.Path(
            path_type=Path,
            exists=parameter.must_exist,
            file_okay=parameter.kind != "folder",
            dir_okay=parameter.kind != "file",
        )
    return None


def _common_option(name: CommonOption) -> click.Option:
    if name == "store":
        return click.Option(
            ["--store", "common_store"],
            type=Store(path_type=Path),
            help="Directory of the store.  [default: $MEMCTX_STORAGE_PATH, else ~/.memctx]",
        )
    if name == "session":
        return click.Option(
            ["--session", "common_session"],
            metavar="ID",
            help="Session to use.  [default: all, or the only one]",
        )
    if name == "config":
        return click.Option(
            ["--config", "config_file"],
            type=click.Path(path_type=Path, dir_okay=False),
            help="Settings file: .toml, .json, .json5, or an openclaw.json.",
        )
    return click.Option(["--json", "is_json"], is_flag=True, help="Print JSON.")


def _add_commands() -> None:
    groups: dict[str, click.Group] = {}
    for verb in VERBS:
        if not verb.in_shell:
            continue
        name, _, inner = verb.name.partition(" ")
        if inner and name not in groups:
            groups[name] = OrderedGroup(name, help=_help(*GROUPS[name]))
            main.add_command(groups[name])
        (groups[name] if inner else main).add_command(make_command(verb))


_add_commands()

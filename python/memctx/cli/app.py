"""The commands. Each names its options, opens the store, and leaves the rest to a verb of `memctx.commands`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import memctx
from memctx.cli import shown
from memctx.cli.later import later
from memctx.cli.place import Place, placed, placing
from memctx.commands import Outcome, wording
from memctx.errors import ConfigError, MemctxError, MessageShapeError
from memctx.knowledge.draft import FACT_TYPES

if TYPE_CHECKING:
    from memctx.commands import (
        archive,
        bench,
        compacting,
        context,
        doctor,
        facts,
        memories,
        moving,
        settings,
        status,
        transcripts,
        upkeep,
    )
    from memctx.commands.moving import Form
    from memctx.config import Config, Ranking
    from memctx.knowledge.draft import FactType
    from memctx.transfer import Format
else:
    archive, bench, compacting, context, doctor, facts = later(
        "commands.archive",
        "commands.bench",
        "commands.compacting",
        "commands.context",
        "commands.doctor",
        "commands.facts",
    )
    memories, moving, settings, status, transcripts, upkeep = later(
        "commands.memories",
        "commands.moving",
        "commands.settings",
        "commands.status",
        "commands.transcripts",
        "commands.upkeep",
    )

RANKINGS = ("best", "seed")
ADDED_AS = "config"
"""What a fact is where nobody says."""
LEAST_BENCH = 100

EPILOG = """\b
Exit codes:
  0  done
  1  nothing was found, or a check did not hold
  2  wrong usage or settings
  3  something on disk could not be read or written

What deletes or rewrites says what it would do, and does it with --yes.
"""


class Failure(click.ClickException):
    """Something on disk could not be read or written."""

    exit_code = 3

    def show(self, file: Any = None) -> None:  # noqa: ANN401 - as click has it
        """Say it where errors go."""
        click.echo(f"memctx: {wording.printable(self.format_message())}", file=file, err=True)


class Misuse(Failure):
    """Something was asked for that cannot be."""

    exit_code = 2


class Ordered(click.Group):
    """Commands in the order in which they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click has it
        """The commands, as they stand below."""
        return list(self.commands)


class Main(Ordered):
    """The command line; errors of memctx become one line and an exit code."""

    group_class = Ordered

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (ConfigError, MessageShapeError) as error:
            raise Misuse(str(error)) from error
        except (MemctxError, OSError) as error:
            raise Failure(str(error)) from error


@click.group(cls=Main, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(memctx.__version__, prog_name="memctx", message="%(prog)s %(version)s")
def main() -> None:
    """Look into the memory of LLM agents: search it, correct it, keep it sound."""


yes_option = click.option("--yes", "is_sure", is_flag=True, help="Do it, instead of saying what.")
limit_option = click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="At most."
)
window_option = click.option(
    "--window", type=click.IntRange(min=1), help="Tokens the model can take."
)
transcript_argument = click.argument(
    "transcript", type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
moment = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])


@main.command(name="status")
@placed
def status_command(place: Place) -> Outcome:
    """Context usage, compactions and duration of sessions."""
    with shown.working("Reading the store"), place.memory() as memory:
        return status.status(memory)


@main.command()
@click.argument("query", nargs=-1, required=True)
@limit_option
@click.option("--role", "roles", multiple=True, help="Only what these said: user, assistant, tool.")
@click.option("--topic", "topics", multiple=True, help="Only what is about these.")
@click.option("--since", type=moment, metavar="UTC", help="Only what was said from then on.")
@click.option("--until", type=moment, metavar="UTC", help="Only what was said until then.")
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=0.25,
    show_default=True,
    help="How well it must match; 0 shows all.",
)
@click.option("--ranking", type=click.Choice(RANKINGS), help="How hits are ordered.")
@click.option("--around", type=click.IntRange(min=0), default=0, help="Neighbours of each hit.")
@click.option("--explain", is_flag=True, help="Say how each score came about.")
@click.option("--all", "is_all", is_flag=True, help="Index what is not yet, and wait for all.")
@placed
def search(  # noqa: PLR0913 - the options
    place: Place,
    *,
    query: tuple[str, ...],
    limit: int,
    roles: tuple[str, ...],
    topics: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    min_score: float,
    ranking: Ranking | None,
    around: int,
    explain: bool,
    is_all: bool,
) -> Outcome:
    """Search what was archived; best first.

    What is not in memory is searched on disk, as far as it is indexed there; with --all, all of it.

    \b
    memctx search which port has the webhook
    memctx search stripe --role user --since 2026-02-01T14:30 --json
    """
    with place.memory() as memory:
        if is_all:
            with shown.progress("Indexing", 1) as advance:
                archive.reindex(memory, on_progress=advance)
        return archive.search(
            memory,
            " ".join(query),
            limit=limit,
            roles=roles or None,
            topics=topics or None,
            since=_utc(since),
            until=_utc(until),
            min_score=min_score,
            ranking=ranking,
            window=around,
            explain=explain,
            everything=is_all,
        )


@main.command()
@click.argument("id")
@click.option(
    "--around",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Neighbours on either side.",
)
@placed
def show(place: Place, *, id: str, around: int) -> Outcome:
    """One archived message, with what was said around it.

    ID may be the first characters of an id, as `search` shows them.
    """
    with place.memory() as memory:
        return archive.show(memory, id, neighbours=around)


@main.command()
@placed
def stats(place: Place) -> Outcome:
    """Counts of what the store holds."""
    with place.memory() as memory:
        return archive.stats(memory)


@main.group(name="memory")
def memory_group() -> None:
    """What is to be remembered: facts, and the notes of a workspace."""


@memory_group.command(name="show")
@click.argument("name", required=False)
@placed
def memory_show(place: Place, *, name: str | None) -> Outcome:
    """Files of the workspace and facts, or one file by NAME."""
    with place.memory() as memory:
        return memories.show(memory, name)


@memory_group.command(name="add")
@click.argument("fact", nargs=-1, required=True)
@click.option(
    "--type",
    "type_",
    type=click.Choice(FACT_TYPES),
    default=ADDED_AS,
    show_default=True,
    help="What kind of fact it is.",
)
@click.option("--context", "about", help="Where it came up.")
@placed
def memory_add(
    place: Place, *, fact: tuple[str, ...], type_: FactType, about: str | None
) -> Outcome:
    """Remember a fact.

    It belongs to the --session named, or to the only one there is.

    \b
    memctx memory add The webhook listens on port 8443 --session s1
    """
    with place.writing() as memory:
        return memories.add(memory, " ".join(fact), type=type_, context=about)


@memory_group.command(name="forget")
@click.argument("id")
@yes_option
@placed
def memory_forget(place: Place, *, id: str, is_sure: bool) -> Outcome:
    """Take a fact back; its history keeps it."""
    with place.memory() as memory:
        return _unless(memories.forget(memory, id, is_sure=is_sure), is_sure=is_sure)


@memory_group.command(name="search")
@click.argument("query", nargs=-1, required=True)
@limit_option
@placed
def memory_search(place: Place, *, query: tuple[str, ...], limit: int) -> Outcome:
    """Search facts, notes and the archive at once."""
    with place.memory() as memory:
        return memories.search(memory, " ".join(query), limit=limit)


@main.group(name="facts")
def facts_group() -> None:
    """What is known, and how it came to be."""


@facts_group.command(name="list")
@click.option("--type", "types", type=click.Choice(FACT_TYPES), multiple=True, help="Only these.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most.")
@click.option("--all", "is_all", is_flag=True, help="Also those that others took the place of.")
@placed
def facts_list(
    place: Place, *, types: tuple[FactType, ...], limit: int | None, is_all: bool
) -> Outcome:
    """The facts that hold, newest first."""
    with place.memory() as memory:
        return facts.listed(memory, types=types or None, limit=limit, include_superseded=is_all)


@facts_group.command(name="history")
@click.argument("id")
@placed
def facts_history(place: Place, *, id: str) -> Outcome:
    """How a fact came to be what it is, oldest state first."""
    with place.memory() as memory:
        return facts.history(memory, id)


@main.group(name="context")
def context_group() -> None:
    """Where the tokens of a conversation go.

    A transcript is a session file of Pi or OpenClaw, lines of messages in any provider's shape, or a .json with a list
    of them.
    """


@context_group.command(name="list")
@transcript_argument
@window_option
@placing("config", "json")
def context_list(place: Place, *, transcript: Path, window: int | None) -> Outcome:
    """What each component of a conversation costs."""
    conversed = transcripts.read(transcript)
    return context.listed(conversed.messages, _windowed(place.config(), window))


@context_group.command(name="detail")
@transcript_argument
@window_option
@placing("config", "json")
def context_detail(place: Place, *, transcript: Path, window: int | None) -> Outcome:
    """The same by file, tool and message, and what is shortened."""
    conversed = transcripts.read(transcript)
    return context.detail(conversed.messages, _windowed(place.config(), window))


@main.command()
@transcript_argument
@click.argument("instructions", nargs=-1)
@window_option
@yes_option
@placed
def compact(
    place: Place,
    *,
    transcript: Path,
    instructions: tuple[str, ...],
    window: int | None,
    is_sure: bool,
) -> Outcome:
    """Summarise all but the newest messages of a session file.

    What leaves is archived in the store first. The file only grows, and what it held stays in it; one of an older
    version is rewritten beside a backup. INSTRUCTIONS say what the summary is to heed.

    \b
    memctx compact session.jsonl Focus on decisions and open questions --yes
    """
    conversed = transcripts.read(transcript)
    if not is_sure:
        config = _windowed(place.config(), window)
        return _unless(compacting.planned(conversed.messages, config), is_sure=False)
    if conversed.transcript is None or conversed.transcript.found_version is None:
        raise ConfigError(f"{transcript}: expected a session file to write to, not just messages")
    with shown.working("Summarising"), place.writing(conversed.session_id, window) as memory:
        return compacting.compacted(
            memory,
            conversed.messages,
            instructions=" ".join(instructions) or None,
            transcript=conversed.transcript,
        )


@main.command(name="replay")
@transcript_argument
@window_option
@click.option(
    "--html", "page", type=click.Path(path_type=Path, dir_okay=False), help="Write a page, too."
)
@placing("config", "json")
def replay_command(
    place: Place, *, transcript: Path, window: int | None, page: Path | None
) -> Outcome:
    """Show what memory would do in a recorded session.

    It goes through the turn, call by call, in a scratch store: what is pruned, trimmed and recalled, what the prompt
    cache saves, how long each turn takes. With --html, one page to look at, which needs no network.
    """
    with shown.working("Replaying"):
        return moving.replayed(transcript, config=place.config(), window=window, page=page)


@main.command()
@transcript_argument
@click.argument("page", required=False, type=click.Path(path_type=Path, dir_okay=False))
@window_option
@placing("config", "json")
def report(place: Place, *, transcript: Path, page: Path | None, window: int | None) -> Outcome:
    """Write a recorded session as a page to look at.

    PAGE is where it goes; by default beside the place you are in, under the name of the transcript.
    """
    with shown.working("Replaying"):
        return moving.reported(
            transcript,
            page or Path(f"{transcript.name.partition('.')[0]}.html"),
            config=place.config(),
            window=window,
        )


@main.command(name="import")
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option("--format", "form", help="What SOURCE is.  [default: found out from each file]")
@click.option("--extract", is_flag=True, help="Have facts extracted from it, too.")
@placing("store", "config", "json")
def import_command(place: Place, *, source: Path, form: Format | None, extract: bool) -> Outcome:
    """Import transcripts of other hosts: a file or a folder.

    Claude Code, Codex, Pi, OpenClaw, Gemini CLI, opencode, Aider and ChatGPT exports are known, and lines of plain
    messages. Sessions keep their ids, secrets are masked, nothing is stored twice; an import that was cut short goes on
    where it was.
    """
    store = Path(place.store or place.config().storage_path).expanduser()
    with shown.progress("Importing", 1000) as advance:
        return moving.imported(
            store,
            source,
            format=form,
            extract=extract,
            on_progress=lambda at: advance(1000 * at.bytes_done // max(at.bytes, 1), 1000),
        )


@main.command(name="export")
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--markdown", "is_markdown", is_flag=True, help="For people, instead of JSON lines.")
@placed
def export_command(place: Place, *, target: Path, is_markdown: bool) -> Outcome:
    """Export what is stored, for import elsewhere or for people."""
    form: Form = "markdown" if is_markdown else "jsonl"
    with shown.working("Writing"):
        return moving.exported(place.path(), target, form=form, session=place.session)


@main.command()
@click.option("--repair", is_flag=True, help="Move what cannot be read out of the way.")
@yes_option
@placing("store", "config", "json")
def verify(place: Place, *, repair: bool, is_sure: bool) -> Outcome:
    """Read all of the store and say what cannot be read.

    With --repair, damaged lines are moved to a file beside their log, and what is derived is made anew.
    """
    with shown.working("Reading the store"):
        outcome = upkeep.verify(place.path(), repair=repair, is_sure=is_sure)
    is_done = is_sure or not repair or outcome.is_ok
    return _unless(outcome, is_sure=is_done)


@main.command()
@click.option("--anew", is_flag=True, help="Throw the index away first, and index everything.")
@placing("store", "config", "json")
def reindex(place: Place, *, anew: bool) -> Outcome:
    """Index on disk what is not yet.

    Agents do so by themselves, in the background; this is for after a large import, or to have it done at once.
    Nothing is lost with the index: it is made from the log, and may be deleted at any time.
    """
    with place.memory() as memory, shown.steps("Indexing") as advance:
        return archive.reindex(memory, anew=anew, on_progress=advance)


@main.command()
@click.option(
    "--model", metavar="NAME", help="The embedding_model, where it is another than the settings'."
)
@placing("store", "config", "json")
def reembed(place: Place, *, model: str | None) -> Outcome:
    """Give everything stored vectors of the model that the settings name.

    Agents do so by themselves, in the background; this is to have it done at once. It may be stopped at any time, and
    goes on where it was. The vectors there are stay until all of the new ones are.
    """
    with place.memory(model) as memory, shown.steps("Embedding") as advance:
        return archive.reembed(memory, on_progress=advance)


@main.command()
@click.option("--older-than", type=float, metavar="DAYS", help="Delete what was said longer ago.")
@yes_option
@placed
def gc(place: Place, *, older_than: float | None, is_sure: bool) -> Outcome:
    """Delete from disk: what is old, a --session, or just leftovers.

    This is the one command that deletes what was archived. Facts go only with a whole session.
    """
    sessions = () if place.session is None else (place.session,)
    with shown.working("Reading the store"):
        outcome = upkeep.gc(
            place.path(), older_than_days=older_than, sessions=sessions, is_sure=is_sure
        )
    return _unless(outcome, is_sure=is_sure)


@main.command(name="bench")
@click.option(
    "--messages",
    "count",
    type=click.IntRange(min=LEAST_BENCH),
    default=5_000,
    show_default=True,
    help="How many to archive.",
)
@placing("json")
def bench_command(_: Place, *, count: int) -> Outcome:
    """Measure memory on this machine, in a scratch store."""
    with shown.progress("Archiving", count) as advance:
        return bench.bench(count, on_progress=advance)


@main.group(name="config")
def config_group() -> None:
    """The settings, and where they come from."""


@config_group.command(name="show")
@placing("config", "json")
def config_show(place: Place) -> Outcome:
    """Every setting, its value and where that comes from."""
    return settings.show(place.config_file)


@config_group.command(name="check")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@placing("config", "json")
def config_check(place: Place, *, file: Path | None) -> Outcome:
    """Whether settings of FILE and environment can be used."""
    return settings.check(file or place.config_file)


@main.command(name="doctor")
@placing("store", "config", "json")
def doctor_command(place: Place) -> Outcome:
    """Look whether everything is in place."""
    return doctor.doctor(place.store, file=place.config_file)


def _utc(at: datetime | None) -> datetime | None:
    """A moment in the time zone in which all of them are shown."""
    return None if at is None else at.replace(tzinfo=UTC)


def _windowed(config: Config, window: int | None) -> Config:
    return config if window is None else config.replace(context_window=window)


def _unless(outcome: Outcome, *, is_sure: bool) -> Outcome:
    """An outcome that says how to have it done, if it was not."""
    if is_sure:
        return outcome
    parts = (*outcome.parts, "Nothing was changed; add --yes to do it.")
    return Outcome(outcome.data, parts, is_ok=outcome.is_ok)

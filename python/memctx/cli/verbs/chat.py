"""`dispatch`: the verbs as slash commands, for hosts in which a person chats."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from memctx.cli.formatting import Table, format_count
from memctx.cli.verbs.outcome import Outcome
from memctx.cli.verbs.request import ChatRequest
from memctx.cli.verbs.table import VERBS
from memctx.compaction.plan import parse_compact_command
from memctx.errors import ConfigError, MemctxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memctx.cli.verbs.verb import Verb
    from memctx.hosts.pi import Transcript
    from memctx.memory import Memory
    from memctx.messages import FormatName

COMMANDS = {verb.chat_name or verb.name: verb for verb in VERBS if verb.in_chat}
ALIASES = {alias: verb for verb in COMMANDS.values() for alias in verb.aliases}


def dispatch(
    memory: Memory,
    line: str,
    *,
    messages: Sequence[Any] | None = None,
    format: FormatName | None = None,
    transcript: Transcript | None = None,
) -> Outcome | None:
    """Run a slash command; return None if the line is not one of memctx.

    ``messages`` are those of the conversation, which ``/context``, ``/compact``, ``/new`` and ``/reset`` need;
    ``outcome.action`` says whether to continue with other messages or in another session. Errors are not raised but
    described in the outcome, whose ``is_ok`` is False.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     print(dispatch(memory, "/memory forget 12345678"))
    ...     dispatch(memory, "How are you?") is None
    id is '12345678'; no fact has it
    True
    """
    instructions = parse_compact_command(line)
    found = find_command(line) if instructions is None else (COMMANDS["compact"], instructions)
    if found is None:
        return None
    verb, rest = found
    try:
        arguments = parse_arguments(verb, rest)
        return verb.load()(ChatRequest(memory, messages, format, transcript), **arguments)
    except (MemctxError, OSError) as error:
        described = {"type": type(error).__name__, "message": str(error)}
        return Outcome({"error": described}, (str(error),), is_ok=False)


def find_command(line: str) -> tuple[Verb, str] | None:
    """Return the verb that a line names with its first two words or its first, and the rest of the line."""
    line = line.strip()
    if not line.startswith("/"):
        return None
    words = line[1:].split(maxsplit=2)
    lowered = [word.lower() for word in words]
    for count in range(min(len(words), 2), 0, -1):
        name = " ".join(lowered[:count])
        if name in COMMANDS:
            parts = line.split(maxsplit=count)
            return COMMANDS[name], parts[count].strip() if len(parts) > count else ""
        if name in ALIASES:
            return ALIASES[name], ""
    return None


def parse_arguments(verb: Verb, rest: str) -> dict[str, Any]:
    """Return the handler's keywords: leading flags, then the rest of the line as the only argument.

    >>> parse_arguments(COMMANDS["search"], "--all payment  webhook")
    {'everything': True, 'query': 'payment  webhook'}

    Raises:
        ConfigError: a required argument is missing.
    """
    found: dict[str, Any] = {}
    while rest and (option := verb.chat_flags.get(rest.split(maxsplit=1)[0].lower())) is not None:
        found[option.name] = True
        rest = "".join(rest.split(maxsplit=1)[1:])
    for argument in verb.chat_arguments:
        if rest:
            found[argument.name] = rest
        elif argument.is_required:
            raise ConfigError(
                f"/{verb.chat_name or verb.name}: argument missing; expected {argument.help}"
            )
    return found


def start_session(request: ChatRequest) -> Outcome:
    """Archive the conversation and start a new session."""
    archived = _archive_messages(request)
    session = str(uuid.uuid4())
    words = f"New session: {session}. {archived}".rstrip()
    return Outcome({"session_id": session}, (words,), action="new", messages=[], session_id=session)


def reset_session(request: ChatRequest) -> Outcome:
    """Archive the conversation and restart its session."""
    archived = _archive_messages(request)
    session = request.memory.session_id
    words = f"The session restarts. {archived}".rstrip()
    return Outcome(
        {"session_id": session}, (words,), action="reset", messages=[], session_id=session
    )


def show_help(_: ChatRequest) -> Outcome:
    """List the slash commands."""
    rows = tuple(
        (f"/{usage}", words) for verb in COMMANDS.values() for usage, words in verb.chat_usages()
    )
    return Outcome({"commands": dict(rows)}, (Table(("command", "what it does"), rows),))


def _archive_messages(request: ChatRequest) -> str:
    if not request.messages:
        return ""
    archived = request.memory.archive(request.messages, format=request.format)
    return f"The conversation is archived: {format_count(archived.added, 'new segment')}."

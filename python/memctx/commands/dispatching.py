"""`dispatch`: the verbs as slash commands, for hosts in which a person chats."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from memctx.commands import archive, context, facts, memories, wording
from memctx.commands.compacting import compacted
from memctx.commands.outcome import Outcome, Table
from memctx.commands.status import status
from memctx.commands.upkeep import verify
from memctx.compact import manual
from memctx.errors import ConfigError, MemctxError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memctx import Memory
    from memctx.messages import Shape
    from memctx.session import Transcript


@dataclass(frozen=True, slots=True)
class Asked:
    """A command with all that its host gave."""

    memory: Memory
    rest: str
    """What stands behind the words of the command."""
    messages: Sequence[Any] | None
    shape: Shape | None
    transcript: Transcript | None

    def said(self) -> Sequence[Any]:
        """The messages of the conversation."""
        if self.messages is None:
            raise ConfigError("messages is None; this command needs those of the conversation")
        return self.messages

    def needed(self, what: str) -> str:
        """What stands behind the command, which must be there."""
        if not self.rest:
            raise ConfigError(f"nothing was said; expected {what}")
        return self.rest


Verb: TypeAlias = "Callable[[Asked], Outcome]"


def dispatch(
    memory: Memory,
    line: str,
    *,
    messages: Sequence[Any] | None = None,
    shape: Shape | None = None,
    transcript: Transcript | None = None,
) -> Outcome | None:
    """Carry out a slash command; None if the line is none of ours.

    ``messages`` are those of the conversation, which ``/context``, ``/compact``, ``/new`` and ``/reset`` need;
    ``outcome.action`` says whether to go on with other messages or in another session. What goes wrong is told in the
    outcome, which then is not ``is_ok``: a person reads it.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     print(dispatch(memory, "/memory forget 12345678"))
    ...     dispatch(memory, "How are you?") is None
    id is '12345678'; no fact has it
    True
    """
    instructions = manual(line)
    found = _found(line.strip()) if instructions is None else (_compact, instructions)
    if found is None:
        return None
    verb, rest = found
    try:
        return verb(Asked(memory, rest, messages, shape, transcript))
    except (MemctxError, OSError) as error:
        told = {"type": type(error).__name__, "message": str(error)}
        return Outcome({"error": told}, (str(error),), is_ok=False)


def _found(line: str) -> tuple[Verb, str] | None:
    """The verb of a line, by its first two words or its first, and the rest of the line."""
    if not line.startswith("/"):
        return None
    words = line[1:].split(maxsplit=2)
    lowered = [word.lower() for word in words]
    for count in (2, 1):
        verb = VERBS.get(" ".join(lowered[:count]))
        if verb is not None and len(words) >= count:
            parts = line.split(maxsplit=count)
            return verb, parts[count].strip() if len(parts) > count else ""
    return None


def _compact(asked: Asked) -> Outcome:
    return compacted(
        asked.memory,
        asked.said(),
        instructions=asked.rest or None,
        shape=asked.shape,
        transcript=asked.transcript,
    )


def _new(asked: Asked) -> Outcome:
    kept = _kept(asked)
    fresh = str(uuid.uuid4())
    words = f"A new session begins: {fresh}. {kept}".rstrip()
    return Outcome({"session_id": fresh}, (words,), action="new", messages=[], session_id=fresh)


def _reset(asked: Asked) -> Outcome:
    kept = _kept(asked)
    same = asked.memory.session_id
    words = f"The session begins anew. {kept}".rstrip()
    return Outcome({"session_id": same}, (words,), action="reset", messages=[], session_id=same)


def _kept(asked: Asked) -> str:
    """Archive what is about to leave the context."""
    if not asked.messages:
        return ""
    archived = asked.memory.archive(asked.messages, shape=asked.shape)
    return f"What was said is archived, {wording.counted(archived.added, 'piece')} of it new."


def _help(_: Asked) -> Outcome:
    rows = tuple((f"/{name}", words) for name, words in HELP.items())
    return Outcome({"commands": dict(rows)}, (Table(("command", "what it does"), rows),))


HELP = {
    "memory show [file]": "What is remembered: files of the workspace, newest facts",
    "memory add <fact>": "Remember a fact",
    "memory forget <id>": "Take a fact back; its history keeps it",
    "memory search <words>": "Search facts, notes and the archive",
    "facts list": "The facts that hold",
    "facts history <id>": "How a fact came to be what it is",
    "search <words>": "Search the archive",
    "search --all <words>": "The same, but wait until all of it is searched",
    "show <id>": "One archived message, with what was said around it",
    "context list": "Where the tokens of the context go",
    "context detail": "The same in detail, and what is shortened",
    "compact [instructions]": "Replace all but the newest messages by a summary",
    "status": "Context usage, compactions, duration",
    "stats": "Counts of what the store holds",
    "reindex": "Index on disk what is not yet",
    "reindex --anew": "Throw the index on disk away, and index everything",
    "reembed": "Give everything vectors of the model that the settings name",
    "verify": "Whether all that is on disk can be read",
    "new": "Begin a new session",
    "reset": "Begin this session anew",
}

VERBS: dict[str, Verb] = {
    "memory show": lambda asked: memories.show(asked.memory, asked.rest or None),
    "memory add": lambda asked: memories.add(asked.memory, asked.needed("a fact")),
    # Who types the command into a chat is sure.
    "memory forget": lambda asked: memories.forget(
        asked.memory, asked.needed("the id of a fact"), is_sure=True
    ),
    "memory search": lambda asked: memories.search(asked.memory, asked.needed("words")),
    "memory": lambda asked: memories.show(asked.memory),
    "facts list": lambda asked: facts.listed(asked.memory),
    "facts history": lambda asked: facts.history(asked.memory, asked.needed("the id of a fact")),
    "facts": lambda asked: facts.listed(asked.memory),
    "search": lambda asked: archive.search(asked.memory, asked.needed("words")),
    "search --all": lambda asked: archive.search(
        asked.memory, asked.needed("words"), everything=True
    ),
    "show": lambda asked: archive.show(asked.memory, asked.needed("the id of a segment")),
    "context list": lambda asked: context.listed(asked.said(), asked.memory.config, asked.shape),
    "context detail": lambda asked: context.detail(asked.said(), asked.memory.config, asked.shape),
    "context": lambda asked: context.listed(asked.said(), asked.memory.config, asked.shape),
    "status": lambda asked: status(asked.memory, messages=asked.messages),
    "stats": lambda asked: archive.stats(asked.memory),
    "reindex": lambda asked: archive.reindex(asked.memory),
    "reindex --anew": lambda asked: archive.reindex(asked.memory, anew=True),
    "reembed": lambda asked: archive.reembed(asked.memory),
    "verify": lambda asked: verify(asked.memory.store.path),
    "new": _new,
    "reset": _reset,
    "memctx": _help,
}

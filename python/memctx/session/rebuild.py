"""`Context`: what the model sees of a session, rebuilt from its entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx.session.entry import as_object
from memctx.session.spoken import BRANCHED, spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memctx.session.entry import Entry


@dataclass(frozen=True, slots=True)
class Context:
    """What the model sees of a session.

    >>> rebuild([]).messages
    []
    """

    messages: list[dict[str, Any]]
    """Messages of Pi: the summary first if there was a compaction, then what was kept, then what came later."""
    entry_ids: tuple[str, ...]
    """For each message the entry it comes from."""
    compaction: Entry | None
    """The compaction that counts: the latest."""
    model: tuple[str, str] | None
    """Provider and name of the model that answered last or was chosen since."""
    thinking_level: str
    """How much the model is to think."""

    def for_model(self) -> list[dict[str, Any]]:
        """The messages as providers know them: summaries, commands and what extensions said become the user's.

        >>> summary = {"role": "compactionSummary", "summary": "Port 8443 was chosen."}
        >>> print(Context([summary], ("1b2c3d4e",), None, None, "off").for_model()[0]["content"][0]["text"])
        Turn Context: what was said before this point was compacted. This is the summary of it:
        <BLANKLINE>
        <summary>
        Port 8443 was chosen.
        </summary>
        """
        return [said for message in self.messages if (said := _spoken(message)) is not None]


def rebuild(lineage: Sequence[Entry], bridged: Mapping[str, str] | None = None) -> Context:
    """The context of the entries from the root to the leaf.

    ``bridged`` names, for entries whose lines are lost, the first one that follows.
    """
    place = max((at for at, each in enumerate(lineage) if each.type == "compaction"), default=None)
    compaction = None if place is None else lineage[place]
    shown = list(lineage)
    if place is not None and compaction is not None:
        first = _first_kept(lineage[:place], compaction, bridged or {})
        shown = [compaction, *lineage[first:place], *lineage[place + 1 :]]
    pairs = [
        (entry.id, message)
        for entry in shown
        # An earlier compaction is told by the summary of the latest.
        if (entry.type != "compaction" or entry is compaction)
        and (message := entry.message) is not None
    ]
    return Context(
        messages=[message for _, message in pairs],
        entry_ids=tuple(entry_id for entry_id, _ in pairs),
        compaction=compaction,
        model=_model(lineage),
        thinking_level=_thinking_level(lineage),
    )


def _first_kept(before: Sequence[Entry], compaction: Entry, bridged: Mapping[str, str]) -> int:
    """The place of the first entry that a compaction kept; behind all of them if it kept none."""
    wanted = compaction.first_kept_entry_id
    places = {entry.id: place for place, entry in enumerate(before)}
    if wanted is None:
        return len(before)
    return places.get(wanted, places.get(bridged.get(wanted, ""), len(before)))


def _model(lineage: Sequence[Entry]) -> tuple[str, str] | None:
    for entry in reversed(lineage):
        told, name = entry.fields, "modelId"
        if entry.type == "message":
            told, name = as_object(entry.fields.get("message")) or {}, "model"
            if told.get("role") != "assistant":
                continue
        elif entry.type != "model_change":
            continue
        if isinstance(told.get("provider"), str) and isinstance(told.get(name), str):
            return told["provider"], told[name]
    return None


def _thinking_level(lineage: Sequence[Entry]) -> str:
    for entry in reversed(lineage):
        level = entry.fields.get("thinkingLevel")
        if entry.type == "thinking_level_change" and isinstance(level, str):
            return level
    return "off"


def _spoken(message: dict[str, Any]) -> dict[str, Any] | None:
    match message.get("role"):
        case "compactionSummary":
            return _user(spoken(str(message.get("summary", ""))))
        case "branchSummary":
            return _user(spoken(str(message.get("summary", "")), BRANCHED))
        case "bashExecution":
            return None if message.get("excludeFromContext") is True else _user(_command(message))
        case "custom":
            content = message.get("content")
            return (
                _user(content) if isinstance(content, str) else {"role": "user", "content": content}
            )
        case _:
            return message


def _command(message: dict[str, Any]) -> str:
    told = f"I ran `{message.get('command', '')}`:\n\n```\n{message.get('output', '')}\n```"
    if message.get("cancelled") is True:
        return f"{told}\n\nIt was cancelled."
    code = message.get("exitCode")
    return f"{told}\n\nIt ended with exit code {code}." if code else told


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}

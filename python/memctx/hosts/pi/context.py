"""`Context`: the messages that a model sees of a session, rebuilt from its entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memctx.hosts.pi.entry import as_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memctx.hosts.pi.entry import Entry

# The reader recognizes summaries by "Turn Context".
COMPACTED = (
    "Turn Context: what was said before this point was compacted. This is the summary of it:"
)
BRANCHED = (
    "The conversation came back here from another branch. This is the summary of that branch:"
)
_OPEN, _CLOSE = "\n\n<summary>\n", "\n</summary>"


def format_summary(summary: str, lead: str = COMPACTED) -> str:
    """Format a summary for the model. No text in it can close its tags.

    >>> print(format_summary("Port 8443 was chosen."))
    Turn Context: what was said before this point was compacted. This is the summary of it:
    <BLANKLINE>
    <summary>
    Port 8443 was chosen.
    </summary>
    """
    inner = summary.replace("</summary", "<\\/summary")
    return f"{lead}{_OPEN}{inner}{_CLOSE}"


def parse_summary(text: str) -> str | None:
    """Return the summary in a text that is nothing else, or None.

    >>> parse_summary(format_summary("Port 8443 was chosen."))
    'Port 8443 was chosen.'
    """
    head = f"{COMPACTED}{_OPEN}"
    if not (text.startswith(head) and text.endswith(_CLOSE)):
        return None
    return text[len(head) : -len(_CLOSE)].replace("<\\/summary", "</summary")


@dataclass(frozen=True, slots=True)
class Context:
    """The messages that a model sees of a session.

    >>> rebuild_context([]).messages
    []
    """

    messages: list[dict[str, Any]]
    """Messages of Pi: the summary first if there was a compaction, then the kept messages, then later ones."""
    entry_ids: tuple[str, ...]
    """Entry of each message."""
    compaction: Entry | None
    """Latest compaction, if any."""
    model: tuple[str, str] | None
    """Provider and name of the model that answered last or was chosen since."""
    thinking_level: str
    """Thinking level of the model."""

    def for_model(self) -> list[dict[str, Any]]:
        """Return the messages for providers: summaries, commands and messages of extensions become the user's.

        >>> summary = {"role": "compactionSummary", "summary": "Port 8443 was chosen."}
        >>> print(Context([summary], ("1b2c3d4e",), None, None, "off").for_model()[0]["content"][0]["text"])
        Turn Context: what was said before this point was compacted. This is the summary of it:
        <BLANKLINE>
        <summary>
        Port 8443 was chosen.
        </summary>
        """
        return [
            converted
            for message in self.messages
            if (converted := _for_provider(message)) is not None
        ]


def rebuild_context(lineage: Sequence[Entry], bridged: Mapping[str, str] | None = None) -> Context:
    """Rebuild the context of the entries from the root to the leaf.

    ``bridged`` maps the ids of entries whose lines are lost to the first entry that follows.
    """
    index = max((at for at, each in enumerate(lineage) if each.type == "compaction"), default=None)
    compaction = None if index is None else lineage[index]
    shown = list(lineage)
    if index is not None and compaction is not None:
        first = _first_kept(lineage[:index], compaction, bridged or {})
        shown = [compaction, *lineage[first:index], *lineage[index + 1 :]]
    pairs = [
        (entry.id, message)
        for entry in shown
        # An earlier compaction is covered by the summary of the latest.
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
    """Return the index of the first entry that a compaction kept; the end if it kept none."""
    wanted = compaction.first_kept_entry_id
    indices = {entry.id: index for index, entry in enumerate(before)}
    if wanted is None:
        return len(before)
    return indices.get(wanted, indices.get(bridged.get(wanted, ""), len(before)))


def _model(lineage: Sequence[Entry]) -> tuple[str, str] | None:
    for entry in reversed(lineage):
        fields, name = entry.fields, "modelId"
        if entry.type == "message":
            fields, name = as_object(entry.fields.get("message")) or {}, "model"
            if fields.get("role") != "assistant":
                continue
        elif entry.type != "model_change":
            continue
        if isinstance(fields.get("provider"), str) and isinstance(fields.get(name), str):
            return fields["provider"], fields[name]
    return None


def _thinking_level(lineage: Sequence[Entry]) -> str:
    for entry in reversed(lineage):
        level = entry.fields.get("thinkingLevel")
        if entry.type == "thinking_level_change" and isinstance(level, str):
            return level
    return "off"


def _for_provider(message: dict[str, Any]) -> dict[str, Any] | None:
    match message.get("role"):
        case "compactionSummary":
            return _user_message(format_summary(str(message.get("summary", ""))))
        case "branchSummary":
            return _user_message(format_summary(str(message.get("summary", "")), BRANCHED))
        case "bashExecution":
            return (
                None
                if message.get("excludeFromContext") is True
                else _user_message(_format_command(message))
            )
        case "custom":
            content = message.get("content")
            return (
                _user_message(content)
                if isinstance(content, str)
                else {"role": "user", "content": content}
            )
        case _:
            return message


def _format_command(message: dict[str, Any]) -> str:
    text = f"I ran `{message.get('command', '')}`:\n\n```\n{message.get('output', '')}\n```"
    if message.get("cancelled") is True:
        return f"{text}\n\nIt was cancelled."
    code = message.get("exitCode")
    return f"{text}\n\nIt ended with exit code {code}." if code else text


def _user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}

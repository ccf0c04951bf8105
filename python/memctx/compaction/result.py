"""`Compacted`, the result of a compaction, and its entry in a transcript."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memctx import _core
from memctx.compaction.plan import Files
from memctx.compaction.summary import Usage
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from memctx._core import Redactor
    from memctx.compaction.plan import Failure
    from memctx.compaction.preparation import Preparation
    from memctx.compaction.summary import FallbackLevel
    from memctx.hosts.pi import Transcript
    from memctx.messages import FormatName

Trigger: TypeAlias = Literal["manual", "threshold", "overflow"]
"""Reason for a compaction."""


@dataclass(frozen=True, slots=True, repr=False)
class Compacted:
    """The result of a compaction.

    >>> Compacted([], "manual", "anthropic", 0, skipped="all of the 0 tokens are recent").did_compact
    False
    """

    messages: list[Any]
    """Messages to continue with: system prompts, the summary and the kept messages, which are the same objects except
    for removed stale thinking. The given messages where nothing was compacted."""
    reason: Trigger
    """Reason for the compaction."""
    format: FormatName
    """Format of the messages."""
    tokens_before: int
    """Estimated cost of the messages before."""
    tokens_after: int | None = None
    """Estimated cost of the messages now; None where nothing was compacted."""
    summary: str = ""
    """Summary without its envelope."""
    first_kept: int = 0
    """Index of the first kept message in the old list."""
    summary_index: int | None = None
    """Index of the summary in the new list."""
    skipped: str | None = None
    """Reason why nothing was compacted; None if something was."""
    compacted: int = 0
    """Number of messages that the summary replaces, apart from earlier summaries."""
    archived: int = 0
    """Number of segments that were new in the archive."""
    is_split_turn: bool = False
    """True if the cut splits a turn, whose beginning is summarized separately."""
    fallback_level: FallbackLevel | Literal["hook"] | None = None
    """Fallback level of the summary, or ``"hook"`` if a hook supplied it."""
    problems: tuple[str, ...] = ()
    """Failures on the way, and faults of the summary."""
    files: Files = field(default_factory=Files)
    """Files read and changed in the removed messages."""
    failures: tuple[Failure, ...] = ()
    """Tool failures in the removed messages."""
    usage: Usage = field(default_factory=Usage)
    """Cost of the summary."""
    stale_thinking: tuple[int, ...] = ()
    """Indices in the new list of signed thinking that the provider may refuse behind a summary. It is removed and this
    is empty, unless the setting ``trim.thinking`` is ``report``."""
    entry_id: str | None = None
    """Id of the compaction's entry in the transcript, if there is one."""

    @property
    def did_compact(self) -> bool:
        """True if anything was compacted."""
        return self.skipped is None

    def __repr__(self) -> str:
        """Return the counts, not the messages."""
        if self.skipped is not None:
            return f"<Compacted: nothing, {self.skipped}>"
        sizes = f"{self.tokens_before} tokens to {self.tokens_after}"
        return f"<Compacted: {self.compacted} messages into a summary, {sizes}>"


def find_first_kept_entry(transcript: Transcript, plan: Preparation) -> str | None:
    """Return the entry of the first kept message; None if no kept message is in the transcript yet.

    The newest messages need not be in the transcript yet; all before them must be.

    Raises:
        ConfigError: the transcript holds another conversation.
    """
    message_format = plan.conversation.format
    context = transcript.context()
    pairs = [
        (entry_id, message)
        for entry_id, message in zip(context.entry_ids, context.messages, strict=True)
        if (entry := transcript.get(entry_id)) is not None
        and (entry.type == "message" or (message_format == "pi" and entry.type != "compaction"))
    ]
    reader = _core.MessageReader(capacity=0)
    written = reader.read([message for _, message in pairs], message_format).keys
    kept = reader.read(plan.messages, message_format).keys[plan.cut.first_kept :]
    for count in range(min(len(written), len(kept)), 0, -1):
        if written[-count:] == kept[:count]:
            return pairs[-count][0]
    before = reader.read(plan.messages, message_format).keys[: plan.cut.first_kept]
    if not written or (before and written[-1] == before[-1]):
        return None
    raise ConfigError(
        f"{transcript.path.name} does not end with the messages that were given; expected their transcript"
    )


def entry_details(
    files: Files, failures: tuple[Failure, ...], redactor: Redactor
) -> dict[str, Any]:
    """Return the details of an entry, with the field names of session files and with secrets masked."""
    return {
        "readFiles": list(files.read),
        "modifiedFiles": list(files.modified),
        "toolFailures": [
            {"toolName": failure.tool, "summary": redactor.mask(str(failure)).text}
            for failure in failures
        ],
    }

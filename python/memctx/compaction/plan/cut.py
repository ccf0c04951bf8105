"""`find_cut`: the index at which the kept part of a conversation begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from memctx.compaction.plan.spans import find_spans
from memctx.compaction.plan.trigger import KEEP_RECENT_TOKENS
from memctx.errors import ConfigError
from memctx.messages import FORMATS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memctx._core import Conversation, Role
    from memctx.compaction.plan.spans import Span


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """A cut through a conversation. All indices are those of its messages."""

    first_kept: int
    """Index of the first kept message."""
    turn_start: int | None
    """Start of the turn that the cut splits; None if it splits none."""
    is_split_turn: bool
    """True if the cut splits a turn, whose beginning is summarized separately."""
    summarized: range
    """Messages summarized as history."""
    prefix: range
    """First messages of the turn that the cut splits."""
    head: tuple[int, ...]
    """System prompts before the cut, which stay."""
    summaries: tuple[int, ...]
    """Earlier summaries before the cut: they are updated, never summarized as messages."""
    skipped: frozenset[int]
    """Messages before the cut that are not summarized: system prompts, earlier summaries and recalled blocks."""
    previous_summary: str | None
    """Texts of the earlier summaries."""
    tokens_before: int
    """Cost of the whole conversation."""
    tokens_summarized: int
    """Cost of the history that is summarized."""
    tokens_prefix: int
    """Cost of the beginning of the split turn."""
    tokens_kept: int
    """Cost of the kept messages, without the head."""

    def history(self, messages: Sequence[Any]) -> list[Any]:
        """Return the messages to summarize as history.

        >>> from memctx import _core
        >>> talk = [{"role": "user", "content": text} for text in ("first", "second", "third")]
        >>> cut = find_cut(_core.MessageReader().read(talk), keep_recent_tokens=5)
        >>> [message["content"] for message in cut.history(talk)], cut.kept(talk)
        (['first', 'second'], [{'role': 'user', 'content': 'third'}])
        """
        return [messages[index] for index in self.summarized if index not in self.skipped]

    def scanned_history(self, conversation: Conversation) -> Conversation:
        """Return the history as part of the parsed conversation, so that it need not be parsed again."""
        history = {index for index in self.summarized if index not in self.skipped}
        return conversation.without(
            [index for index in range(len(conversation)) if index not in history]
        )

    def turn_prefix(self, messages: Sequence[Any]) -> list[Any]:
        """Return the first messages of the split turn."""
        return [messages[index] for index in self.prefix if index not in self.skipped]

    def kept(self, messages: Sequence[Any]) -> list[Any]:
        """Return the kept messages, without the head."""
        return list(messages[self.first_kept :])


@final
@dataclass(frozen=True, slots=True)
class NoCut:
    """The reason why there is nothing to cut. It is false in a condition."""

    reason: str

    def __bool__(self) -> Literal[False]:
        return False


def find_cut(
    conversation: Conversation,
    keep_recent_tokens: int = KEEP_RECENT_TOKENS,
    *,
    summaries: Collection[int] | None = None,
) -> Cut | NoCut:
    """Find the cut that keeps about the newest ``keep_recent_tokens`` tokens.

    The cut is the first index behind them that separates no call from its results and no reasoning from what follows;
    or the last such index if there is none behind them. ``summaries`` names the messages that earlier compactions left,
    where the reader cannot know.

    >>> from memctx import _core
    >>> talk = [{"role": "user", "content": "Fix the port"}, {"role": "assistant", "content": "Where is it set?"},
    ...         {"role": "user", "content": "In web.py"}, {"role": "assistant", "content": "Done"}]
    >>> cut = find_cut(_core.MessageReader().read(talk), keep_recent_tokens=10)
    >>> cut.first_kept, cut.summarized, cut.is_split_turn
    (2, range(0, 2), False)
    >>> find_cut(_core.MessageReader().read(talk)).reason
    'all of the 31 tokens are recent'

    Raises:
        ConfigError: ``keep_recent_tokens`` is below 1, or a summary is not there.
    """
    if keep_recent_tokens < 1:
        raise ConfigError(f"keep_recent_tokens is {keep_recent_tokens}; expected at least 1")
    finder = _CutFinder(conversation, summaries)
    first_kept = finder.first_kept(keep_recent_tokens)
    if first_kept is None:
        return NoCut(f"all of the {sum(finder.costs):,} tokens are recent")
    skipped = frozenset(index for index in finder.excluded if index < first_kept)
    preserved = tuple(index for index in finder.summaries if index < first_kept)
    if not any(finder.is_spoken(index) for index in range(first_kept) if index not in skipped):
        return NoCut(
            f"there is nothing {_describe_rest(first_kept, preserved)}before the recent messages"
        )
    turn_start = finder.turn_start(first_kept)
    start = first_kept if turn_start is None else turn_start
    summarized, prefix = range(start), range(start, first_kept)
    return Cut(
        first_kept=first_kept,
        turn_start=turn_start,
        is_split_turn=turn_start is not None,
        summarized=summarized,
        prefix=prefix,
        head=tuple(index for index in range(first_kept) if finder.roles[index] == "system"),
        summaries=preserved,
        skipped=skipped,
        previous_summary=_join_texts(conversation, preserved),
        tokens_before=sum(finder.costs),
        tokens_summarized=sum(finder.costs[index] for index in summarized if index not in skipped),
        tokens_prefix=sum(finder.costs[index] for index in prefix if index not in skipped),
        tokens_kept=sum(finder.costs[first_kept:]),
    )


class _CutFinder:
    """The inputs of a cut, read from the conversation once."""

    def __init__(self, conversation: Conversation, summaries: Collection[int] | None) -> None:
        self._conversation = conversation
        self.costs: list[int] = conversation.message_tokens
        self.roles: list[Role] = conversation.roles
        self.spans: list[Span] = find_spans(conversation, self.costs)
        found = [index for index in conversation.summaries if not self._is_branch(index)]
        self.summaries = found if summaries is None else sorted(summaries)
        if self.summaries and not 0 <= self.summaries[0] <= self.summaries[-1] < len(self.roles):
            raise ConfigError(
                f"summaries are {self.summaries}; expected indices of {len(self.roles)} messages"
            )
        system = (index for index, role in enumerate(self.roles) if role == "system")
        self.excluded = {*self.summaries, *conversation.recalled, *system}

    def is_spoken(self, index: int) -> bool:
        """Return whether a message means something to a model, unlike some lines of session files."""
        return self.roles[index] != "other"

    def first_kept(self, keep: int) -> int | None:
        """Return the first index to cut at with at most ``keep`` tokens behind it, or the last index to cut at.

        Return None where there are no more tokens than that.
        """
        left, index = keep, len(self.costs)
        while left > 0:
            if index == 0:
                return None
            index -= 1
            left -= self.costs[index]
        starts = [span.start for span in self.spans if self._can_start(span)]
        start = next((start for start in starts if start >= index), starts[-1] if starts else 0)
        while start > 0 and not self.is_spoken(start - 1):
            start -= 1  # lines without meaning for a model stay with the next message
        return start

    def turn_start(self, first_kept: int) -> int | None:
        """Return the start of the turn of the first kept message, if it is before it."""
        later = (span for span in self.spans if span.start >= first_kept and self._can_start(span))
        lead = next(later, None)
        if lead is None or self._opens_turn(lead):
            return None
        earlier = (span for span in reversed(self.spans) if span.stop <= first_kept)
        return next((span.start for span in earlier if self._opens_turn(span)), None)

    def _can_start(self, span: Span) -> bool:
        """Return whether the kept part may begin with a span: not with an excluded message or an orphaned result."""
        if span.start in self.excluded or not self.is_spoken(span.start):
            return False
        return self.roles[span.start] != "tool" or self._is_shell(span)

    def _opens_turn(self, span: Span) -> bool:
        """Return whether a span contains a message of the user."""
        indices = (index for index in range(span.start, span.stop) if index not in self.excluded)
        return any(self.roles[index] == "user" for index in indices) or self._is_shell(span)

    def _is_shell(self, span: Span) -> bool:
        """Return whether a span is a shell command of the user, whose output answers no call."""
        has_commands = FORMATS[self._conversation.format].has_user_commands
        if not has_commands or self.roles[span.start] != "tool":
            return False
        (records,) = self._conversation.records([span.start])
        return bool(records) and all('"callId"' not in (record[3] or "") for record in records)

    def _is_branch(self, index: int) -> bool:
        """Return whether a summary is that of another branch, which is new information."""
        (records,) = self._conversation.records([index])
        return any('"branchSummary"' in (record[3] or "") for record in records)


def _describe_rest(first_kept: int, preserved: Sequence[int]) -> str:
    """Describe what is before the cut, where that is nothing to summarize."""
    if first_kept == 0:
        return ""
    return "but the last summary " if preserved else "but what is never summarized "


def _join_texts(conversation: Conversation, indices: Sequence[int]) -> str | None:
    """Join the texts of messages; None without any."""
    texts = [record[1] for records in conversation.records(indices) for record in records]
    return "\n\n".join(texts) or None if indices else None

"""`find_cut`: where the part of a conversation begins that a compaction leaves as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

from memctx.compact.span import spans_of
from memctx.compact.window import KEEP_RECENT_TOKENS
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memctx._core import Conversation, Role
    from memctx.compact.span import Span


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """Where a conversation is cut. All places are those of its messages."""

    first_kept: int
    """The first message that stays as it is."""
    turn_start: int | None
    """Where the turn begins that the cut goes through; None where it goes through none."""
    is_split_turn: bool
    """Whether the cut goes through a turn, so that its beginning is summarised apart."""
    summarized: range
    """What is summarised as history."""
    prefix: range
    """The beginning of the turn that the cut goes through."""
    head: tuple[int, ...]
    """System prompts before the cut, which stay."""
    summaries: tuple[int, ...]
    """Earlier summaries before the cut: they are carried on apart, never summarised as messages."""
    skipped: frozenset[int]
    """All before the cut that is not summarised: the head, earlier summaries, and what memctx recalled."""
    previous_summary: str | None
    """What the earlier summaries say."""
    tokens_before: int
    """What the whole conversation costs."""
    tokens_summarized: int
    """What the history costs that is summarised."""
    tokens_prefix: int
    """What the beginning of the split turn costs."""
    tokens_kept: int
    """What stays costs, without the head."""

    def history(self, messages: Sequence[Any]) -> list[Any]:
        """Of the messages that were cut, those to summarise as history.

        >>> from memctx import _core
        >>> talk = [{"role": "user", "content": text} for text in ("first", "second", "third")]
        >>> cut = find_cut(_core.Scanner().scan(talk), keep_recent_tokens=5)
        >>> [message["content"] for message in cut.history(talk)], cut.kept(talk)
        (['first', 'second'], [{'role': 'user', 'content': 'third'}])
        """
        return [messages[place] for place in self.summarized if place not in self.skipped]

    def scanned_history(self, conversation: Conversation) -> Conversation:
        """The same of the conversation that was cut, so that the history need not be read again."""
        history = {place for place in self.summarized if place not in self.skipped}
        return conversation.without(
            [place for place in range(len(conversation)) if place not in history]
        )

    def turn_prefix(self, messages: Sequence[Any]) -> list[Any]:
        """Of the messages that were cut, the beginning of the split turn."""
        return [messages[place] for place in self.prefix if place not in self.skipped]

    def kept(self, messages: Sequence[Any]) -> list[Any]:
        """Of the messages that were cut, those that stay, without the head."""
        return list(messages[self.first_kept :])


@final
@dataclass(frozen=True, slots=True)
class NoCut:
    """Why there is nothing to cut. It is false, so that a cut can be asked for in a condition."""

    reason: str

    def __bool__(self) -> Literal[False]:
        return False


def find_cut(
    conversation: Conversation,
    keep_recent_tokens: int = KEEP_RECENT_TOKENS,
    *,
    summaries: Collection[int] | None = None,
) -> Cut | NoCut:
    """Where to cut so that about the newest ``keep_recent_tokens`` tokens stay.

    The cut is the first place behind them at which nothing is torn apart: never between a call and its results, nor
    between reasoning and what follows from it. Where no such place is left, it is the last one there is. ``summaries``
    says which messages earlier compactions left, where the scanner cannot know.

    >>> from memctx import _core
    >>> talk = [{"role": "user", "content": "Fix the port"}, {"role": "assistant", "content": "Where is it set?"},
    ...         {"role": "user", "content": "In web.py"}, {"role": "assistant", "content": "Done"}]
    >>> cut = find_cut(_core.Scanner().scan(talk), keep_recent_tokens=10)
    >>> cut.first_kept, cut.summarized, cut.is_split_turn
    (2, range(0, 2), False)
    >>> find_cut(_core.Scanner().scan(talk)).reason
    'all of the 31 tokens are recent'

    Raises:
        ConfigError: ``keep_recent_tokens`` is below 1, or a summary is not there.
    """
    if keep_recent_tokens < 1:
        raise ConfigError(f"keep_recent_tokens is {keep_recent_tokens}; expected at least 1")
    plan = _Plan(conversation, summaries)
    first_kept = plan.first_kept(keep_recent_tokens)
    if first_kept is None:
        return NoCut(f"all of the {sum(plan.costs):,} tokens are recent")
    skipped = frozenset(place for place in plan.apart if place < first_kept)
    carried = tuple(place for place in plan.summaries if place < first_kept)
    if not any(plan.says(place) for place in range(first_kept) if place not in skipped):
        return NoCut(f"there is nothing {_what(first_kept, carried)}before the recent messages")
    turn_start = plan.turn_start(first_kept)
    start = first_kept if turn_start is None else turn_start
    summarized, prefix = range(start), range(start, first_kept)
    return Cut(
        first_kept=first_kept,
        turn_start=turn_start,
        is_split_turn=turn_start is not None,
        summarized=summarized,
        prefix=prefix,
        head=tuple(place for place in range(first_kept) if plan.roles[place] == "system"),
        summaries=carried,
        skipped=skipped,
        previous_summary=_said(conversation, carried),
        tokens_before=sum(plan.costs),
        tokens_summarized=sum(plan.costs[place] for place in summarized if place not in skipped),
        tokens_prefix=sum(plan.costs[place] for place in prefix if place not in skipped),
        tokens_kept=sum(plan.costs[first_kept:]),
    )


class _Plan:
    """What a cut depends on, read off the conversation once."""

    def __init__(self, conversation: Conversation, summaries: Collection[int] | None) -> None:
        self._conversation = conversation
        self.costs: list[int] = conversation.message_tokens
        self.roles: list[Role] = conversation.roles
        self.spans: list[Span] = spans_of(conversation, self.costs)
        found = [place for place in conversation.summaries if not self._is_branch(place)]
        self.summaries = found if summaries is None else sorted(summaries)
        if self.summaries and not 0 <= self.summaries[0] <= self.summaries[-1] < len(self.roles):
            raise ConfigError(
                f"summaries are {self.summaries}; expected places of {len(self.roles)} messages"
            )
        system = (place for place, role in enumerate(self.roles) if role == "system")
        self.apart = {*self.summaries, *conversation.recalled, *system}

    def says(self, place: int) -> bool:
        """Whether a message is somebody's, and not a line of a file that means nothing to a model."""
        return self.roles[place] != "other"

    def first_kept(self, keep: int) -> int | None:
        """The first place to cut at behind which there are at most so many tokens, or the last one to cut at.

        None where there are no more tokens than that.
        """
        left, place = keep, len(self.costs)
        while left > 0:
            if place == 0:
                return None
            place -= 1
            left -= self.costs[place]
        starts = [span.start for span in self.spans if self._is_cut(span)]
        start = next((start for start in starts if start >= place), starts[-1] if starts else 0)
        while start > 0 and not self.says(start - 1):
            start -= 1  # lines that mean nothing to a model stay with what follows them
        return start

    def turn_start(self, first_kept: int) -> int | None:
        """Where the turn of the first kept message begins, if that is before it."""
        later = (span for span in self.spans if span.start >= first_kept and self._is_cut(span))
        lead = next(later, None)
        if lead is None or self._opens_turn(lead):
            return None
        earlier = (span for span in reversed(self.spans) if span.stop <= first_kept)
        return next((span.start for span in earlier if self._opens_turn(span)), None)

    def _is_cut(self, span: Span) -> bool:
        """Whether the kept part may begin with a span: not with what stays anyway or with a result without its call."""
        if span.start in self.apart or not self.says(span.start):
            return False
        return self.roles[span.start] != "tool" or self._is_shell(span)

    def _opens_turn(self, span: Span) -> bool:
        """Whether a person, or what stands for one, speaks in a span."""
        places = (place for place in range(span.start, span.stop) if place not in self.apart)
        return any(self.roles[place] == "user" for place in places) or self._is_shell(span)

    def _is_shell(self, span: Span) -> bool:
        """Whether a span is a command that the person ran: what it printed answers no call."""
        if self._conversation.shape != "pi" or self.roles[span.start] != "tool":
            return False
        (records,) = self._conversation.records([span.start])
        return bool(records) and all('"callId"' not in (record[3] or "") for record in records)

    def _is_branch(self, place: int) -> bool:
        """Whether a summary is that of another branch, which is news and not what was before."""
        (records,) = self._conversation.records([place])
        return any('"branchSummary"' in (record[3] or "") for record in records)


def _what(first_kept: int, carried: Sequence[int]) -> str:
    """What there is before the cut, where that is nothing to summarise."""
    if first_kept == 0:
        return ""
    return "but the last summary " if carried else "but what is never summarised "


def _said(conversation: Conversation, places: Sequence[int]) -> str | None:
    """The texts of some messages; None without any."""
    texts = [record[1] for records in conversation.records(places) for record in records]
    return "\n\n".join(texts) or None if places else None

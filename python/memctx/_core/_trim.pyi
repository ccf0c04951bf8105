"""Trimming and pruning of a conversation."""

from array import array
from collections.abc import Sequence
from typing import Literal, final

from memctx._core._messages import Conversation
from memctx._core._text import Estimator
from memctx.config import Pruning

@final
class Removed:
    """A unit that a trim takes out."""

    @property
    def unit(self) -> int:
        """Its place among the conversation's units."""

    @property
    def key(self) -> int:
        """Its key, by which a later trim takes it out again."""

    @property
    def messages(self) -> tuple[int, ...]:
        """Its messages, by their places."""

    @property
    def tokens(self) -> int:
        """What it cost."""

    @property
    def score(self) -> float:
        """How much it told about the query; 0 where that was not asked."""

    @property
    def layer(self) -> Literal["sticky", "relevance", "age"]:
        """What made it leave."""

    @property
    def reason(self) -> str:
        """The same in words."""

@final
class Trim:
    """What a trim takes out and leaves."""

    @property
    def removed(self) -> list[Removed]:
        """The units that leave, in the order that was decided."""

    @property
    def removed_keys(self) -> list[int]:
        """The keys of the units that leave."""

    @property
    def removed_messages(self) -> list[int]:
        """The messages that leave, in order."""

    @property
    def protected(self) -> list[tuple[int, str]]:
        """The messages that had to stay, and why; none if nothing had to leave."""

    @property
    def tokens_before(self) -> int:
        """What the conversation cost."""

    @property
    def tokens_after(self) -> int:
        """What is left of that."""

    @property
    def is_deferred(self) -> bool:
        """Whether a trim is due but waits until the tools have done their work."""

    @property
    def recognized(self) -> int:
        """How many of the units that were trimmed before there are, be they protected now."""

    def __len__(self) -> int:
        """How many units leave."""

@final
class Replay:
    """Takes the same units out of a conversation turn after turn, at next to no cost while it only gets longer."""

    def __new__(cls) -> Replay: ...
    def of(
        self,
        conversation: Conversation,
        sticky: Sequence[int],
        *,
        protected_recent: int = 6,
        pinned: Sequence[int] = ...,
    ) -> tuple[Trim, Conversation, array[int]]:
        """What leaves of the units of these keys, what is left, and for each message left the place it had.

        The trim does not tell what had to stay.
        """

def plan_trim(
    conversation: Conversation,
    query: str,
    *,
    limit: int,
    target: int | None = None,
    ceiling: int | None = None,
    protected_recent: int = 6,
    protect_task: bool = True,
    spare_people: bool = False,
    pinned: Sequence[int] = ...,
    sticky: Sequence[int] = ...,
    costs: Sequence[int] | None = None,
) -> Trim:
    """What leaves a conversation of more than ``limit`` tokens until ``target`` is reached, the limit without it.

    Units that ``sticky`` names by key leave in any case, unless they are protected now. While tools are at work
    everything else waits unless there are more than ``ceiling`` tokens; without a ceiling nothing waits. ``pinned``
    names messages that stay; what a person said in few words leaves last if ``spare_people``; ``costs`` replaces what
    the reader says each message costs.

    >>> texts = "the task", "small talk", "port 8443"
    >>> talk = MessageReader().read([{"role": "user", "content": text} for text in texts])
    >>> trim = plan_trim(talk, "which port?", limit=20, protected_recent=1)
    >>> [(removed.messages, removed.layer) for removed in trim.removed], trim.protected
    ([((1,), 'relevance')], [(0, 'task'), (2, 'recent')])

    Raises:
        ConfigError: a number is below 0, the target above the limit, a place or the number of costs wrong.
    """

@final
class Pruned:
    """A tool's result that is sent in another form."""

    @property
    def message(self) -> int:
        """The place of its message."""

    @property
    def ordinal(self) -> int:
        """Which of the message's results it is, counted from 0."""

    @property
    def key(self) -> int:
        """A hash of its call's id, its text, and how many of the same came before."""

    @property
    def form(self) -> Literal["soft", "clear"]:
        """What became of it: head and tail stay, or a placeholder stands for it."""

    @property
    def text(self) -> str:
        """What is sent of it."""

    @property
    def tokens_before(self) -> int:
        """What it cost."""

    @property
    def tokens_after(self) -> int:
        """What it costs now."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

def plan_prune(
    conversation: Conversation,
    pruning: Pruning,
    *,
    context_window: int,
    sticky: dict[int, str] = ...,
    is_cold: bool = False,
    estimator: Estimator = "script",
) -> list[Pruned]:
    """Which results are sent shortened or cleared, in order.

    ``sticky`` tells the forms of earlier turns by key; those results get the same bytes again, except in mode
    ``"off"``. ``"cache-ttl"`` prunes more only when ``is_cold``.

    Raises:
        ConfigError: a name is unknown, or a number out of range.
    """

def shorten(text: str, max_chars: int, head_chars: int, tail_chars: int) -> str | None:
    """What `memctx.context.truncate_tool_result` leaves of a text; None if it stays whole."""

def shorten_results(
    conversation: Conversation, max_chars: int, head_chars: int, tail_chars: int
) -> list[tuple[int, int, str, str]]:
    """The results that are too long, each as message, ordinal, the whole text and what is sent of it."""

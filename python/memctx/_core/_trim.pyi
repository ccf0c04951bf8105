"""Trimming and pruning of a conversation."""

from array import array
from collections.abc import Sequence
from typing import Literal, final

from memctx._core._messages import Conversation
from memctx._core._text import Estimator
from memctx.config import PruningSettings

@final
class Removed:
    """A unit that a trim removes."""

    @property
    def unit(self) -> int:
        """Its index among the conversation's units."""

    @property
    def key(self) -> int:
        """Its key, by which a later trim removes it again."""

    @property
    def messages(self) -> tuple[int, ...]:
        """Indices of its messages."""

    @property
    def tokens(self) -> int:
        """Its tokens."""

    @property
    def score(self) -> float:
        """Its relevance to the query; 0 where that was not computed."""

    @property
    def layer(self) -> Literal["sticky", "replaced", "relevance", "age"]:
        """The rule that removed it."""

    @property
    def reason(self) -> str:
        """The rule in words."""

@final
class Trim:
    """A plan of what a trim removes and keeps."""

    @property
    def removed(self) -> list[Removed]:
        """The removed units, in the order that was decided."""

    @property
    def removed_keys(self) -> list[int]:
        """Keys of the removed units."""

    @property
    def removed_messages(self) -> list[int]:
        """Indices of the removed messages, in order."""

    @property
    def protected(self) -> list[tuple[int, str]]:
        """Indices of the messages that had to stay, and why; none if nothing had to be removed."""

    @property
    def tokens_before(self) -> int:
        """Tokens of the whole conversation."""

    @property
    def tokens_after(self) -> int:
        """Tokens that are left."""

    @property
    def is_deferred(self) -> bool:
        """True if a trim is due but waits until the tools have answered."""

    @property
    def recognized(self) -> int:
        """Number of previously trimmed units found again, protected ones included."""

    def __len__(self) -> int:
        """Return the number of removed units."""

@final
class Replay:
    """Removes the same units from a conversation turn after turn, at next to no cost while it only gets longer."""

    def __new__(cls) -> Replay: ...
    def of(
        self,
        conversation: Conversation,
        sticky: Sequence[int],
        *,
        protected_recent: int = 6,
        protect_task: bool = True,
        pinned: Sequence[int] = ...,
    ) -> tuple[Trim, Conversation, array[int]]:
        """Remove the units of these keys; return the trim, the rest, and for each remaining message its previous index.

        The trim does not list the protected messages.
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
    """Plan which units to remove from a conversation of more than ``limit`` tokens to reach ``target`` or the limit.

    Units that ``sticky`` names by key leave in any case, unless they are protected now. While tools are at work
    everything else waits unless there are more than ``ceiling`` tokens; without a ceiling nothing waits. ``pinned``
    names messages that stay; if ``spare_people``, short messages of a person leave later than others as relevant, and
    new tool output later than old; ``costs`` replaces the reader's token counts.

    >>> texts = "the task", "small talk", "port 8443"
    >>> talk = MessageReader().read([{"role": "user", "content": text} for text in texts])
    >>> trim = plan_trim(talk, "which port?", limit=20, protected_recent=1)
    >>> [(removed.messages, removed.layer) for removed in trim.removed], trim.protected
    ([((1,), 'relevance')], [(0, 'task'), (2, 'recent')])

    Raises:
        ConfigError: a number is below 0, the target above the limit, an index or the number of costs wrong.
    """

def most_relevant(
    conversation: Conversation, indices: Sequence[int], query: str, limit: int
) -> list[int]:
    """Return the messages of the ``limit`` units that answer a query best, of those with one of some messages.

    Units that are much worse than the best are left out.

    >>> texts = "the task", "small talk", "port 8443"
    >>> talk = MessageReader().read([{"role": "user", "content": text} for text in texts])
    >>> most_relevant(talk, [0, 1, 2], "which port?", 2)
    [2]

    Raises:
        ConfigError: an index is wrong, or the limit is below 0.
    """

@final
class Pruned:
    """A tool result that is sent in a shorter form."""

    @property
    def message(self) -> int:
        """Index of its message."""

    @property
    def ordinal(self) -> int:
        """Index among the message's results, from 0."""

    @property
    def key(self) -> int:
        """Hash of its call's id, its text, and the number of equal results before it."""

    @property
    def form(self) -> str:
        """New form: head and tail stay (``"soft"``, or ``"soft:N"`` with N characters), or none of it (``"clear"``)."""

    @property
    def text(self) -> str:
        """The text that is sent."""

    @property
    def tokens_before(self) -> int:
        """Tokens of the whole result."""

    @property
    def tokens_after(self) -> int:
        """Tokens that are sent."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

def plan_prune(
    conversation: Conversation,
    pruning: PruningSettings,
    *,
    context_window: int,
    sticky: dict[int, str] = ...,
    is_cold: bool = False,
    overflow: tuple[int, int, Sequence[int]] | None = None,
    estimator: Estimator = "script",
) -> list[Pruned]:
    """Plan which results are sent shortened or cleared, in order.

    ``sticky`` maps keys to the forms of earlier turns; those results get the same bytes again, except in mode
    ``"off"``. ``"cache-ttl"`` prunes more only when ``is_cold``. ``overflow`` says what a trim left too much: tokens
    above its target, tokens above the limit, and the messages that it removes, ascending. Results among the rest are
    shortened until it fits.

    Raises:
        ConfigError: a name is unknown, or a number out of range.
    """

def shorten(text: str, max_chars: int, head_chars: int, tail_chars: int) -> str | None:
    """Shorten a text as `memctx.context.truncate_tool_result` does; None if it stays whole."""

def shorten_results(
    conversation: Conversation, max_chars: int, head_chars: int, tail_chars: int
) -> list[tuple[int, int, str, str]]:
    """Return the results that are too long, each as message, ordinal, the whole text and the shortened one."""

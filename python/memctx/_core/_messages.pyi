"""Messages of every format: reader, conversation, validation, repair."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, final

from memctx.messages import FormatName

_T = TypeVar("_T")

Role: TypeAlias = Literal["system", "user", "assistant", "tool", "other"]

# A result of the repaired list: its message, its ordinal there, whether it exists, and, where it does not, the id and
# the name of the call that it answers.
PlannedResult: TypeAlias = tuple[int, int, bool, str | None, str | None]

MISSING_RESULT: str

def chain(keys: Sequence[int], *, start: int = 0) -> array[int]:
    """Return a link for each key, made of it and of all keys before it."""

def bind(
    keys: Sequence[int], signed: Sequence[tuple[int, int]], *, strip: bool
) -> tuple[array[int], list[int]]:
    """Return the chain of some keys, and the indices of the signed ones that are not preceded by their link."""

def items_at(items: Sequence[_T], indices: Sequence[int]) -> list[_T]:
    """Return the items of a sequence at some indices."""

def text_key(text: str) -> int:
    """Return a hash of a text, the same on every machine."""

@final
class MessageReader:
    """Reads messages of every format and remembers their texts, so that reading them again costs next to nothing.

    ``estimator`` says what a text costs: ``"script"``, ``"utf16"``, or a callable that counts tokens. ``capacity`` is
    about how many bytes of texts are remembered; those that were not read for longest are forgotten first. May be
    shared by threads.

    >>> reader = MessageReader()
    >>> conversation = reader.read([{"role": "user", "content": "Which port?"}])
    >>> conversation.tokens, conversation.query()
    (8, 'Which port?')
    """

    def __new__(
        cls,
        estimator: Literal["script", "utf16"] | Callable[[str], int] = "script",
        *,
        capacity: int = 67_108_864,
        own_blocks: Sequence[int] | None = None,
    ) -> MessageReader:
        """Create a reader with an empty cache.

        ``own_blocks`` are the `text_key` of the recalled blocks that were sent: other text that reads like a block is a
        person's then. Without them, whatever reads like a block is one.

        Raises:
            ConfigError: the estimator is unknown, or the capacity below 0.
        """

    def read(self, messages: Sequence[Any], format: FormatName | None = None) -> Conversation:
        """Read a list of messages; ``format`` says what they are where that is not to be guessed.

        The messages are not changed and not kept. A block or an item of a type that is not known is opaque: it has a
        price, is kept whole, and nothing is repaired that may belong to it.

        Raises:
            MessageFormatError: it is no list, or the role, the content or the id of a tool in a message is not
                understood.
            ConfigError: the format is unknown, or the estimator returned something that is no number of tokens.
        """

    def add_own_blocks(self, keys: Sequence[int]) -> bool:
        """Add the keys of blocks that were sent.

        Return False if one of them was read as a person's text before: then this reader goes on reading it so.
        """

    def is_own_block(self, text: str) -> bool:
        """Return True if a text, white space around it aside, is just one block, and one that was sent."""

    def __len__(self) -> int:
        """Return the number of texts in the cache."""

def detect(messages: Sequence[Any]) -> FormatName: ...

@final
class Conversation:
    """The parsed form of a list of messages. The messages themselves are not kept.

    >>> conversation = MessageReader().read([
    ...     {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]},
    ...     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}]},
    ... ])
    >>> conversation.roles, conversation.units
    (['assistant', 'tool'], [(0, 1)])
    """

    @property
    def format(self) -> FormatName:
        """Format of the messages."""

    @property
    def tokens(self) -> int:
        """Estimated tokens of all messages: texts, calls, results, thinking and pictures."""

    @property
    def message_tokens(self) -> list[int]:
        """Estimated tokens of each message."""

    @property
    def keys(self) -> array[int]:
        """Hash of each message's content, the same on every machine; prompt-cache markers do not count."""

    @property
    def units(self) -> list[tuple[int, ...]]:
        """The smallest groups that may be removed, each as the indices of its messages."""

    @property
    def unit_keys(self) -> list[int]:
        """Hash of each unit; equal units have different hashes."""

    @property
    def roles(self) -> list[Role]:
        """Role of each message. A user's message that only holds results is a tool's."""

    @property
    def recalled(self) -> list[int]:
        """The messages that are blocks memctx recalled, and nothing else."""

    @property
    def summaries(self) -> list[int]:
        """The messages that a compaction left, the host's or the provider's."""

    @property
    def newest_user(self) -> int | None:
        """The newest message that a person wrote."""

    @property
    def ordinals(self) -> list[int]:
        """For each message, the number of earlier messages with the same key."""

    @property
    def signed(self) -> list[int]:
        """The messages with thinking that its provider refuses after a changed prefix."""

    @property
    def carriers(self) -> list[int]:
        """The user's messages that hold a recalled block beside other content."""

    @property
    def is_running(self) -> bool:
        """True if the model waits for tools, or tools have answered and the model has not."""

    def occurrence(self, index: int) -> tuple[int, int]:
        """Return the key of a message, and the number of earlier messages with the same key."""

    def find(self, occurrences: Sequence[tuple[int, int]]) -> list[int | None]:
        """Return the index of the message with each key and ordinal, or None."""

    def is_preamble(self, index: int) -> bool:
        """Return True if a message is the host's own, or the summary of a compaction."""

    def in_group(self, index: int) -> bool:
        """Return True if a message belongs to a tool group."""

    def with_results(self, edits: Sequence[tuple[int, int, str, int]]) -> Conversation:
        """Return a copy with some results shortened, each given as message, ordinal, text and tokens; keys stay."""

    def without(self, indices: Sequence[int]) -> Conversation:
        """Return a copy without some messages."""

    def query(self, count: int = 3, *, head: int | None = None) -> str:
        """Return the last ``count`` texts that a person wrote, oldest first, joined by a space.

        Of a long text it is the beginning and the end; with ``head``, of each text its first ``head`` characters.
        """

    def records(
        self, indices: Sequence[int] | None = None
    ) -> list[list[tuple[str, str, float | None, str | None]]]:
        """Return the records for `Store.add` of each message, or of those named."""

    def silences(self) -> list[str]:
        """Return the reason for each message of which nothing is archived."""

    def __len__(self) -> int: ...

def problems(conversation: Conversation) -> list[tuple[int, str, str, str | None]]:
    """Return what the provider would refuse: index of the message, code, description, and id of the call or result."""

def repair_plan(
    conversation: Conversation,
) -> (
    tuple[
        list[tuple[Literal["keep", "answer", "hold"], int | None, list[PlannedResult]]],
        list[tuple[int, int, str, str, str | None]],
    ]
    | None
):
    """Plan the repair of a conversation: the parts of the repaired list and the changes; None if it needs none.

    A message is kept, or its own results are replaced by these at its front; without a message, the results form one.
    Of a held message only its position among the roles is left. A change has the index of its message, the number of
    equal parts before it there, a code, a description, and the id of the call or result.
    """

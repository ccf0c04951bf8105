"""Messages of every format: reader, conversation, validation, repair."""

from array import array
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, final

_T = TypeVar("_T")

FormatName: TypeAlias = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "pi"]

Role: TypeAlias = Literal["system", "user", "assistant", "tool", "other"]

# A result of the mended list: its message, how many of its kind stand before it there, whether it is there, and, where
# it is not, the id and the name of the call that it stands for.
PlannedResult: TypeAlias = tuple[int, int, bool, str | None, str | None]

MISSING_RESULT: str

def chain(keys: Sequence[int], *, start: int = 0) -> array[int]:
    """A link for each key, made of it and of all keys before it."""

def bind(
    keys: Sequence[int], signed: Sequence[tuple[int, int]], *, strip: bool
) -> tuple[array[int], list[int]]:
    """The chain of some keys, and the places of the signed ones that do not stand behind the link given with them."""

def items_at(items: Sequence[_T], indices: Sequence[int]) -> list[_T]:
    """The items of a sequence at some places."""

def text_key(text: str) -> int:
    """A hash of a text, the same on every machine."""

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
        """A reader that has read nothing yet.

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
        """Whether a text, white space around it aside, is just one block, and one that was sent."""

    def __len__(self) -> int:
        """How many texts are remembered."""

def detect(messages: Sequence[Any]) -> FormatName: ...

@final
class Conversation:
    """What was read off a list of messages. The messages themselves are not kept.

    >>> conversation = MessageReader().read([
    ...     {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ls", "input": {}}]},
    ...     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}]},
    ... ])
    >>> conversation.roles, conversation.units
    (['assistant', 'tool'], [(0, 1)])
    """

    @property
    def format(self) -> FormatName:
        """What the messages are."""

    @property
    def tokens(self) -> int:
        """What all messages cost the model, about: texts, calls, results, thinking and pictures."""

    @property
    def message_tokens(self) -> list[int]:
        """What each message costs."""

    @property
    def keys(self) -> array[int]:
        """A hash of what each message says, the same on every machine; marks for the prompt cache count for nothing."""

    @property
    def units(self) -> list[tuple[int, ...]]:
        """The smallest things that may be removed, each as the places of its messages."""

    @property
    def unit_keys(self) -> list[int]:
        """A hash of each unit; of equal units, each has its own."""

    @property
    def roles(self) -> list[Role]:
        """Who speaks in each message. A user's message that only carries results is a tool's."""

    @property
    def recalled(self) -> list[int]:
        """The messages that are blocks memctx recalled, and nothing else."""

    @property
    def summaries(self) -> list[int]:
        """The messages that a compaction left, be it the host's or the provider's."""

    @property
    def newest_user(self) -> int | None:
        """The newest message that a person wrote."""

    @property
    def ordinals(self) -> list[int]:
        """For each message how many of the same key stand before it."""

    @property
    def signed(self) -> list[int]:
        """The messages with thinking that its provider refuses behind anything but what it was written behind."""

    @property
    def carriers(self) -> list[int]:
        """The user's messages that hold a block memctx recalled beside other things."""

    @property
    def is_running(self) -> bool:
        """Whether the model waits for tools, or tools have answered and the model has not."""

    def occurrence(self, index: int) -> tuple[int, int]:
        """Return the key of a message, and its ordinal: how many messages of that key come before it."""

    def find(self, occurrences: Sequence[tuple[int, int]]) -> list[int | None]:
        """Return the index of the message with each key and ordinal, or None."""

    def is_preamble(self, index: int) -> bool:
        """Whether a message is the host's own, or the summary of a compaction."""

    def in_group(self, index: int) -> bool:
        """Whether a message belongs to a tool group."""

    def with_results(self, edits: Sequence[tuple[int, int, str, int]]) -> Conversation:
        """The same with some results shortened, each given as message, ordinal, text and tokens; keys stay."""

    def without(self, indices: Sequence[int]) -> Conversation:
        """The same without some messages."""

    def query(self, count: int = 3, *, head: int | None = None) -> str:
        """The last ``count`` texts that a person wrote, oldest first, joined by a space.

        Of a long text it is the beginning and the end; with ``head``, of each text its first ``head`` characters.
        """

    def records(
        self, indices: Sequence[int] | None = None
    ) -> list[list[tuple[str, str, float | None, str | None]]]:
        """For each message, or those named, what `Store.add` takes of it."""

    def silences(self) -> list[str]:
        """For each message of which nothing is archived why that is."""

    def __len__(self) -> int: ...

def problems(conversation: Conversation) -> list[tuple[int, str, str, str | None]]:
    """What the provider would refuse: the place of the message, a code, words, and the id of the call or result."""

def repair_plan(
    conversation: Conversation,
) -> (
    tuple[
        list[tuple[Literal["keep", "answer", "hold"], int | None, list[PlannedResult]]],
        list[tuple[int, int, str, str, str | None]],
    ]
    | None
):
    """How to mend a conversation, or None: what the mended list is made of, and what is different in it.

    A message is kept, or gets these results in front instead of its own; without a message, the results are one. Of one
    to hold nothing is left but its place among the roles. A change has the place of its message, how many of its kind
    stand before it there, a code, words, and the id of the call or result.
    """

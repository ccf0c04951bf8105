"""Topics, entities, noise and channel prefixes."""

from collections.abc import Iterable
from typing import Literal, TypeAlias, final

EntityKind: TypeAlias = Literal["url", "email", "stock", "amount", "date", "person", "project"]

def strip_channel_prefix(text: str) -> str:
    r"""Remove the lines that a chat host added, and white space around the text.

    Two kinds of line go: those that open with a date in brackets, with or without ``System:`` before it, and headings
    such as ``Sender (untrusted metadata):`` with the JSON below them.

    >>> strip_channel_prefix("System: [2026-02-15 18:49:02 GMT+8] Feishu[main] message\nhello there")
    'hello there'
    """

def is_noise(text: str) -> bool:
    """Return True if a text is not worth keeping.

    It has six UTF-16 units or fewer, or is one of the messages that agents and their hosts exchange to keep in step:
    ``NO_REPLY``, heartbeats, notices of audio and of queued messages.

    >>> is_noise("HEARTBEAT_OK"), is_noise("use port 8443")
    (True, False)
    """

@final
class Entity:
    """A named entity in a text.

    >>> entities("edit src/pay.rs")[0]
    Entity(kind="project", value="src/pay.rs", offset=5)
    """

    @property
    def kind(self) -> EntityKind:
        """Kind of the entity."""

    @property
    def value(self) -> str:
        """The entity as spelled in the text."""

    @property
    def offset(self) -> int:
        """Start offset, in UTF-16 units.

        For all but URLs and mail addresses this is the place in the text in which each of those has become one space;
        for a person it is that of the word before the name.
        """

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def entities(text: str) -> list[Entity]:
    """Return the entities that a text names, each value once, 256 at most.

    By kind, in this order: ``url``; ``email``; ``stock`` (six digits, ``$AAPL``); ``amount`` (``300元``, ``$12.5K``);
    ``date`` (``2026-02-15``, ``昨天``); ``person`` (Chinese characters behind a word such as ``找``); ``project``
    (``owner/name``, ``CamelCase``). A lone surrogate reads as U+FFFD.

    >>> [(entity.kind, entity.offset) for entity in entities("see https://example.com on 2026-02-15")]
    [('url', 4), ('date', 9)]
    """

@final
class Topics:
    """The topics that are looked for, each with its keywords; twelve are there from the start.

    A keyword with a Chinese character counts wherever it stands. Any other must stand apart: between white space,
    punctuation or an end of the text. Case does not matter.

    >>> topics = Topics()
    >>> topics.add("deploy", ["kubernetes", "上线"])
    >>> topics.of("Fix the API, then 上线")
    ['api', 'deploy']
    """

    def __new__(cls) -> Topics: ...
    def add(self, name: str, keywords: Iterable[str]) -> None:
        """Add a topic, or keywords to the one that has this name already. On an error nothing is added."""

    def names(self) -> list[str]:
        """Return the names of all topics, in the order they were defined."""

    def of(self, text: str) -> list[str]:
        """Return the topics of a text, in the order they were defined."""

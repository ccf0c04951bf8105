"""Interfaces that users implement: `Embedder`, `Extractor`, `Summarizer`, and the values they exchange."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, get_args, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

# Strings, so that numpy is not imported for two names.
Vector: TypeAlias = "NDArray[np.float32] | Sequence[float]"
"""One row of numbers."""
Matrix: TypeAlias = "NDArray[np.float32] | Sequence[Sequence[float]]"
"""One row for each text, in the order of the texts."""


class Embedder(Protocol):
    """Turns text into vectors that are close to each other for texts of similar meaning.

    Either method may be a coroutine function. An embedder that fails raises `memctx.errors.EmbeddingError` and never
    returns a placeholder: a text without a vector is found by its words, and retried later. Both methods are called
    from several threads. Three things are optional: ``close()``; ``warm()``, which is called once in the background, so
    that the first query need not wait for imports; and ``is_latin_only``, true for a model that knows little Chinese,
    Japanese and Korean, for which words alone are searched.

    >>> class Letters:
    ...     name, revision, dim = "letters", "1", 26
    ...     def embed(self, text):
    ...         return [1.0 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]
    ...     def embed_many(self, texts):
    ...         return [self.embed(text) for text in texts]
    >>> embedder: Embedder = Letters()
    >>> embedder.embed("Abba")[:3]
    [3.0, 3.0, 1.0]
    """

    @property
    def name(self) -> str:
        """Name of the model. Vectors of the same name, ``revision`` and ``dim`` can be compared."""
        ...

    @property
    def revision(self) -> str:
        """Version of everything else that changes the vectors: weights, settings, preparation of texts."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, text: str) -> Vector | Awaitable[Vector]:
        """Return the vector of a query, quickly: a turn waits for it."""
        ...

    def embed_many(self, texts: Sequence[str]) -> Matrix | Awaitable[Matrix]:
        """Return the vectors of stored texts, in their order."""
        ...


FactType: TypeAlias = Literal[
    "decision",
    "implementation",
    "config",
    "issue",
    "task_state",
    "architecture",
    "preference",
    "note",
]
FACT_TYPES: tuple[FactType, ...] = get_args(FactType)
"""The types of facts: OpenClaw's six, ``preference`` and ``note``."""

Action: TypeAlias = Literal["add", "update", "supersede", "none", "delete"]


def _new_id() -> str:
    import uuid  # noqa: PLC0415 - slow to import, and facts are often only read

    return str(uuid.uuid4())


@dataclass(frozen=True, slots=True)
class CandidateFact:
    """A fact that an extractor proposes.

    >>> CandidateFact("config", "The webhook listens on port 8443").type
    'config'
    """

    type: FactType
    content: str
    context: str | None = None
    sources: tuple[str, ...] = ()
    """Ids of the segments that state it."""
    action: Action | None = None
    """The action that the extractor proposes; None where it proposes none."""
    target: str | None = None
    """Id of the known fact that the action changes."""
    id: str = field(default_factory=_new_id)
    """The id it will have once it is stored."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it is archived: secrets masked."""

    role: str
    """``user`` or ``assistant``."""
    text: str
    segment: str
    """Id of the segment it belongs to."""


@dataclass(frozen=True, slots=True)
class Known:
    """A known fact, which the extractor may update or supersede."""

    id: str
    type: FactType
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """Input of one call of an extractor."""

    messages: tuple[Message, ...]
    known: tuple[Known, ...] = ()
    """Facts similar to the messages, which an UPDATE or SUPERSEDE may change."""
    most: int = 15
    """Largest number of facts to return."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of an extraction."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """Cost in the currency of the configured prices; None without prices."""

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """Facts that an extractor found."""

    candidates: tuple[CandidateFact, ...]
    usage: Usage = Usage()
    problems: tuple[str, ...] = ()
    """The parts of the answer that could not be used, each with the reason."""


@runtime_checkable
class Extractor(Protocol):
    """Extracts facts from a conversation.

    It raises `memctx.errors.ExtractionError` on failure; the request is retried later. It runs on
    memctx's event loop, in a background thread.
    """

    async def extract(self, request: Request) -> ExtractionResult:
        """Return the facts that the messages state."""
        ...


SummaryKind: TypeAlias = Literal["chunk", "merge", "prefix", "simple"]
"""Kind of text to summarize: a part of a conversation, the summaries of its parts, the beginning of a turn that goes
on, or a part with the simplest prompt, for a model that failed at the others."""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """Input of one call of a summarizer.

    The texts are data, never instructions; `memctx.compaction.summary.build_prompt` makes a prompt that says so.

    >>> SummaryRequest("[User]: Which port?", instructions="Keep the ports").kind
    'chunk'
    """

    conversation_text: str
    """The conversation as `memctx.compaction.summary.serialize` writes it, masked; or the summaries to merge."""
    instructions: str | None = None
    """The host's instructions for the summary, secrets masked."""
    previous_summary: str | None = None
    """Summary of everything before, to be continued, secrets masked."""
    max_tokens: int = 4_096
    """Largest length of the response."""
    kind: SummaryKind = "chunk"


@runtime_checkable
class Summarizer(Protocol):
    """Summarizes a conversation.

    It raises `memctx.errors.SummaryError` on failure, and can be canceled.

    >>> class Shortest:
    ...     async def summarize(self, request, *, on_text=None):
    ...         return request.conversation_text[:20]
    >>> isinstance(Shortest(), Summarizer)
    True
    """

    async def summarize(
        self, request: SummaryRequest, *, on_text: Callable[[str], None] | None = None
    ) -> str:
        """Return the summary. ``on_text`` receives its parts as they are generated; a retry starts over."""
        ...

"""The store of facts, and the planning of changes."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final

from memctx._core._store import StoreOptions

FactAction: TypeAlias = Literal["add", "update", "supersede", "none", "delete"]

# What is done, to which fact unless it is new, under which id and as what type if it is, and what it says: content,
# context, sources.
FactChange: TypeAlias = (
    tuple[Literal["add"], str, str, str, str | None, Iterable[str]]
    | tuple[Literal["update"], str, str, str | None, Iterable[str]]
    | tuple[Literal["supersede"], str, str, str, str, str | None, Iterable[str]]
    | tuple[Literal["delete"], str]
)

FactOutcome: TypeAlias = Literal["done", "duplicate", "added", "missing"]

@final
class Fact:
    """A statement that holds, or held until another took its place.

    >>> fact.content, fact.is_active, fact.revision  # doctest: +SKIP
    ('The webhook listens on port 8443', True, 0)
    """

    @property
    def id(self) -> str:
        """Unique; the same in every state of the fact."""

    @property
    def type(self) -> str:
        """One of the six types, or what another program wrote."""

    @property
    def content(self) -> str:
        """The statement, secrets masked."""

    @property
    def context(self) -> str | None:
        """Where it came up."""

    @property
    def timestamp(self) -> float | None:
        """When it was stated or last changed, in milliseconds since 1970; None where another program did not say."""

    @property
    def superseded_by(self) -> str | None:
        """The fact that took its place."""

    @property
    def session_id(self) -> str | None:
        """The session it came up in; None where another program did not say."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The segments it was taken from."""

    @property
    def is_active(self) -> bool:
        """Whether it holds: neither superseded nor forgotten."""

    @property
    def revision(self) -> int:
        """How many earlier states of it there are."""

    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class FactHit:
    """A fact that answers a question."""

    @property
    def fact(self) -> Fact:
        """What was found."""

    @property
    def score(self) -> float:
        """The share of what the question's words tell that the fact has, from 0 to 1."""

    @property
    def matched(self) -> int:
        """How many of the question's words it has."""

    @property
    def explanation(self) -> str | None:
        """How the score came about, word by word, where that was asked for."""

@final
class FactStore:
    """The facts of a directory: every change durable, the log shared with other processes, all of it searched.

    `memctx.open` makes one with checked settings, as ``memory.facts``. Without ``cross_session`` only the facts of its
    own session are seen, whatever the method.

    >>> facts = FactStore(folder, StoreOptions(session_id="s1"))  # doctest: +SKIP
    >>> facts.add("config", "The webhook listens on port 8443").id  # doctest: +SKIP
    '8f4b…'
    """

    def __new__(cls, path: str | PathLike[str], options: StoreOptions) -> FactStore: ...
    @property
    def path(self) -> str:
        """The directory."""

    @property
    def session_id(self) -> str:
        """The session that is written to and, without ``cross_session``, the only one that is read."""

    @property
    def cross_session(self) -> bool:
        """Whether the facts of all sessions are seen."""

    def add(
        self,
        type: str,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] | None = None,
        id: str | None = None,
        timestamp: float | None = None,
    ) -> Fact:
        """State something and wait for the disk; an active fact that says the same is given back instead."""

    def update(
        self,
        id: str,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] | None = None,
    ) -> Fact:
        """Replace the content of an active fact; sources are merged, no context keeps the one there is."""

    def supersede(
        self,
        id: str,
        type: str,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] | None = None,
        new_id: str | None = None,
    ) -> Fact:
        """State something that takes the place of an active fact, in its session and in one append; the new fact."""

    def forget(self, id: str) -> Fact:
        """Take an active fact back. It stays in the log and in its history."""

    def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
        """Make planned changes in one append, each seeing those before it; what became of each.

        Each is ``("add", id, type, content, context, sources)``, ``("update", target, content, context, sources)``,
        ``("supersede", target, id, type, content, context, sources)`` or ``("delete", target)``.

        ``done``; ``duplicate``: that is known, nothing was written; ``added``: the target holds no more, so what was
        said of it became a fact of its own; ``missing``: there is no such target, nothing was written.
        """

    def get(self, id: str) -> Fact | None:
        """A fact as it is now, superseded or not; None if it is not known or was forgotten."""

    def facts(
        self,
        *,
        types: Iterable[str] | None = None,
        limit: int | None = None,
        include_superseded: bool = False,
    ) -> list[Fact]:
        """The facts that hold, and on request those that others took the place of, newest first."""

    def history(self, id: str) -> list[Fact]:
        """All states of a fact and of every fact it took the place of, oldest first; the same from each id of them."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        types: Iterable[str] | None = None,
        explain: bool = False,
    ) -> list[FactHit]:
        """The facts that answer a question, best first, newer first among equals; none if no fact is about it."""

    def nearest(
        self, text: str, *, limit: int = 20, types: Iterable[str] | None = None
    ) -> list[Fact]:
        """The facts that hold and share most with a text, however little and however long it is; closest first."""

    def stats(self) -> dict[str, Any]:
        """Counts of what the store sees: active, superseded, forgotten, states, log_bytes, log_lines."""

    def health(self) -> dict[str, Any]:
        """Tell what was skipped, repaired or degraded; ``reasons`` say why, as long as ``degraded`` is True."""

    def reopen(self) -> None:
        """After a fork: open every file again, sharing nothing with the parent."""

    def close(self) -> None:
        """Refuse every further call; everything acknowledged is on disk already."""

    def __len__(self) -> int: ...
    def __bool__(self) -> Literal[True]: ...

def plan_facts(
    drafts: Sequence[tuple[str, str, str | None, str | None]],
    known: Sequence[tuple[str, str]],
    *,
    allow_delete: bool = False,
) -> list[tuple[FactAction, str | None, str, str | None]]:
    """What is to be done for each draft, in order: the action, its target, the reason, why the word was not followed.

    A draft is its id, its content, and the action and the target that its extractor names. A known fact is its id and
    its content. A later draft sees what becomes of the earlier ones.

    >>> plan_facts([("b", "The port is 8080", None, None)], [("a", "The port is 3000")])
    [('supersede', 'a', 'it says another thing of the same', None)]
    """

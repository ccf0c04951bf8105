"""The store of facts, and the planning of changes."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, final

from memctx._core._store import StoreOptions

FactAction: TypeAlias = Literal["add", "update", "supersede", "none", "delete"]

# Action, target unless the fact is new, id and type if it is, then content, context and sources.
FactChange: TypeAlias = (
    tuple[Literal["add"], str, str, str, str | None, Iterable[str]]
    | tuple[Literal["update"], str, str, str | None, Iterable[str]]
    | tuple[Literal["supersede"], str, str, str, str, str | None, Iterable[str]]
    | tuple[Literal["delete"], str]
)

FactOutcome: TypeAlias = Literal["done", "duplicate", "added", "missing"]

@final
class Fact:
    """A statement that holds, or held until another superseded it.

    >>> fact.content, fact.is_active, fact.revision  # doctest: +SKIP
    ('The webhook listens on port 8443', True, 0)
    """

    @property
    def id(self) -> str:
        """Unique; the same in every state of the fact."""

    @property
    def type(self) -> str:
        """One of `memctx.facts.FACT_TYPES`, or what another program wrote."""

    @property
    def content(self) -> str:
        """The statement, secrets masked."""

    @property
    def context(self) -> str | None:
        """Where the fact came up."""

    @property
    def timestamp(self) -> float | None:
        """Time it was stated or last changed, in milliseconds since 1970; None where another program gave none."""

    @property
    def superseded_by(self) -> str | None:
        """The fact that superseded it."""

    @property
    def session_id(self) -> str | None:
        """The session it came up in; None where another program gave none."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Ids of the segments it was taken from."""

    @property
    def is_active(self) -> bool:
        """True if the fact holds: neither superseded nor forgotten."""

    @property
    def revision(self) -> int:
        """Number of changes before this state."""

    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class FactHit:
    """A fact that answers a question.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     fact = memory.facts.add("config", "The webhook listens on port 8443")
    ...     [hit] = memory.facts.search("which port has the webhook?")
    >>> hit.fact.id == fact.id, hit.fact.is_active
    (True, True)
    """

    @property
    def fact(self) -> Fact:
        """The fact."""

    @property
    def score(self) -> float:
        """Weighted share of the question's words that the fact has, from 0 to 1."""

    @property
    def matched(self) -> int:
        """Number of the question's words that it has."""

    @property
    def explanation(self) -> str | None:
        """Breakdown of the score by word, if the search was asked for it."""

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
        """True if the facts of all sessions are read."""

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
        """State a fact and wait for the disk; an active fact with the same content is returned instead."""

    def update(
        self,
        id: str,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] | None = None,
    ) -> Fact:
        """Replace the content of an active fact under the same id; sources are merged, no context keeps the old one."""

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
        """Replace an active fact by a new one, in its session and in one append; return the new fact."""

    def forget(self, id: str) -> Fact:
        """Retract an active fact. It stays in the log and in its history."""

    def apply(self, changes: Iterable[FactChange]) -> list[FactOutcome]:
        """Apply planned changes in one append, each seeing those before it; return the outcome of each.

        Each is ``("add", id, type, content, context, sources)``, ``("update", target, content, context, sources)``,
        ``("supersede", target, id, type, content, context, sources)`` or ``("delete", target)``.

        ``done``; ``duplicate``: already known, nothing was written; ``added``: the target is no longer active, so the
        new content became a fact of its own; ``missing``: there is no such target, nothing was written.
        """

    def get(self, id: str) -> Fact | None:
        """Return a fact as it is now, superseded or not; None if it is unknown or was forgotten."""

    def facts(
        self,
        *,
        types: Iterable[str] | None = None,
        limit: int | None = None,
        include_superseded: bool = False,
    ) -> list[Fact]:
        """Return the active facts, and on request the superseded ones, newest first."""

    def forgotten(self, *, limit: int | None = None) -> list[Fact]:
        """Return the forgotten facts, newest first."""

    def history(self, id: str) -> list[Fact]:
        """Return all states of a fact and of every fact it superseded, oldest first; equal for each of their ids."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        types: Iterable[str] | None = None,
        explain: bool = False,
    ) -> list[FactHit]:
        """Return the facts that answer a question, best first, newer first among equals; none if none is about it."""

    def nearest(
        self, text: str, *, limit: int = 20, types: Iterable[str] | None = None
    ) -> list[Fact]:
        """Return the active facts that share most with a text, however little and however long it is; closest first."""

    def stats(self) -> dict[str, Any]:
        """Return the counts active, superseded, forgotten, states, log_bytes and log_lines."""

    def health(self) -> dict[str, Any]:
        """Report skipped, repaired and degraded parts; ``reasons`` say why, as long as ``degraded`` is True."""

    def reopen(self) -> None:
        """Open every file again after a fork, sharing nothing with the parent."""

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
    """Plan a step for each draft, in order: action, target, reason, and why the extractor's action was not followed.

    A draft is its id, its content, and the action and the target that its extractor names. A known fact is its id and
    its content. A later draft sees what becomes of the earlier ones.

    >>> plan_facts([("b", "The port is 8080", None, None)], [("a", "The port is 3000")])
    [('supersede', 'a', 'contradicts the stored value', None)]
    """

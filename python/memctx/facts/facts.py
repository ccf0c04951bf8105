"""`Facts`: the facts of a session, as ``memory.facts``.

>>> import tempfile
>>> from memctx.lowlevel import FactStore, StoreOptions
>>> facts = Facts(FactStore(tempfile.mkdtemp(), StoreOptions(session_id="s1")))
>>> old = facts.add("config", "The payment webhook listens on port 3000")
>>> new = facts.supersede(old.id, "The payment webhook listens on port 8443")
>>> [hit.fact.content for hit in facts.search("Which port has the webhook?")]
['The payment webhook listens on port 8443']
>>> [(fact.content[-9:], fact.is_active) for fact in facts.history(new.id)]
[('port 3000', True), ('port 3000', False), ('port 8443', True)]
"""

from __future__ import annotations

from memctx import checks

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from memctx._core import Fact, FactHit, FactStore
    from memctx.protocols import FactType

    # `Facts.list` would hide the type of that name.
    FactList: TypeAlias = list[Fact]
    HitList: TypeAlias = list[FactHit]

__all__ = ["Facts"]


@checks.public_class
class Facts:
    """The facts of a session: add, correct, forget and search them. All methods may be called from any thread.

    Every change is durable when the call returns, secrets are masked before, and other processes see it at their next
    call. Without ``cross_session`` only the session's own facts are visible.
    """

    __slots__ = ("_commit", "_store")

    def __init__(self, store: FactStore, *, commit: Callable[[], None] | None = None) -> None:
        """Wrap the facts that ``store`` sees; ``commit`` is called after every change, and returns when it is kept."""
        self._store = store
        self._commit = commit

    @property
    def store(self) -> FactStore:
        """The `FactStore`, for several changes in one append and for the facts nearest to a text."""
        return self._store

    def add(
        self,
        type: FactType,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] = (),
    ) -> Fact:
        """Add a fact; if an active fact says the same, ignoring case, return that one.

        >>> facts.add("decision", "Use Valkey for the session cache", context="license review").type  # doctest: +SKIP
        'decision'

        Raises:
            ConfigError: if the type is none of `memctx.facts.FACT_TYPES`, or the content is blank.
        """
        return self._committed(self._store.add(type, content, context=context, sources=sources))

    def update(
        self, id: str, content: str, *, context: str | None = None, sources: Iterable[str] = ()
    ) -> Fact:
        """Reword or extend an active fact under the same id. Its earlier text stays in its history.

        Sources are added to those it has; without a context it keeps its own.

        Raises:
            ConfigError: if no active fact has the id.
        """
        return self._committed(self._store.update(id, content, context=context, sources=sources))

    def supersede(
        self,
        id: str,
        content: str,
        *,
        type: FactType | None = None,
        context: str | None = None,
        sources: Iterable[str] = (),
    ) -> Fact:
        """Replace an active fact by a new one; return the new one.

        Without a type, the new fact has that of the old one.

        Raises:
            ConfigError: if no active fact has the id.
        """
        if type is None:
            old = self._store.get(id)
            kind: str = old.type if old else "config"
        else:
            kind = type
        return self._committed(
            self._store.supersede(id, kind, content, context=context, sources=sources)
        )

    def forget(self, id: str) -> Fact:
        """Remove an active fact from all searches and lists; the log and the history keep it.

        Raises:
            ConfigError: if no active fact has the id.
        """
        return self._committed(self._store.forget(id))

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        types: Iterable[FactType] | None = None,
        explain: bool = False,
    ) -> HitList:
        """Return the facts that answer a question, best first; none if no fact is about it.

        A fact must contain all of one or two significant words, half of up to eight, and 30 % of more, but never more
        than six. Words match in all forms and with their family: deploy, deployed, deployments. The score is the share
        of the words' weight, rare words weighing more; ``explain`` shows it word by word.

        >>> print(facts.search("webhook port", explain=True)[0].explanation)  # doctest: +SKIP
        1.000000 of the weight of the question's 2 words
          0.500000 "webhook", in 1 of 1 facts
          0.500000 "port", in 1 of 1 facts
        """
        return self._store.search(query, limit=limit, types=types, explain=explain)

    def get(self, id: str) -> Fact | None:
        """Return the current state of a fact, superseded or not; None if it is not visible here or was forgotten."""
        return self._store.get(id)

    def history(self, id: str) -> FactList:
        """Return all states of a fact and of every fact it superseded, oldest first.

        The result is the same for each of their ids, and empty if the id is not visible here.
        """
        return self._store.history(id)

    def list(
        self,
        *,
        types: Iterable[FactType] | None = None,
        limit: int | None = None,
        include_superseded: bool = False,
    ) -> FactList:
        """Return the active facts, newest first; ``include_superseded`` adds the superseded ones."""
        return self._store.facts(types=types, limit=limit, include_superseded=include_superseded)

    def _committed(self, fact: Fact) -> Fact:
        if self._commit is not None:
            self._commit()
        return fact

    def __iter__(self) -> Iterator[Fact]:
        """Iterate over the active facts, newest first."""
        return iter(self.list())

    def __len__(self) -> int:
        """Return the number of active facts."""
        return len(self._store)

    def __bool__(self) -> bool:
        """Return True, also without any fact."""
        return True

    def __repr__(self) -> str:
        return f"Facts({self._store!r})"

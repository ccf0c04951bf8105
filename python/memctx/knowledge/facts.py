"""`Facts`: what a memory knows, as ``memory.facts``.

>>> import tempfile
>>> from memctx import FactStore
>>> facts = Facts(FactStore(tempfile.mkdtemp(), session_id="s1"))
>>> old = facts.add("config", "The payment webhook listens on port 3000")
>>> new = facts.supersede(old.id, "The payment webhook listens on port 8443")
>>> [hit.fact.content for hit in facts.search("Which port has the webhook?")]
['The payment webhook listens on port 8443']
>>> [(fact.content[-9:], fact.is_active) for fact in facts.history(new.id)]
[('port 3000', True), ('port 3000', False), ('port 8443', True)]
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from memctx._core import Fact, FactHit, FactStore
    from memctx.knowledge.draft import FactType

    # `Facts.list` would hide the type of that name.
    FactList: TypeAlias = list[Fact]
    HitList: TypeAlias = list[FactHit]

__all__ = ["Facts"]


class Facts:
    """The facts of a session: stated, corrected, taken back, searched. All methods may be called from threads.

    Every change is durable when the call returns, secrets are masked before, and other processes see it at their next
    question. Without ``cross_session`` only the session's own facts exist here.
    """

    __slots__ = ("_store",)

    def __init__(self, store: FactStore) -> None:
        """The facts that ``store`` sees."""
        self._store = store

    @property
    def store(self) -> FactStore:
        """The store itself, for planned changes in one append and for facts near to a text."""
        return self._store

    def add(
        self,
        type: FactType,
        content: str,
        *,
        context: str | None = None,
        sources: Iterable[str] = (),
    ) -> Fact:
        """State something; if an active fact says the same, in whatever case, that one is given back.

        >>> facts.add("decision", "Use Valkey for the session cache", context="licence review").type  # doctest: +SKIP
        'decision'

        Raises:
            ConfigError: if the type is none of the six, or the content is blank.
        """
        return self._store.add(type, content, context=context, sources=sources)

    def update(
        self, id: str, content: str, *, context: str | None = None, sources: Iterable[str] = ()
    ) -> Fact:
        """Say an active fact better or say more of it, under the same id. What it said before is in its history.

        Sources are added to those it has; without a context it keeps the one it has.

        Raises:
            ConfigError: if no active fact has the id.
        """
        return self._store.update(id, content, context=context, sources=sources)

    def supersede(
        self,
        id: str,
        content: str,
        *,
        type: FactType | None = None,
        context: str | None = None,
        sources: Iterable[str] = (),
    ) -> Fact:
        """Say that something else holds now: a new fact takes the place of the old one. Gives the new one.

        Without a type it has that of the old one.

        Raises:
            ConfigError: if no active fact has the id.
        """
        if type is None:
            old = self._store.get(id)
            kind: str = old.type if old else "config"
        else:
            kind = type
        return self._store.supersede(id, kind, content, context=context, sources=sources)

    def forget(self, id: str) -> Fact:
        """Take an active fact back. It is found no more; the log and the history keep it.

        Raises:
            ConfigError: if no active fact has the id.
        """
        return self._store.forget(id)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        types: Iterable[FactType] | None = None,
        explain: bool = False,
    ) -> HitList:
        """The facts that answer a question, best first; nothing if no fact is about it.

        Of one or two words that say something a fact must have all, of up to eight half, of more 30 % and never more
        than six. The score is the share of what the words tell, rare ones telling more; ``explain`` shows it word by
        word.

        >>> print(facts.search("webhook port", explain=True)[0].explanation)  # doctest: +SKIP
        1.000000 of what the question's 2 words tell
          0.500000 "webhook", in 1 of 1 facts
          0.500000 "port", in 1 of 1 facts
        """
        return self._store.search(query, limit=limit, types=types, explain=explain)

    def get(self, id: str) -> Fact | None:
        """A fact as it is now, superseded or not; None if it is not known here or was forgotten."""
        return self._store.get(id)

    def history(self, id: str) -> FactList:
        """All states of a fact and of every fact it took the place of, oldest first: how it came to be what it is.

        The same from each of their ids; empty if the id is not known here.
        """
        return self._store.history(id)

    def list(
        self,
        *,
        types: Iterable[FactType] | None = None,
        limit: int | None = None,
        include_superseded: bool = False,
    ) -> FactList:
        """The facts that hold, newest first; on request also those that others took the place of."""
        return self._store.facts(types=types, limit=limit, include_superseded=include_superseded)

    def __iter__(self) -> Iterator[Fact]:
        """The facts that hold, newest first."""
        return iter(self.list())

    def __len__(self) -> int:
        """How many facts hold."""
        return len(self._store)

    def __bool__(self) -> bool:
        """Always true: without a fact it is still there to be told one."""
        return True

    def __repr__(self) -> str:
        return f"Facts({self._store!r})"

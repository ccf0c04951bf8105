"""Any changes, by several handles in any order, leave what a plain dictionary says they leave."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from memctx import FactStore

IDS = st.sampled_from(["a", "b", "c", "d"])
CONTENTS = st.sampled_from(
    ["port 1", "Port 1 ", "port 2", "端口 3", "cache on", "CACHE ON", "ポート 4"]
)
# An update makes no two facts that say the same here, of which the store may take either for the one that is known.
BETTER = st.integers(10, 10**9).map("port {}, TLS".format)
Told: TypeAlias = tuple[object, ...]
CHANGES = st.one_of(
    st.tuples(st.just("add"), CONTENTS),
    st.tuples(st.just("update"), IDS, BETTER),
    st.tuples(st.just("supersede"), IDS, CONTENTS),
    st.tuples(st.just("delete"), IDS),
)
BATCHES = st.lists(st.tuples(st.integers(0, 1), st.lists(CHANGES, max_size=4)), max_size=12)


class Model:
    """What holds, under ids that tests can foresee; the first four additions are a to d."""

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}
        self.known: set[str] = set()
        self.given = 0

    def next_id(self) -> str:
        self.given += 1
        return "abcd"[self.given - 1] if self.given <= 4 else f"x{self.given}"

    def twin(self, content: str) -> str | None:
        wanted = content.strip().lower()
        return next((id_ for id_, text in self.facts.items() if text.lower() == wanted), None)

    def add(self, content: str, id_: str | None) -> str:
        if self.twin(content):
            return "duplicate"
        # An update that comes too late gets an id of the store's own, which is not looked at.
        self.facts[id_ or f"?{len(self.known)}"] = content.strip()
        self.known.add(id_ or f"?{len(self.known)}")
        return "done"

    def change(self, change: tuple[str, ...]) -> tuple[str, Told]:
        """What is to become of a change, and how the store is told of it."""
        if change[0] == "add":
            id_ = self.next_id()
            outcome = self.add(change[1], id_)
            return outcome, ("add", id_, "config", change[1], None, ())
        if change[0] == "delete":
            gone = self.facts.pop(change[1], None)
            return ("missing" if gone is None else "done"), ("delete", change[1])
        if change[0] == "update":
            return self.update(*change[1:]), ("update", *change[1:], None, ())
        id_ = self.next_id()
        target, content = change[1:]
        told = ("supersede", target, id_, "config", content, None, ())
        return self.supersede(target, id_, content), told

    def update(self, target: str, content: str) -> str:
        if target in self.facts:
            is_same = self.facts[target] == content.strip()
            self.facts[target] = content.strip()
            return "duplicate" if is_same else "done"
        return self._late(self.add(content, None)) if target in self.known else "missing"

    def supersede(self, target: str, id_: str, content: str) -> str:
        if target not in self.facts:
            return self._late(self.add(content, id_))
        # Who says it already stays; if that is the target itself, there is nothing to do.
        if self.add(content, id_) == "duplicate" and self.twin(content) == target:
            return "duplicate"
        del self.facts[target]
        return "done"

    @staticmethod
    def _late(outcome: str) -> str:
        return "added" if outcome == "done" else outcome


@given(BATCHES)
def test_changes_leave_what_they_say(batches: list[tuple[int, list[tuple[str, ...]]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        handles = [FactStore(path, session_id="s", durability="os") for _ in range(2)]
        model = Model()
        for handle, changes in batches:
            planned = [model.change(change) for change in changes]
            outcomes = handles[handle].apply([told for _, told in planned])  # type: ignore[misc]
            assert outcomes == [outcome for outcome, _ in planned]
        fresh = FactStore(path, session_id="s", durability="os")
        for store in (*handles, fresh):
            assert sorted(fact.content for fact in store.facts()) == sorted(model.facts.values())
            assert len(store) == len(model.facts)
            for fact in store.facts():
                found = store.search(fact.content, limit=100)
                assert fact.id in {hit.fact.id for hit in found}
        assert fresh.facts(include_superseded=True) == handles[0].facts(include_superseded=True)
        for fact in fresh.facts(include_superseded=True):
            assert fresh.history(fact.id) == handles[1].history(fact.id)
            assert fact in fresh.history(fact.id)

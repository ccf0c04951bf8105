"""Model-based test of `FactStore`: any changes, by several handles, agree with a plain dictionary."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from memctx.lowlevel import FactStore, StoreOptions

IDS = st.sampled_from(["a", "b", "c", "d"])
CONTENTS = st.sampled_from(
    ["port 1", "Port 1 ", "port 2", "端口 3", "cache on", "CACHE ON", "ポート 4"]
)
# Updates never make two equal facts, of which the store might take either as the known one.
BETTER = st.integers(10, 10**9).map("port {}, TLS".format)
Change: TypeAlias = tuple[object, ...]
CHANGES = st.one_of(
    st.tuples(st.just("add"), CONTENTS),
    st.tuples(st.just("update"), IDS, BETTER),
    st.tuples(st.just("supersede"), IDS, CONTENTS),
    st.tuples(st.just("delete"), IDS),
)
BATCHES = st.lists(st.tuples(st.integers(0, 1), st.lists(CHANGES, max_size=4)), max_size=12)


class Model:
    """Reference implementation: active facts under predictable ids; the first four additions are a to d."""

    def __init__(self) -> None:
        self.facts: dict[str, str] = {}
        self.known: set[str] = set()
        self.given = 0

    def next_id(self) -> str:
        self.given += 1
        return "abcd"[self.given - 1] if self.given <= 4 else f"x{self.given}"

    def find_equal(self, content: str) -> str | None:
        wanted = content.strip().lower()
        return next((id_ for id_, text in self.facts.items() if text.lower() == wanted), None)

    def add(self, content: str, id_: str | None) -> str:
        if self.find_equal(content):
            return "duplicate"
        # A late update gets an id from the store, which is not compared.
        self.facts[id_ or f"?{len(self.known)}"] = content.strip()
        self.known.add(id_ or f"?{len(self.known)}")
        return "done"

    def change(self, change: tuple[str, ...]) -> tuple[str, Change]:
        """Return the expected outcome of a change, and the change as the store takes it."""
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
        row = ("supersede", target, id_, "config", content, None, ())
        return self.supersede(target, id_, content), row

    def update(self, target: str, content: str) -> str:
        if target in self.facts:
            is_same = self.facts[target] == content.strip()
            self.facts[target] = content.strip()
            return "duplicate" if is_same else "done"
        return self._late(self.add(content, None)) if target in self.known else "missing"

    def supersede(self, target: str, id_: str, content: str) -> str:
        if target not in self.facts:
            return self._late(self.add(content, id_))
        # An equal fact stays; if it is the target itself, there is nothing to do.
        if self.add(content, id_) == "duplicate" and self.find_equal(content) == target:
            return "duplicate"
        del self.facts[target]
        return "done"

    @staticmethod
    def _late(outcome: str) -> str:
        return "added" if outcome == "done" else outcome


@given(BATCHES)
def test_changes_by_several_handles_agree_with_the_model(
    batches: list[tuple[int, list[tuple[str, ...]]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory"
        handles = [FactStore(path, StoreOptions(session_id="s", durability="os")) for _ in range(2)]
        model = Model()
        for handle, changes in batches:
            planned = [model.change(change) for change in changes]
            outcomes = handles[handle].apply([row for _, row in planned])  # type: ignore[misc]
            assert outcomes == [outcome for outcome, _ in planned]
        fresh = FactStore(path, StoreOptions(session_id="s", durability="os"))
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

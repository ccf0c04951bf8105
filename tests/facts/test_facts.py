"""`Facts` as ``memory.facts``, and facts in a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memctx import Config, ConfigError, _core
from memctx.context.recall import Candidates, Recall, fact_id
from memctx.facts import Facts

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Opener

QUESTION = "Which port has the payment webhook?"


@pytest.fixture
def facts(opened: Opener) -> Facts:
    """Return the facts of a new session."""
    return Facts(opened())


def test_a_fact_is_added_updated_superseded_and_forgotten(facts: Facts) -> None:
    assert (len(facts), bool(facts), list(facts)) == (0, True, [])
    old = facts.add("config", "The payment webhook listens on port 3000", sources=["seg-1"])
    more = facts.update(old.id, "The payment webhook listens on port 3000, TLS only", context="ops")
    new = facts.supersede(old.id, "The payment webhook listens on port 8443")
    assert (new.type, more.sources) == ("config", ("seg-1",))
    assert [hit.fact for hit in facts.search(QUESTION)] == [new]
    assert (list(facts), facts.get(new.id)) == ([new], new)
    assert len(facts.list(include_superseded=True)) == 2
    assert [fact.revision for fact in facts.history(new.id)] == [0, 1, 2, 0]
    facts.forget(new.id)
    assert (facts.search(QUESTION), len(facts)) == ([], 0)


def test_supersede_can_change_the_type(facts: Facts) -> None:
    old = facts.add("task_state", "The webhook is being moved")
    assert facts.supersede(old.id, "The webhook was moved", type="implementation").type == (
        "implementation"
    )
    with pytest.raises(ConfigError, match="not known here"):
        facts.supersede("missing", "x")


def recalled(recall: Recall) -> Candidates:
    conversation = _core.MessageReader("script").read(
        [{"role": "user", "content": QUESTION}], "anthropic"
    )
    return recall.search(
        QUESTION,
        lambda contents: _core.visible(conversation, (), contents),
        room=500,
        visible=None,
    )


def test_a_turn_shows_a_fact_once_and_again_when_it_was_corrected(
    facts: Facts, tmp_path: Path
) -> None:
    store = _core.Store(tmp_path / "memory", _core.StoreOptions(session_id="s"))
    recall = Recall(store, facts, Config(storage_path=tmp_path / "memory"))
    fact = facts.add("config", "The payment webhook listens on port 3000")
    block = recalled(recall).block((), 500)
    assert block is not None
    assert "[config] The payment webhook listens on port 3000" in block.text
    known = {item.id for item in block.items}
    assert known == {fact_id(fact)}
    assert recalled(recall).block(known, 500) is None
    better = facts.update(fact.id, "The payment webhook listens on port 3000, TLS only")
    again = recalled(recall).block(known, 500)
    assert again is not None
    assert "TLS only" in again.text
    facts.supersede(better.id, "The payment webhook listens on port 8443")
    newest = recalled(recall).block(known | {fact_id(better)}, 500)
    assert newest is not None
    assert "8443" in newest.text
    assert "3000" not in newest.text

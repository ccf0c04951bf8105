"""Search for questions as people ask them, and the quality of the matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import memctx
from memctx.lowlevel import Store, StoreOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

MINIMUM = 0.7
TALK = [
    ("user", "For staging we moved Postgres off the default: it listens on 5433 now."),
    ("assistant", "Noted, I will change the compose file and the health checks."),
    ("user", "The payment webhook retries three times, then it gives up."),
    ("assistant", "Understood. Should the deploys wait for it?"),
    ("user", "支付回调失败了三次，然后放弃重试。"),
    ("user", "Caroline went to the museum with her sister."),
    ("assistant", "That sounds lovely; which paintings did they like?"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "memory", StoreOptions(session_id="s1", durability="os"))
    store.add([(role, text, 1e12 + at, None) for at, (role, text) in enumerate(TALK)])
    yield store
    store.close()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which port does staging Postgres listen on?", "5433"),
        ("how often does the payment webhook retry?", "three times"),
        ("支付回调为什么失败", "三次"),
        ("what museum did Caroline go to?", "museum"),
    ],
)
def test_a_question_that_is_answered_passes_the_minimum(
    store: Store, question: str, answer: str
) -> None:
    """The words that a question is about decide, in whatever form they stand."""
    hits, *_ = store.search_within(question, 0.0, min_certainty=MINIMUM)
    assert answer in hits[0].segment.content
    assert 1 >= hits[0].score > 0.5
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize(
    "question",
    [
        "thanks, looks good",
        "ok, please continue",
        "what do you think?",
        "Which color had the curtains in grandmother's kitchen?",
        "周末的天气怎么样",
        "東京の人口は何人ですか",
    ],
)
def test_a_question_to_another_memory_recalls_nothing(store: Store, question: str) -> None:
    """Small talk and foreign questions find results, as any search does, but none that matches."""
    assert store.search_within(question, 0.0, min_certainty=MINIMUM)[0] == []
    assert all(hit.score < MINIMUM for hit in store.search(question))


def test_neighbors_of_a_match_are_recalled(store: Store) -> None:
    """An answer that shares no word with the question is found through its neighbor."""
    hits = store.search("Which port does staging Postgres listen on?", limit=3)
    assert any("compose file" in hit.segment.content for hit in hits)


def test_openclaw_ranking_is_unchanged(store: Store) -> None:
    """With `ranking="openclaw"` neither forms nor neighbors nor roles count, and the score is the weighted sum."""
    hits = store.search("deploy", ranking="openclaw", limit=3)
    assert not any(hit.bm25 for hit in hits)
    assert store.search("deploy")[0].segment.content.startswith("Understood")


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_a_message_that_only_repeats_the_question_is_not_recalled(tmp_path: Path) -> None:
    with memctx.open(tmp_path, session_id="s", context_window=20_000) as memory:
        answer = "The staging database listens on port 5433."
        memory.archive([said("Which port does the staging database use?"), said(answer)])
        turn = memory.prepare([said("which port does the staging database use")])
    found = [item for item in turn.report.recalled if item.companion_of is None]
    assert len(found) == 1
    assert answer in str(turn.messages[0])


def test_scores_do_not_depend_on_the_number_of_results(tmp_path: Path) -> None:
    """Many that answer alike share the probability, however many of them are wanted."""
    store = Store(tmp_path / "memory", StoreOptions(session_id="s1", durability="os"))
    store.add([("user", f"The deploy of service {at} is done.", None, None) for at in range(200)])
    few, many = (store.search("deploy", limit=limit) for limit in (5, 200))
    store.close()
    assert [hit.score for hit in few] == pytest.approx([hit.score for hit in many[:5]], rel=0.05)
    assert many[-1].score > 0.001

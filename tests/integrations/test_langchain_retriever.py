"""The retriever for LangChain: sessions, metadata, limits, failures."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langchain_core")

from langchain_core.runnables import RunnableLambda

import memctx
from memctx.errors import ConfigError
from memctx.integrations.langchain import MemctxRetriever

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "The payment webhook listens on port 8443."
QUESTION = "Which port does the payment webhook use?"


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    for session, text in (("alice", STATED), ("bob", "The payment webhook moved to port 9443.")):
        with memctx.open(tmp_path, session_id=session) as memory:
            memory.archive(
                [
                    {"role": "user", "content": text},
                    {"role": "assistant", "content": "The coffee was late on Monday."},
                    {"role": "user", "content": "支付回调的端口是 8443"},
                ]
            )
    return tmp_path


def test_documents_have_ids_scores_and_sessions(filled: Path) -> None:
    retriever = MemctxRetriever(filled, session_id="alice")
    found = retriever.invoke(QUESTION)
    again = asyncio.run(retriever.ainvoke(QUESTION))
    retriever.close()
    assert found == again
    best = found[0]
    assert best.page_content == STATED
    assert best.id == best.metadata["id"]
    assert best.metadata["session_id"] == "alice"
    assert best.metadata["role"] == "user"
    assert 0 < best.metadata["score"] <= 1
    assert best.metadata["timestamp"] > 1_700_000_000_000
    scores = [each.metadata["score"] for each in found]
    assert scores == sorted(scores, reverse=True)
    assert {each.metadata["session_id"] for each in found} == {"alice"}


def test_chinese_question(filled: Path) -> None:
    retriever = MemctxRetriever(filled, session_id="alice", limit=1)
    [found] = retriever.invoke("支付端口")
    retriever.close()
    assert found.page_content == "支付回调的端口是 8443"


def test_limits_and_filters(filled: Path) -> None:
    conditions = memctx.SearchFilter(roles=["assistant"])
    one = MemctxRetriever(filled, session_id="alice", limit=1)
    sure = MemctxRetriever(filled, session_id="alice", min_score=0.99)
    spoken = MemctxRetriever(filled, session_id="alice", filter=conditions)
    assert len(one.invoke(QUESTION)) == 1
    assert sure.invoke("Who plays the piano?") == []
    assert {each.metadata["role"] for each in spoken.invoke("coffee")} == {"assistant"}
    for each in (one, sure, spoken):
        each.close()


def test_session_is_that_of_the_thread(filled: Path) -> None:
    retriever = MemctxRetriever(filled, limit=1)
    chain = RunnableLambda(lambda text: retriever.invoke(text.strip()))
    for each in (retriever, chain):
        runner: Any = each
        for name, port in (("alice", "8443"), ("bob", "9443")):
            [found] = runner.invoke(QUESTION, {"configurable": {"thread_id": name}})
            assert port in found.page_content
    retriever.close()


def test_all_sessions_are_searched_on_request(filled: Path) -> None:
    retriever = MemctxRetriever(filled, cross_session=True)
    found = {each.metadata["session_id"] for each in retriever.invoke(QUESTION)}
    retriever.close()
    assert found == {"alice", "bob"}


def test_failure_of_memory_finds_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("no folder")
    assert MemctxRetriever(tmp_path / "file", session_id="s").invoke(QUESTION) == []
    assert MemctxRetriever(tmp_path).invoke(QUESTION) == []
    assert caplog.text.count("memory is not searched") == 2
    with pytest.raises(ConfigError):
        MemctxRetriever(tmp_path, context_size=3)  # type: ignore[call-arg]

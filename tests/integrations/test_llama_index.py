"""LlamaIndex: sessions, usage, chat engines, the memory block, blocks of every kind, and failures."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import memctx

pytest.importorskip("llama_index.core")

from llama_index.core.base.llms.types import ThinkingBlock, ToolCallBlock
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    ImageBlock,
    MockLLM,
    TextBlock,
)
from llama_index.core.memory import Memory
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.llms.openai_like import OpenAILike

from memctx.integrations.llama_index import MemctxMemory, MemctxMemoryBlock
from memctx.integrations.llama_index.views import LlamaViews
from providers.server import Provider

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integrations

STATED = "We decided that the payment webhook listens on port 8443."
QUESTION = "On which port does the payment webhook listen?"
VIEWS = LlamaViews()


class Nothing(BaseRetriever):
    """Retrieves a document that says nothing."""

    def _retrieve(self, query_bundle: Any) -> list[Any]:
        del query_bundle
        return [NodeWithScore(node=TextNode(text="Nothing."), score=1.0)]


def model(provider: Provider) -> Any:
    return OpenAILike(
        model="loopback",
        api_base=f"{provider.url}/v1",
        api_key="x",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
    )


def texts(memory: Any, session: str) -> str:
    found = memory.sessions.open(session).store.segments()
    return "\n".join(segment.content for segment in found)


def fill(memory: MemctxMemory) -> None:
    """State a fact, and say so much that it leaves the window."""
    memory.put(ChatMessage(STATED))
    memory.put(ChatMessage("Noted.", role="assistant"))
    for n in range(30):
        memory.put(ChatMessage(f"Remark {n}: {'the parking lot stays closed until May. ' * 20}"))
        memory.get()
        memory.put(ChatMessage("Noted.", role="assistant"))


def test_each_session_has_a_memory_and_a_history_of_its_own(tmp_path: Path) -> None:
    store = SimpleChatStore()
    one, two = (
        MemctxMemory(tmp_path, session_id=name, chat_store=store, context_window=200_000)
        for name in ("t1/reader", "t2/reader")
    )
    one.put(ChatMessage(STATED))
    assert len(one.get()) == 1
    one.put(ChatMessage("Noted.", role="assistant"))
    two.put(ChatMessage(QUESTION))
    assert [message.content for message in two.get()] == [QUESTION]
    assert "8443" in texts(one, "t1/reader")
    assert "8443" not in texts(two, "t2/reader")
    assert store.get_keys() == ["t1/reader", "t2/reader"]
    one.sessions.close()
    two.sessions.close()


def test_usage_of_the_first_call_of_a_run_is_observed(tmp_path: Path) -> None:
    memory = MemctxMemory(tmp_path, session_id="s", context_window=200_000)
    with Provider() as provider:
        engine = SimpleChatEngine.from_defaults(llm=model(provider), memory=memory)
        engine.chat(QUESTION)
        sent = provider.requests[-1].tokens
    assert memory.sessions.open("s").counters.input_tokens == sent
    memory.sessions.close()


def test_context_engine_recalls_for_a_question_that_is_not_stored_yet(tmp_path: Path) -> None:
    """It asks for the history before it puts the question there."""
    memory = MemctxMemory(tmp_path, session_id="s", context_window=4_000)
    fill(memory)
    with Provider() as provider:
        engine = ContextChatEngine.from_defaults(
            retriever=Nothing(), llm=model(provider), memory=memory
        )
        engine.chat(QUESTION)
    sent = [str(message["content"]) for message in provider.requests[-1].body["messages"]]
    assert provider.refused == []
    assert sum(QUESTION in text for text in sent) == 1
    assert any("8443" in text for text in sent[:-1])
    assert len(memory.get_all()) == 64
    memory.sessions.close()


def test_history_after_an_answer_is_what_was_sent_and_the_answer(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    memory = MemctxMemory(tmp_path, session_id="s", context_window=4_000, on_turn=turns.append)
    fill(memory)
    memory.put(ChatMessage(QUESTION))
    sent = memory.get()
    memory.put(ChatMessage("Port 8443.", role="assistant"))
    count = len(turns)
    assert memory.get() == [*sent, memory.get_all()[-1]]
    assert len(turns) == count
    memory.reset()
    assert memory.get() == memory.get_all() == []
    memory.sessions.close()


def test_asynchronous_and_synchronous_calls_agree(tmp_path: Path) -> None:
    async def hold() -> list[ChatMessage]:
        memory = MemctxMemory(tmp_path, session_id="s", context_window=200_000)
        await memory.aset([ChatMessage(STATED), ChatMessage("Noted.", role="assistant")])
        await memory.aput(ChatMessage(QUESTION))
        sent = await memory.aget()
        assert sent == memory.get()
        assert await memory.aget_all() == memory.get_all()
        await memory.areset()
        memory.sessions.close()
        return sent

    assert [message.content for message in asyncio.run(hold())] == [STATED, "Noted.", QUESTION]


def test_blocks_of_every_kind_are_sent_as_the_same_objects(tmp_path: Path) -> None:
    messages = [
        ChatMessage("You read logs.", role="system"),
        ChatMessage([TextBlock(text="Look."), ImageBlock(image=b"iVBORw0KGgo=")]),
        ChatMessage(
            [
                ThinkingBlock(content="Hm.", additional_information={"signature": "s"}),
                TextBlock(text="I look."),
                ToolCallBlock(tool_call_id="c1", tool_name="shot", tool_kwargs={"n": 1}),
            ],
            role="assistant",
        ),
        ChatMessage(
            [TextBlock(text="A picture:"), ImageBlock(image=b"iVBORw0KGgo=")],
            role="tool",
            additional_kwargs={"tool_call_id": "c1"},
        ),
        ChatMessage(
            role="assistant",
            additional_kwargs={
                "tool_calls": [{"id": "c2", "function": {"name": "shot", "arguments": "{}"}}]
            },
        ),
        ChatMessage("Nothing.", role="tool", additional_kwargs={"tool_call_id": "c2"}),
        ChatMessage([ThinkingBlock(content="Hm."), TextBlock(text="Done.")], role="assistant"),
        ChatMessage(QUESTION),
    ]
    with memctx.open(tmp_path, session_id="s", context_window=200_000) as memory:
        sent, turn = VIEWS.prepare(memory, messages)
        assert turn.report.errors == ()
        assert turn.report.repaired == ()
        assert all(one is two for one, two in zip(sent, messages, strict=True))
        result = messages[3].model_copy(deep=True)
        result.blocks[0] = TextBlock(text="head " + "x" * 5_000)
        cut = VIEWS.truncate(memory, result, 1_000)
    assert len(cut.content or "") < 1_500
    assert cut.blocks[1] is result.blocks[1]
    assert cut.additional_kwargs == {"tool_call_id": "c1"}


def test_results_without_an_id_are_sent_as_they_are(tmp_path: Path) -> None:
    turns: list[memctx.Turn] = []
    memory = MemctxMemory(tmp_path, session_id="s", context_window=200_000, on_turn=turns.append)
    messages = [ChatMessage("Go."), ChatMessage("42", role="tool"), ChatMessage("Well?")]
    memory.set(messages)
    assert memory.get() == messages
    assert turns[0].report.errors
    memory.sessions.close()


def test_errors_of_the_model_pass_through(tmp_path: Path) -> None:
    class OutOfOrderError(Exception):
        """A failure of the provider."""

    class Failing(MockLLM):
        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            del messages, kwargs
            raise OutOfOrderError

    memory = MemctxMemory(tmp_path, session_id="s", context_window=200_000)
    engine = SimpleChatEngine.from_defaults(llm=Failing(), memory=memory)
    with pytest.raises(OutOfOrderError):
        engine.chat(QUESTION)
    memory.sessions.close()


def test_memory_block_recalls_what_left_the_short_term_memory(tmp_path: Path) -> None:
    async def hold() -> str:
        block = MemctxMemoryBlock(tmp_path, context_window=200_000)
        memory = Memory.from_defaults(
            session_id="s", token_limit=1_000, token_flush_size=200, memory_blocks=[block]
        )
        await memory.aput(ChatMessage(STATED))
        await memory.aput(ChatMessage("Noted.", role="assistant"))
        for n in range(20):
            await memory.aput(ChatMessage(f"Remark {n}: {'the lot stays closed. ' * 30}"))
            await memory.aput(ChatMessage("Noted.", role="assistant"))
        await memory.aput(ChatMessage(QUESTION))
        sent = await memory.aget()
        assert "8443" in texts(block, "s")
        block.sessions.close()
        assert STATED not in [message.content for message in sent]
        return "\n".join(str(message.content) for message in sent)

    assert "8443" in asyncio.run(hold())

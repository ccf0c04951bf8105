"""Adapters as a typed program uses them: a client keeps its type. Only type checkers read this file."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncAzureOpenAI, AsyncOpenAI, OpenAI

from memctx.integrations.anthropic import MemctxMiddleware
from memctx.integrations.openai import remember, session

if TYPE_CHECKING:
    from memctx import Memory, Turn


def errors(turn: Turn) -> tuple[str, ...]:
    return turn.report.errors


async def use_openai(memory: Memory, azure: AsyncAzureOpenAI) -> None:
    client = remember(OpenAI(), memory, on_turn=errors)
    assert_type(client, OpenAI)
    with session("alice", agent="planner") as name:
        assert_type(name, str)
        assert_type(client.responses.create(model="m", input="Hello.").output_text, str)
    assert_type(remember(AsyncOpenAI(), "./memory", session_id="s", context_window=1), AsyncOpenAI)
    assert_type(remember(azure, "./memory", session_id="s"), AsyncAzureOpenAI)


def use_anthropic(memory: Memory) -> None:
    Anthropic(middleware=[MemctxMiddleware(memory)])
    AsyncAnthropic(middleware=[MemctxMiddleware("./memory", session_id="s", auto_recall=False)])

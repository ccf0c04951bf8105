"""langmem's tools over the store of memctx."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("langmem")

from langgraph.graph import START, StateGraph
from langmem import create_manage_memory_tool, create_search_memory_tool

from memctx.integrations.langgraph import MemctxStore

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integrations


def test_memories_are_managed_and_found(tmp_path: Path) -> None:
    namespace = ("memories", "{user}")
    manage, search = create_manage_memory_tool(namespace), create_search_memory_tool(namespace)

    async def talk(state: dict[str, Any]) -> dict[str, Any]:
        done = manage.invoke({"content": "Alice loves ramen", "action": "create"})
        key = done.split()[-1]
        await manage.ainvoke({"content": "支付回调的端口是 8443", "action": "create"})
        await manage.ainvoke({"content": "The cat sleeps on the sofa", "action": "create"})
        manage.invoke({"content": "Alice loves sushi", "action": "update", "id": key})
        return state | {
            "food": await search.ainvoke({"query": "what does she like to eat?", "limit": 1}),
            "port": search.invoke({"query": "支付端口", "limit": 1}),
        }

    builder: Any = StateGraph(dict)
    builder.add_node("talk", talk)
    builder.add_edge(START, "talk")
    with MemctxStore(tmp_path) as store:
        graph = builder.compile(store=store)
        found = asyncio.run(graph.ainvoke({}, {"configurable": {"user": "alice"}}))
        assert store.list_namespaces() == [("memories", "alice")]
    [food], [port] = json.loads(found["food"]), json.loads(found["port"])
    assert food["value"] == {"content": "Alice loves sushi"}
    assert port["value"] == {"content": "支付回调的端口是 8443"}

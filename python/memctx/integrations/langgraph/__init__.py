"""LangGraph: a durable store with search.

from memctx.integrations.langgraph import MemctxStore

graph = builder.compile(store=MemctxStore("./memory"))
"""

from memctx.bridge import require

require("langgraph", "1.0", extra="langgraph")

from memctx.integrations.langgraph.store import MemctxStore  # noqa: E402 - after the check

__all__ = ["MemctxStore"]

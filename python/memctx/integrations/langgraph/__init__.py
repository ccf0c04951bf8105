"""LangGraph: a durable store with search, and a chat model with memory for hand-written graphs.

from memctx.integrations.langgraph import MemctxModel, MemctxStore

model = MemctxModel(ChatAnthropic(model="claude-sonnet-4-5"), "./memory", context_window=200_000)
graph = builder.compile(store=MemctxStore("./memory"))
"""

from memctx.bridge import require

require("langgraph", "1.0", extra="langgraph")

from memctx.integrations.langgraph.model import MemctxModel  # noqa: E402 - after the check
from memctx.integrations.langgraph.store import MemctxStore  # noqa: E402

__all__ = ["MemctxModel", "MemctxStore"]

"""LangChain and LangGraph: a middleware for agents, a chat history, and a retriever.

from memctx.integrations.langchain import MemctxMiddleware

agent = create_agent(model, tools, middleware=[MemctxMiddleware("./memory", context_window=200_000)])
"""

from memctx.bridge import require

require("langchain", "1.2", extra="langchain")

from memctx.integrations.langchain.middleware import MemctxMiddleware  # noqa: E402 - after the check

__all__ = ["MemctxMiddleware"]

"""LangChain: a middleware for agents, a chat history, and a retriever.

from memctx.integrations.langchain import MemctxMiddleware

agent = create_agent(model, tools, middleware=[MemctxMiddleware("./memory", context_window=200_000)])
"""

from typing import TYPE_CHECKING

from memctx._lazy import lazy_exports
from memctx.bridge import require

require("langchain-core", "1.0", extra="langchain")

if TYPE_CHECKING:
    from memctx.integrations.langchain.history import MemctxChatMessageHistory
    from memctx.integrations.langchain.middleware import MemctxMiddleware
    from memctx.integrations.langchain.models import model_name as model_name
    from memctx.integrations.langchain.models import usage_of as usage_of
    from memctx.integrations.langchain.models import window_of as window_of
    from memctx.integrations.langchain.retriever import MemctxRetriever
    from memctx.integrations.langchain.views import LangChainViews as LangChainViews

__all__ = ["MemctxChatMessageHistory", "MemctxMiddleware", "MemctxRetriever"]

# Imported when first used: the middleware needs langchain, all else only langchain-core, which LangGraph brings.
_LATER = {
    "LangChainViews": "memctx.integrations.langchain.views",
    "MemctxChatMessageHistory": "memctx.integrations.langchain.history",
    "MemctxMiddleware": "memctx.integrations.langchain.middleware",
    "MemctxRetriever": "memctx.integrations.langchain.retriever",
    "model_name": "memctx.integrations.langchain.models",
    "usage_of": "memctx.integrations.langchain.models",
    "window_of": "memctx.integrations.langchain.models",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

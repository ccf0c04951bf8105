"""Microsoft Agent Framework: a chat middleware, and a context provider that only recalls.

from memctx.integrations.agent_framework import MemctxMiddleware

agent = Agent(client, middleware=[MemctxMiddleware("./memory", context_window=200_000)])
"""

from memctx.bridge import require

require("agent-framework-core", "1.23", extra="agent-framework")

from memctx.integrations.agent_framework.context_provider import (  # noqa: E402 - after the check
    MemctxContextProvider,
)
from memctx.integrations.agent_framework.middleware import (  # noqa: E402 - after the check
    MemctxMiddleware,
)

__all__ = ["MemctxContextProvider", "MemctxMiddleware"]

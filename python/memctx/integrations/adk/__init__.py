"""Google's Agent Development Kit: a plugin for runners, and a memory service for their tools.

from memctx.integrations.adk import MemctxPlugin

app = App(name="shop", root_agent=agent, plugins=[MemctxPlugin("./memory", context_window=1_000_000)])
"""

from memctx.bridge import require

require("google-adk", "2.13", extra="adk")

from memctx.integrations.adk.memory_service import MemctxMemoryService  # noqa: E402 - after the check
from memctx.integrations.adk.plugin import MemctxPlugin  # noqa: E402 - after the check

__all__ = ["MemctxMemoryService", "MemctxPlugin"]

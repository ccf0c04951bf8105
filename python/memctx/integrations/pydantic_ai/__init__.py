"""Pydantic AI: a capability that prepares the model requests of an agent.

from memctx.integrations.pydantic_ai import MemctxCapability

agent = Agent(model, capabilities=[MemctxCapability("./memory", context_window=200_000)])
"""

from memctx.bridge import require

require("pydantic-ai-slim", "2.66", extra="pydantic-ai")

from memctx.integrations.pydantic_ai.capability import MemctxCapability  # noqa: E402 - after the check

__all__ = ["MemctxCapability"]

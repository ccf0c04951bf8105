"""LlamaIndex: a memory for agents and chat engines, and a memory block that only recalls.

from memctx.integrations.llama_index import MemctxMemory

await agent.run(user_msg, memory=MemctxMemory("./memory", session_id="alice", context_window=200_000))
"""

from memctx.bridge import require

require("llama-index-core", "0.14", extra="llama-index")

from memctx.integrations.llama_index.block import MemctxMemoryBlock  # noqa: E402 - after the check
from memctx.integrations.llama_index.memory import MemctxMemory  # noqa: E402

__all__ = ["MemctxMemory", "MemctxMemoryBlock"]

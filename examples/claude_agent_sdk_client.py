"""An agent of the Claude Agent SDK that remembers what a compaction has dropped.

pip install "memctx[claude-agent-sdk]"
python examples/claude_agent_sdk_client.py
"""

import asyncio

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage
from loopback import QUESTION, STORE, TALK, provider

from memctx.integrations.claude_agent_sdk import MemctxMemory


async def main(url: str | None) -> None:
    """Hold a conversation over a compaction."""
    options = ClaudeAgentOptions(cwd=STORE, env={"ANTHROPIC_BASE_URL": url} if url else {})
    async with ClaudeSDKClient(MemctxMemory(STORE).options(options)) as client:
        for said in [TALK[0], "/compact", QUESTION]:
            await client.query(said)
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    answer = message.result
    print(answer)


with provider("ANTHROPIC_API_KEY", window=200_000) as url:
    asyncio.run(main(url))

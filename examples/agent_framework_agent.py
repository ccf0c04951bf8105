"""An agent of Microsoft Agent Framework that remembers what has left its window.

pip install "memctx[agent-framework]" agent-framework-openai
python examples/agent_framework_agent.py
"""

import asyncio

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient
from loopback import STORE, TALK, WINDOW, provider

from memctx.integrations.agent_framework import MemctxMiddleware


async def talk(url: str | None) -> None:
    """Hold the conversation, and print the last answer."""
    agent = Agent(
        OpenAIChatClient(model="gpt-5-mini", base_url=url and f"{url}/v1"),
        middleware=[MemctxMiddleware(STORE, context_window=WINDOW)],
        default_options={"store": False},
    )
    session = agent.create_session()
    answers = [await agent.run(said, session=session) for said in TALK]
    print(answers[-1].text)


with provider("OPENAI_API_KEY") as address:
    asyncio.run(talk(address))

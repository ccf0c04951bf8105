"""An agent of Google's Agent Development Kit that remembers what has left its window.

pip install "memctx[adk]"
python examples/adk_agent.py
"""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner
from loopback import STORE, TALK, WINDOW, provider

from memctx.integrations.adk import MemctxPlugin


async def talk(url: str | None) -> None:
    """Hold the conversation, and print the last answer."""
    agent = LlmAgent(name="assistant", model=Gemini(model="gemini-2.5-flash", base_url=url))
    plugin = MemctxPlugin(STORE, context_window=WINDOW)
    runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=[plugin]))
    events = await runner.run_debug(TALK, quiet=True)
    print(events[-1].content.parts[-1].text)
    await runner.close()


with provider("GOOGLE_API_KEY") as address:
    asyncio.run(talk(address))

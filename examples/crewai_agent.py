"""An agent of CrewAI that remembers what has left its window.

pip install "memctx[crewai]"
python examples/crewai_agent.py
"""

import os

from crewai import LLM, Agent
from loopback import STORE, TALK, WINDOW, provider

from memctx.integrations.crewai import MemctxHooks

with provider("OPENAI_API_KEY") as url:
    base = f"{url}/v1" if url else None
    llm = LLM(model="openai/gpt-4o", base_url=base, api_key=os.environ["OPENAI_API_KEY"])
    agent = Agent(role="Assistant", goal="Help.", backstory="You help.", llm=llm)
    hooks = MemctxHooks(STORE, session_id="alice", context_window=WINDOW).register()
    for said in TALK:
        answer = agent.kickoff(said)
    hooks.unregister()
    print(answer.raw)

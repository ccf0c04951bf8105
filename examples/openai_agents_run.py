"""An agent of the OpenAI Agents SDK that remembers what has left its window.

pip install "memctx[openai-agents]"
python examples/openai_agents_run.py
"""

from agents import Agent, OpenAIResponsesModel, RunConfig, Runner, SQLiteSession
from loopback import STORE, TALK, WINDOW, provider
from openai import AsyncOpenAI

from memctx.integrations.openai_agents import MemctxMemory

with provider("OPENAI_API_KEY") as url:
    client = AsyncOpenAI(base_url=url and f"{url}/v1")
    agent = Agent(name="assistant", model=OpenAIResponsesModel("gpt-5-mini", client))
    memory = MemctxMemory(STORE, context_window=WINDOW)
    options = memory.options(
        session=SQLiteSession("alice"), run_config=RunConfig(tracing_disabled=True)
    )
    for said in TALK:
        result = Runner.run_sync(agent, said, **options)
    print(result.final_output)

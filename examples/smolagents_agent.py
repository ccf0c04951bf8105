"""An agent of smolagents that remembers what has left its window.

pip install "memctx[smolagents]" "smolagents[openai]"
python examples/smolagents_agent.py
"""

import os

from loopback import STORE, TALK, WINDOW, provider
from smolagents import ChatMessage, MessageRole, OpenAIModel

from memctx.integrations.smolagents import MemctxModel

with provider("OPENAI_API_KEY") as url:
    base = f"{url}/v1" if url else None
    own = OpenAIModel("gpt-5-mini", base, os.environ["OPENAI_API_KEY"])
    model = MemctxModel(own, STORE, session_id="alice", context_window=WINDOW)
    messages: list[ChatMessage] = []
    for said in TALK:
        content = [{"type": "text", "text": said}]
        messages.append(ChatMessage(role=MessageRole.USER, content=content))
        messages.append(answer := model(messages))
    print(answer.content)

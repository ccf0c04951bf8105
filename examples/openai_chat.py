"""A chat through OpenAI's client that remembers what has left its window.

pip install "memctx[openai]"
python examples/openai_chat.py
"""

from loopback import STORE, TALK, WINDOW, provider
from openai import OpenAI

from memctx.integrations.openai import remember

with provider("OPENAI_API_KEY") as url:
    client = OpenAI(base_url=f"{url}/v1" if url else None)
    client = remember(client, STORE, session_id="alice", context_window=WINDOW)
    items = []
    for said in TALK:
        items.append({"role": "user", "content": said})
        answer = client.responses.create(model="gpt-5-mini", input=items, store=False)
        items += answer.output
    print(answer.output_text)

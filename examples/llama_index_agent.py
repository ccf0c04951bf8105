"""A chat engine of LlamaIndex that remembers what has left its window.

pip install "memctx[llama-index]" llama-index-llms-openai-like
python examples/llama_index_agent.py
"""

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.llms.openai_like import OpenAILike
from loopback import STORE, TALK, WINDOW, provider

from memctx.integrations.llama_index import MemctxMemory

with provider("OPENAI_API_KEY") as url:
    llm = OpenAILike(
        model="gpt-5-mini",
        api_base=f"{url}/v1" if url else "https://api.openai.com/v1",
        is_chat_model=True,
    )
    memory = MemctxMemory(STORE, session_id="alice", context_window=WINDOW)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    for said in TALK:
        answer = engine.chat(said)
    print(answer.response)

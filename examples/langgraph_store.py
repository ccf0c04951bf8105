"""Long-term memory of a graph in a directory: found by words and by meaning after the program has ended.

pip install "memctx[langgraph]"
python examples/langgraph_store.py
"""

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from loopback import QUESTION, STORE

from memctx.integrations.langgraph import MemctxStore


def answer(state: MessagesState, *, store: BaseStore) -> dict[str, list[str]]:
    """Answer with the best memory of the user."""
    best = store.search(("users", "alice"), query=state["messages"][-1].text, limit=1)[0]
    return {"messages": [best.value["text"]]}


with MemctxStore(STORE) as store:
    store.put(("users", "alice"), "coffee", {"text": "Coffee was late."})
    store.put(("users", "alice"), "webhook", {"text": "Port 8443.", "about": "payment webhook"})
builder = StateGraph(MessagesState)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")
state = builder.compile(store=MemctxStore(STORE)).invoke({"messages": [("user", QUESTION)]})
print(state["messages"][-1].text)

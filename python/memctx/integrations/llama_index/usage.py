"""Usage of calls, from the events of LlamaIndex: a memory of it never sees an answer's usage."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent
from llama_index.core.llms import MessageRole
from llama_index_instrumentation import get_dispatcher

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage, ChatResponse

    from memctx.bridge import Prepared

MAX_WAITING = 64
"""Most turns whose usage is waited for; the oldest are given up."""

_waiting: OrderedDict[int, tuple[ChatMessage, Prepared[ChatMessage]]] = OrderedDict()
"""Turns by the identity of the last message that each sent, which the entry keeps alive."""


class UsageHandler(BaseEventHandler):
    """Observes the usage of each call that ends with the messages of a turn, or with a question after them."""

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the handler."""
        return "MemctxUsageHandler"

    def handle(self, event: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as in the base
        """Observe the usage of a call; what an agent adds to a prompt by itself, such as results, is none of a turn."""
        del kwargs
        if not isinstance(event, LLMChatEndEvent) or event.response is None:
            return
        last = event.messages[-1:]
        if last and last[0].role == MessageRole.USER:
            last = event.messages[-2:]
        for message in last:
            waiting = _waiting.get(id(message))
            if waiting is not None and waiting[0] is message:
                del _waiting[id(message)]
                waiting[1].observe(_usage(event.response))


def wait_for(sent: list[ChatMessage], prepared: Prepared[ChatMessage]) -> None:
    """Observe the usage of the call that sends these messages."""
    if sent and prepared.memory is not None:
        _waiting[id(sent[-1])] = (sent[-1], prepared)
        while len(_waiting) > MAX_WAITING:
            _waiting.popitem(last=False)


def _usage(response: ChatResponse) -> object:
    """Return the usage as the provider's SDK has it; None if there is none."""
    raw = response.raw
    found = raw.get("usage") if isinstance(raw, dict) else getattr(raw, "usage", None)
    counted = response.additional_kwargs
    return found or (counted if "prompt_tokens" in counted else counted.get("usage"))


get_dispatcher().add_event_handler(UsageHandler())

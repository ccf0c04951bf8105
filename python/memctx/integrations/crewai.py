"""CrewAI: hooks around every model call of agents.

from memctx.integrations.crewai import MemctxHooks

MemctxHooks("./memory", session_id="alice", context_window=200_000).register()
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from memctx.bridge import require

require("crewai", "1.15", extra="crewai")

from crewai.hooks import (  # noqa: E402 - after the check
    register_after_llm_call_hook,
    register_before_llm_call_hook,
    unregister_after_llm_call_hook,
    unregister_before_llm_call_hook,
)

from memctx.bridge import Sessions  # noqa: E402
from memctx.errors import ConfigError  # noqa: E402

if TYPE_CHECKING:
    from os import PathLike

    from crewai.hooks import LLMCallHookContext

    from memctx.bridge import Options, Prepared
    from memctx.memory import Memory

__all__ = ["MemctxHooks"]

MAX_RUNNING = 256
"""Most calls whose ends are waited for; those that failed have none."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call on its way."""

    messages: list[Any]
    """The executor's list, which holds what is sent until the call ends."""
    whole: list[Any]
    """Everything that was in it."""
    prepared: Prepared[Any]
    counted: tuple[int, int, int]
    """Requests and tokens of the model before the call."""

    def restore(self) -> None:
        """Write everything back into the executor's list, with what was appended since; not if it was replaced."""
        sent = self.prepared.messages
        if len(self.messages) >= len(sent) and all(map(_is, self.messages, sent)):
            self.messages[: len(sent)] = self.whole


class MemctxHooks:
    """Prepares the model calls of all agents from `register` on, until `unregister`.

    CrewAI sends the list in which an agent keeps its messages. It is prepared in place, and whole again when the model
    answers or, after calls of tools, before the next call. The session is that of the `session` block around the call,
    ``session_id``, the crew's, or else of the agent object, and of the agent's role. A call of a model without an agent
    is sent as it is.

    >>> MemctxHooks("./memory", context_window=200_000).register()  # doctest: +SKIP
    """

    def __init__(
        self,
        memory: Memory | str | PathLike[str] | None = None,
        *,
        session_id: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        """Check the settings.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        self.sessions = Sessions(memory, session_id=session_id, **options)
        self._calls: OrderedDict[int, _Call] = OrderedDict()
        self._lock = threading.Lock()
        self._hooks = (self.before_llm_call, self.after_llm_call)

    def register(self) -> MemctxHooks:
        """Prepare the calls of agents that are started from now on."""
        register_before_llm_call_hook(self._hooks[0])
        register_after_llm_call_hook(self._hooks[1])
        return self

    def unregister(self) -> None:
        """Prepare no more calls, and close the memories that were opened."""
        unregister_before_llm_call_hook(self._hooks[0])
        unregister_after_llm_call_hook(self._hooks[1])
        self.sessions.close()

    def before_llm_call(self, context: LLMCallHookContext) -> None:
        """Prepare the messages of a call in place."""
        if context.executor is None:
            return
        messages: list[Any] = context.messages
        self._end(context)
        prepared = self.sessions.prepare(
            partial(self._session, context),
            list(messages),
            format="openai",
            model=getattr(context.llm, "model", None),
            window=_window(context.llm),
        )
        call = _Call(messages, list(messages), prepared, _counts(context.llm))
        with self._lock:
            self._calls[id(messages)] = call
            if len(self._calls) > MAX_RUNNING:
                self._calls.popitem(last=False)
        messages[:] = prepared.messages

    def after_llm_call(self, context: LLMCallHookContext) -> None:
        """Restore the messages after an answer, and archive it: the next task begins without it."""
        if context.executor is not None and self._end(context) and context.response:
            answer = {"role": "assistant", "content": context.response.rstrip()}
            self.sessions.archive(partial(self._session, context), [answer], format="openai")

    def _end(self, context: LLMCallHookContext) -> bool:
        """Restore the messages of the call before, if there is one, and observe its usage."""
        with self._lock:
            call = self._calls.pop(id(context.messages), None)
        if call is None:
            return False
        call.restore()
        before, now = call.counted, _counts(context.llm)
        requests, prompt, completion = (b - a for a, b in zip(before, now, strict=True))
        if requests == 1:  # else other agents have called the same model meanwhile
            call.prepared.observe({"prompt_tokens": prompt, "completion_tokens": completion})
        return call.prepared.memory is not None

    def _session(self, context: LLMCallHookContext) -> str:
        """Return the session of an agent in its crew."""
        role = " ".join(str(context.agent.role).split())
        with suppress(ConfigError):
            return f"{self.sessions.current()}/{role}"
        return self.sessions.name(str((context.crew or context.agent).id), role)


def _is(one: object, two: object) -> bool:
    return one is two


def _window(llm: Any) -> int | None:  # noqa: ANN401 - any of CrewAI's
    with suppress(Exception):
        return int(llm.get_context_window_size())
    return None


def _counts(llm: Any) -> tuple[int, int, int]:  # noqa: ANN401 - any of CrewAI's
    """Return the requests of a model and their tokens, sent and answered."""
    with suppress(Exception):
        usage = llm.get_token_usage_summary()
        return usage.successful_requests, usage.prompt_tokens, usage.completion_tokens
    return 0, 0, 0

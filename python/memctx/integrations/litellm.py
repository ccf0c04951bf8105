"""LiteLLM: a callback for asynchronous calls and for the proxy, and `completion` with memory.

from memctx.integrations.litellm import MemctxCallback

litellm.callbacks = [MemctxCallback("./memory", context_window=200_000)]
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

from memctx.bridge import require

require("litellm", "1.100", extra="litellm")

import litellm  # noqa: E402 - after the check
from litellm.integrations.custom_logger import CustomLogger  # noqa: E402

from memctx.bridge import Sessions, answer_of, usage_of  # noqa: E402
from memctx.errors import ConfigError  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from litellm import CustomStreamWrapper, ModelResponse

    from memctx.bridge import Options, Prepared
    from memctx.memory import Memory
    from memctx.messages import FormatName

__all__ = ["MemctxCallback"]

Request = dict[str, Any]
KINDS: Mapping[str, tuple[str, FormatName]] = {
    "completion": ("messages", "openai"),
    "acompletion": ("messages", "openai"),
    "anthropic_messages": ("messages", "anthropic"),
    "aresponses": ("input", "responses"),
}
"""The field and the format of the messages, by kind of call; other calls are none of a conversation."""
STORED = ("previous_response_id", "conversation")
"""Fields of a request whose messages the provider holds."""
METADATA = ("metadata", "litellm_metadata")
"""Fields in which the proxy tells of a request, by route."""
MAX_WAITING = 1_000
"""Most calls whose usage is waited for."""


class MemctxCallback(CustomLogger):
    """Prepares the messages of every asynchronous call, in a program or on the proxy.

    The session is ``litellm_session_id`` or ``metadata["session_id"]`` of the request, or else its ``user``, and
    ``metadata["agent_id"]``; on the proxy also the owner of the key, so that no one reads what another one said. Before
    a synchronous call LiteLLM calls nothing: use `completion` instead of ``litellm.completion``.

    >>> litellm.callbacks = [MemctxCallback("./memory", context_window=200_000)]  # doctest: +SKIP
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
        super().__init__()
        self.id = str(uuid4())  # LiteLLM takes callbacks whose plain attributes are equal for one
        self.sessions = Sessions(memory, session_id=session_id, **options)
        self._waiting: OrderedDict[str, tuple[str, Prepared[Any]]] = OrderedDict()

    def completion(
        self,
        model: str,
        messages: list[Any],
        **arguments: Any,  # noqa: ANN401 - those of LiteLLM
    ) -> ModelResponse | CustomStreamWrapper:
        """Call ``litellm.completion`` with prepared messages; arguments and result are those of LiteLLM."""
        request = _request(model, messages, arguments, self)
        prepared = self.sessions.prepare(
            partial(self._session, request),
            messages,
            format="openai",
            model=model,
            window=_window(model),
        )
        response = litellm.completion(**self._wait(request, "completion", prepared))
        self._observe(request, response)
        return response

    async def acompletion(
        self,
        model: str,
        messages: list[Any],
        **arguments: Any,  # noqa: ANN401 - those of LiteLLM
    ) -> ModelResponse | CustomStreamWrapper:
        """Call ``litellm.acompletion`` with prepared messages, where the callback is not set for all calls."""
        request = _request(model, messages, arguments, self.async_log_success_event)
        request = await self._prepare(request, "acompletion") or request
        response = await litellm.acompletion(**request)
        self._observe(request, response)
        return response

    async def async_pre_call_hook(
        self, user_api_key_dict: object, cache: object, data: Request, call_type: str
    ) -> Request | None:
        """Prepare a request to the proxy."""
        del cache
        owner = getattr(user_api_key_dict, "user_id", None)
        owner = owner or getattr(user_api_key_dict, "api_key", None)
        return await self._prepare(data, call_type, owner)

    async def async_pre_call_deployment_hook(
        self, kwargs: Request, call_type: object
    ) -> Request | None:
        """Prepare an asynchronous call of a program, and let those of the proxy pass."""
        metadata = _metadata(kwargs)
        owner = metadata.get("user_api_key_user_id") or metadata.get("user_api_key_hash")
        return await self._prepare(kwargs, str(getattr(call_type, "value", call_type)), owner)

    async def async_post_call_success_deployment_hook(
        self, request_data: Request, response: object, call_type: object
    ) -> None:
        """Observe the usage of a call before its response is returned."""
        del call_type
        self._observe(request_data, response)

    async def async_log_success_event(
        self, kwargs: Request, response_obj: object, start_time: object, end_time: object
    ) -> None:
        """Observe the usage of a stream, which comes late."""
        del start_time, end_time
        self._observe(kwargs, response_obj)

    def log_success_event(
        self, kwargs: Request, response_obj: object, start_time: object, end_time: object
    ) -> None:
        """Observe the usage of a synchronous stream."""
        del start_time, end_time
        self._observe(kwargs, response_obj)

    async def _prepare(self, request: Request, kind: str, owner: object = None) -> Request | None:
        """Return a copy of the request with prepared messages; None where there is nothing to prepare."""
        if kind not in KINDS or any(request.get(name) for name in STORED):
            return None
        field, form = KINDS[kind]
        messages = request.get(field)
        if isinstance(messages, str) or self._is_prepared(request, kind, messages):
            return None
        if not isinstance(messages, list):
            self.sessions.prepare(_refuse_position, ())
            return None
        model = request.get("model")
        prepared = await self.sessions.aprepare(
            partial(self._session, request, owner),
            messages,
            format=form,
            model=model,
            window=_window(model),
        )
        return self._wait(request, kind, prepared)

    def _wait(self, request: Request, kind: str, prepared: Prepared[Any]) -> Request:
        """Return the request with prepared messages, and wait for its usage."""
        if call_id := request.get("litellm_call_id"):
            self._waiting[call_id] = (kind, prepared)
            if len(self._waiting) > MAX_WAITING:
                self._waiting.popitem(last=False)
        return request | {KINDS[kind][0]: prepared.messages}

    def _is_prepared(self, request: Request, kind: str, messages: object) -> bool:
        """Return whether this is a request of the proxy on its way, or one that LiteLLM makes of another kind."""
        before = self._waiting.get(request.get("litellm_call_id") or "")
        return before is not None and (
            KINDS[before[0]] != KINDS[kind] or before[1].messages == messages
        )

    def _observe(self, request: Request, response: object) -> None:
        """Observe the usage and the answer of a response, unless that has been done or is still to come."""
        usage = usage_of(response)
        if usage is not None:
            before = self._waiting.pop(request.get("litellm_call_id") or "", None)
            if before is not None:
                kind, prepared = before
                form = KINDS[kind][1]
                prepared.observe(usage, answer_of(response, form), form)

    def _session(self, request: Request, owner: object = None) -> str:
        """Return the session of a request."""
        metadata = _metadata(request)
        thread = request.get("litellm_session_id") or metadata.get("session_id")
        thread = thread or request.get("user") or metadata.get("user_id")
        ids = tuple(str(each) for each in (owner, thread) if each) if thread else None
        agent = metadata.get("agent_id")
        return self.sessions.name(ids, str(agent) if agent else None)


def _request(model: str, messages: list[Any], arguments: Request, on_success: object) -> Request:
    """Return the arguments of a call with an id, by which its usage is known even of a stream."""
    callbacks = [*(arguments.get("success_callback") or ()), on_success]
    made = {"model": model, "messages": messages, "success_callback": callbacks}
    return {"litellm_call_id": str(uuid4())} | arguments | made


def _metadata(request: Request) -> dict[str, Any]:
    """Return everything that the request or the proxy tells of it; the proxy's word counts."""
    found = (request.get(name) for name in METADATA)
    return {key: value for each in found if isinstance(each, dict) for key, value in each.items()}


@cache
def _window(model: str | None) -> int | None:
    """Return the window of a model that LiteLLM knows."""
    try:
        window = litellm.get_model_info(model or "").get("max_input_tokens")
    except Exception:  # noqa: BLE001 - it raises a plain one for others
        return None
    return window if isinstance(window, int) else None


def _refuse_position() -> str:
    raise ConfigError("messages were given by position; expected messages=")


def __getattr__(name: str) -> MemctxCallback:
    """Return a callback with the settings of the environment, for the proxy's configuration."""
    if name != "callback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, MemctxCallback())

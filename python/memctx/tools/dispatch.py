"""`Tools`: the memory tools of one memory, and the dispatcher of their calls."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from memctx import checks
from memctx.errors import ConfigError, MemctxError
from memctx.tools.arguments import check_arguments
from memctx.tools.call import Call, Canceled
from memctx.tools.definition import ToolError
from memctx.tools.schema import schemas
from memctx.tools.table import TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memctx.memory import Memory
    from memctx.tools.call import Progress
    from memctx.tools.definition import Tool
    from memctx.tools.schema import SchemaFormat

logger = logging.getLogger("memctx.tools")

MAX_TOKENS = 4_000
MIN_TOKENS = 200
BY_NAME = {tool.name: tool for tool in TOOLS}
WITHOUT_MEMORY = (
    "Go on without memory, and tell the user that `memctx doctor` shows the state of the store."
)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Answer to a call of a tool.

    >>> ToolResult("memory_status", {"is_ok": True}).text
    '{"is_ok": true}'
    """

    name: str
    data: dict[str, Any]
    """The result, of the type that the tool's output schema describes; or ``{"error": …}``."""
    is_error: bool = False

    @property
    def text(self) -> str:
        """The result as JSON, for the message that answers the model."""
        return json.dumps(self.data, ensure_ascii=False)


@checks.public_class
class Tools:
    """The memory tools for an agent: definitions for its provider, and answers to its calls.

    A call never raises: an error is a result with ``is_error``, a ``message`` and a ``hint`` on what to do. An answer
    is estimated at no more than about ``max_tokens``; it says how much is left out. Only sessions that the memory may
    read are visible. All methods may be called from any thread.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     tools = Tools(memory)
    ...     stored = tools.call("memory_store", {"content": "The webhook listens on port 8443", "type": "config"})
    ...     found = tools.call("memory_search", '{"query": "which port has the webhook?"}')
    >>> stored.data["action"], found.data["facts"][0]["text"]
    ('add', 'The webhook listens on port 8443')
    """

    __slots__ = ("_max_tokens", "_memory")

    def __init__(self, memory: Memory, *, max_tokens: int = MAX_TOKENS) -> None:
        """Offer the tools for a memory, which the caller closes."""
        if max_tokens < MIN_TOKENS:
            raise ConfigError(f"max_tokens is {max_tokens}; expected at least {MIN_TOKENS}")
        self._memory = memory
        self._max_tokens = max_tokens

    @property
    def memory(self) -> Memory:
        """The memory that the tools read and change."""
        return self._memory

    @staticmethod
    def schemas(format: SchemaFormat) -> list[dict[str, Any]]:
        """Return the definitions of the tools for an API, as `memctx.tools.schemas` does."""
        return schemas(format)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        progress: Progress | None = None,
    ) -> ToolResult:
        """Answer a call; ``arguments`` are an object, or its JSON as OpenAI sends it.

        ``progress`` is called with the amount done and the total where a call takes long.

        >>> import memctx, tempfile
        >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
        ...     result = Tools(memory).call("memory_get", {"id": "8f4b12"})
        >>> result.is_error, result.data["error"]["message"]
        (True, "no message or fact has the id '8f4b12'")
        """
        return self._answer(name, arguments, progress, threading.Event())

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        progress: Progress | None = None,
    ) -> ToolResult:
        """Run `call` in a thread, in which ``progress`` is called too.

        If it is canceled, a long call stops at its next step; a change that has begun is completed.
        """
        import asyncio  # noqa: PLC0415 - a caller that awaits has it already

        stopped = threading.Event()
        try:
            return await asyncio.to_thread(self._answer, name, arguments, progress, stopped)
        except asyncio.CancelledError:
            stopped.set()
            raise

    def _answer(
        self,
        name: str,
        arguments: Mapping[str, Any] | str | None,
        progress: Progress | None,
        stopped: threading.Event,
    ) -> ToolResult:
        call = Call(self._memory, self._max_tokens, progress, stopped)
        try:
            tool = _find_tool(name, self._memory)
            given = check_arguments(tool, _parse(arguments))
            return ToolResult(name, cast("dict[str, Any]", tool.handler(call, given)))
        except ToolError as error:
            return failure(name, error)
        except Canceled:
            return failure(name, ToolError("unavailable", "the call was canceled", "Call again."))
        except ConfigError as error:
            return failure(name, ToolError("invalid_argument", str(error), "Change the argument."))
        except (MemctxError, OSError) as error:
            logger.warning("%s failed: %s", name, error)
            return failure(name, ToolError("unavailable", str(error), WITHOUT_MEMORY))
        except Exception:  # a defect of memctx must not end the agent's turn
            logger.exception("%s failed", name)
            reason = "memory failed; its log has the reason"
            return failure(name, ToolError("internal", reason, WITHOUT_MEMORY))


def failure(name: str, error: ToolError) -> ToolResult:
    """Return the result that tells a model what was wrong and what to do."""
    told = {"code": error.code, "message": error.message, "hint": error.hint}
    return ToolResult(name, {"error": told}, is_error=True)


def _find_tool(name: str, memory: Memory) -> Tool:
    tool = BY_NAME.get(name)
    if tool is None:
        known = f"The tools are {', '.join(BY_NAME)}."
        raise ToolError("unknown_tool", f"there is no tool {str(name)[:80]!r}", known)
    if not tool.is_read_only and not memory.config.enabled:
        raise ToolError("unavailable", "memory is disabled (setting enabled)", WITHOUT_MEMORY)
    return tool


def _parse(arguments: Mapping[str, Any] | str | None) -> object:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolError(
            "invalid_argument",
            f"the arguments are no JSON: {error}",
            "Pass the arguments as one JSON object.",
        ) from None

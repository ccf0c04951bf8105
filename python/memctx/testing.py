"""Test doubles for agents that use memctx: message builders, a fake model, scripted extractors and summarizers.

Nothing here opens a socket or needs an SDK. The fake model refuses what a provider would refuse, so a test that passes
has sent no broken request:

>>> import memctx, tempfile
>>> from memctx.testing import FakeModel, user
>>> model = FakeModel("It listens on 8443.", window=8_000)
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1", context_window=8_000) as memory:
...     turn = memory.prepare([user("Which port has the webhook?")])
...     model(turn.messages)
'It listens on 8443.'
>>> len(model.requests)
1
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from memctx import _core, checks
from memctx.errors import ConfigError, MemctxError
from memctx.messages import FORMATS, ToolResult, edit, validate
from memctx.protocols import ExtractionResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memctx.messages import Format, FormatName
    from memctx.protocols import CandidateFact, Request, SummaryRequest

__all__ = [
    "FakeModel",
    "RequestRefusedError",
    "ScriptedExtractor",
    "ScriptedSummarizer",
    "assistant",
    "tool_exchange",
    "user",
]

Message: TypeAlias = dict[str, Any]


class RequestRefusedError(MemctxError):
    """A request that a provider would have answered with status 400."""


def user(text: str, format: FormatName = "openai") -> Message:
    """Return a message of the user.

    >>> user("Which port?", "gemini")
    {'role': 'user', 'parts': [{'text': 'Which port?'}]}
    """
    return edit.user_message(text, _format(format).name)


def assistant(text: str, format: FormatName = "openai") -> Message:
    """Return a message of the model.

    >>> assistant("8443", "anthropic")
    {'role': 'assistant', 'content': '8443'}
    """
    return edit.assistant_message(text, _format(format).name)


def tool_exchange(
    name: str,
    arguments: Mapping[str, Any],
    result: str,
    *,
    id: str = "call-1",
    format: FormatName = "openai",
) -> list[Message]:
    """Return a tool call and its result, as the messages that a host sends for them.

    >>> call, answer = tool_exchange("read", {"path": "web.toml"}, "port = 8443")
    >>> call["tool_calls"][0]["function"], answer["content"]
    ({'name': 'read', 'arguments': '{"path": "web.toml"}'}, 'port = 8443')
    """
    known = _format(format)
    answer = ToolResult(call_id=id, name=name, text=result)
    return [known.tool_call(id, name, dict(arguments)), known.tool_result(answer)]


class FakeModel:
    """A model that gives scripted replies and refuses what a provider would refuse.

    It raises `RequestRefusedError` for messages that break a rule of their provider, and for more tokens than
    ``window`` with the words that providers use, which `memctx.compaction.run_with_recovery` understands. The last
    reply is repeated. A reply may be a function of the messages.

    >>> FakeModel("8443")([{"role": "user", "content": ""}])
    Traceback (most recent call last):
    memctx.testing.RequestRefusedError: message 0: empty-content: a message or a text block without content
    """

    def __init__(
        self,
        *replies: str | Callable[[Sequence[Any]], str],
        window: int | None = None,
        format: FormatName | None = None,
    ) -> None:
        """Create a model; ``window`` is in tokens; ``format`` is detected where it is None."""
        if not replies:
            raise ConfigError("FakeModel() needs at least one reply")
        self._replies = deque(replies)
        self._window = window
        self._format: FormatName | None = format
        self.requests: list[list[Any]] = []
        """The messages of each call, refused ones included."""

    def __call__(self, messages: Sequence[Any]) -> str:
        """Check the messages and return the next reply."""
        self.requests.append(list(messages))
        problems = validate(messages, self._format)
        if problems:
            found = problems[0]
            raise RequestRefusedError(f"message {found.index}: {found.code}: {found.message}")
        tokens = _core.MessageReader("script", capacity=0).read(list(messages), self._format).tokens
        if self._window is not None and tokens > self._window:
            raise RequestRefusedError(
                f"prompt is too long: {tokens} tokens > {self._window} maximum"
            )
        reply = self._replies.popleft() if len(self._replies) > 1 else self._replies[0]
        return reply if isinstance(reply, str) else reply(messages)


class ScriptedExtractor:
    """An extractor that gives scripted facts, or raises scripted errors; nothing once the script has ended.

    >>> import asyncio
    >>> from memctx.protocols import CandidateFact, Request
    >>> extractor = ScriptedExtractor([CandidateFact("config", "The webhook listens on port 8443")])
    >>> asyncio.run(extractor.extract(Request(messages=()))).candidates[0].content
    'The webhook listens on port 8443'
    """

    def __init__(self, *batches: Sequence[CandidateFact] | Exception) -> None:
        """Create an extractor; ``batches`` are the answers, one for each call."""
        self._batches = deque(batches)
        self.requests: list[Request] = []
        """The requests received, in order."""

    async def extract(self, request: Request) -> ExtractionResult:
        """Return the next batch of facts."""
        self.requests.append(request)
        batch = self._batches.popleft() if self._batches else ()
        if isinstance(batch, Exception):
            raise batch
        return ExtractionResult(tuple(batch))


class ScriptedSummarizer:
    """A summarizer that gives scripted summaries, or raises scripted errors; the last one is repeated.

    >>> import asyncio
    >>> from memctx.protocols import SummaryRequest
    >>> asyncio.run(ScriptedSummarizer("Ports were chosen.").summarize(SummaryRequest("[User]: Ports?")))
    'Ports were chosen.'
    """

    def __init__(self, *summaries: str | Exception) -> None:
        """Create a summarizer; ``summaries`` are the answers, one for each call."""
        if not summaries:
            raise ConfigError("ScriptedSummarizer() needs at least one summary")
        self._summaries = deque(summaries)
        self.requests: list[SummaryRequest] = []
        """The requests received, in order."""

    async def summarize(
        self, request: SummaryRequest, *, on_text: Callable[[str], None] | None = None
    ) -> str:
        """Return the next summary."""
        self.requests.append(request)
        summary = self._summaries.popleft() if len(self._summaries) > 1 else self._summaries[0]
        if isinstance(summary, Exception):
            raise summary
        if on_text is not None:
            on_text(summary)
        return summary


def _format(name: str) -> Format:
    for known in FORMATS.values():
        if known.name == name:
            return known
    *names, last = map(repr, FORMATS)
    raise ConfigError(f"format is {name!r}; expected {', '.join(names)} or {last}")


checks.guard(globals(), __all__)

"""Message builders, and scripted extractors and summarizers."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from memctx.errors import ConfigError
from memctx.messages import FORMATS, ToolResult, edit
from memctx.protocols import ExtractionResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memctx.messages import Format, FormatName
    from memctx.protocols import CandidateFact, Request, SummaryRequest

Message: TypeAlias = dict[str, Any]


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

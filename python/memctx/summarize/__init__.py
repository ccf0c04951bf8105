"""Summaries: a long conversation in few words, by a model, in parts where it does not fit, and always with an end.

>>> import asyncio
>>> from memctx import summarize
>>> def model(request):
...     prompt = summarize.build_prompt(request)  # what a model of one's own would be sent
...     return "The webhook moves to port 8443; the deployment waits for Friday."
>>> said = [
...     {"role": "user", "content": "Move the webhook to port 8443, and deploy on Friday."},
...     {"role": "assistant", "content": "Moved. The deployment waits for Friday."},
... ]
>>> summary = asyncio.run(
...     summarize.summarize_with_fallback(said, summarize.FunctionSummarizer(model), mode="default"))
>>> summary.rung, summary.attempts
('full', 1)
>>> print(summary.text)
The webhook moves to port 8443; the deployment waits for Friday.
<BLANKLINE>
## Latest user ask
<latest-ask>
Move the webhook to port 8443, and deploy on Friday.
</latest-ask>
"""

from memctx.extractors.protocol import Usage
from memctx.summarize.anthropic import AnthropicSummarizer
from memctx.summarize.function import FunctionSummarizer
from memctx.summarize.ladder import Mode, Rung, Summary, summarize_with_fallback
from memctx.summarize.meter import count_usage
from memctx.summarize.prompt import Prompt, build_prompt
from memctx.summarize.protocol import Summarizer, SummaryKind, SummaryRequest
from memctx.summarize.quality import Quality, check_quality, extract_identifiers
from memctx.summarize.sections import REQUIRED_SECTIONS, SUMMARY_CHARS
from memctx.summarize.serialize import serialize
from memctx.summarize.stages import chunk_tokens, summarize_in_stages

__all__ = [
    "REQUIRED_SECTIONS",
    "SUMMARY_CHARS",
    "AnthropicSummarizer",
    "FunctionSummarizer",
    "Mode",
    "Prompt",
    "Quality",
    "Rung",
    "Summarizer",
    "Summary",
    "SummaryKind",
    "SummaryRequest",
    "Usage",
    "build_prompt",
    "check_quality",
    "chunk_tokens",
    "count_usage",
    "extract_identifiers",
    "serialize",
    "summarize_in_stages",
    "summarize_with_fallback",
]

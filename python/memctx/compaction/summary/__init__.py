"""Summaries of long conversations by a model, in parts where they do not fit, with fallbacks that always end.

>>> import asyncio
>>> from memctx.compaction import summary
>>> def model(request):
...     prompt = summary.build_prompt(request)  # the prompt for a custom model
...     return "The webhook moves to port 8443; the deployment waits for Friday."
>>> messages = [
...     {"role": "user", "content": "Move the webhook to port 8443, and deploy on Friday."},
...     {"role": "assistant", "content": "Moved. The deployment waits for Friday."},
... ]
>>> summarizer, options = summary.FunctionSummarizer(model), summary.SummaryOptions(mode="default")
>>> summary = asyncio.run(summary.summarize_with_fallback(messages, summarizer, options))
>>> summary.fallback_level, summary.attempts
('full', 1)
>>> print(summary.text)
The webhook moves to port 8443; the deployment waits for Friday.
<BLANKLINE>
## Latest user ask
<latest-ask>
Move the webhook to port 8443, and deploy on Friday.
</latest-ask>
"""

from memctx import checks
from memctx.compaction.summary.anthropic import AnthropicSummarizer
from memctx.compaction.summary.fallback import FallbackLevel, Summary, summarize_with_fallback
from memctx.compaction.summary.function import FunctionSummarizer
from memctx.compaction.summary.prompt import Prompt, build_prompt
from memctx.compaction.summary.quality import Quality, check_quality, extract_identifiers
from memctx.compaction.summary.reporting import count_usage
from memctx.compaction.summary.sections import REQUIRED_SECTIONS, SUMMARY_CHARS
from memctx.compaction.summary.serialize import serialize
from memctx.compaction.summary.stages import Mode, SummaryOptions, chunk_tokens, summarize_in_stages
from memctx.protocols import Summarizer, SummaryKind, SummaryRequest, Usage
from memctx.providers.options import ClientOptions

__all__ = [
    "REQUIRED_SECTIONS",
    "SUMMARY_CHARS",
    "AnthropicSummarizer",
    "ClientOptions",
    "FallbackLevel",
    "FunctionSummarizer",
    "Mode",
    "Prompt",
    "Quality",
    "Summarizer",
    "Summary",
    "SummaryKind",
    "SummaryOptions",
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

checks.guard(globals(), __all__)

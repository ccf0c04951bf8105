"""The context of a turn: the messages sent to the model, prepared from the host's messages and from memory."""

from memctx import checks
from memctx.context.budget import Observed
from memctx.context.intake import Archived
from memctx.context.report import Cache, Protected, Pruned, Recalled, Report, Tokens, Trimmed
from memctx.context.tool_result import truncate_tool_result
from memctx.context.trim import SmartTrimmed, smart_trim
from memctx.context.turns import Turn, Turns
from memctx.messages.usage import answer_tokens, prompt_tokens

__all__ = [
    "Archived",
    "Cache",
    "Observed",
    "Protected",
    "Pruned",
    "Recalled",
    "Report",
    "SmartTrimmed",
    "Tokens",
    "Trimmed",
    "Turn",
    "Turns",
    "answer_tokens",
    "prompt_tokens",
    "smart_trim",
    "truncate_tool_result",
]

checks.guard(globals(), __all__)

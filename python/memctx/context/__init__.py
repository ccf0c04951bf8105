"""The context of a turn: the messages sent to the model, prepared from the host's messages and from memory."""

from memctx import checks
from memctx.context import state_writer as state_writer
from memctx.context.budget import Budget as Budget
from memctx.context.budget import Observed
from memctx.context.intake import Archived
from memctx.context.intake import Intake as Intake
from memctx.context.intake import Row as Row
from memctx.context.intake import is_wanted as is_wanted
from memctx.context.recall import Recall as Recall
from memctx.context.report import (
    Cache,
    LeftOut,
    Protected,
    Pruned,
    Recalled,
    Report,
    Tokens,
    Trimmed,
)
from memctx.context.tool_result import truncate_tool_result
from memctx.context.trim import SmartTrimmed, smart_trim
from memctx.context.turns import Turn, Turns
from memctx.messages import answer_tokens, prompt_tokens

__all__ = [
    "Archived",
    "Cache",
    "LeftOut",
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

"""The context of a turn: the messages sent to the model, prepared from the host's messages and from memory."""

from memctx._lazy import lazy_exports

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx.context import state_writer as state_writer
    from memctx.context.budget import Budget as Budget
    from memctx.context.budget import Observed
    from memctx.context.explain import Masking as Masking
    from memctx.context.intake import Archived
    from memctx.context.intake import Intake as Intake
    from memctx.context.intake import Row as Row
    from memctx.context.intake import is_wanted as is_wanted
    from memctx.context.recall import Candidates as Candidates
    from memctx.context.recall import Recall as Recall
    from memctx.context.recall import RecalledBlock as RecalledBlock
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
    from memctx.context.words import matched_spans as matched_spans
    from memctx.context.words import matched_words as matched_words
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

# Imported on first use: a search needs none of them.
_LATER = {
    "Archived": "memctx.context.intake",
    "Budget": "memctx.context.budget",
    "Cache": "memctx.context.report",
    "Candidates": "memctx.context.recall",
    "Intake": "memctx.context.intake",
    "LeftOut": "memctx.context.report",
    "Masking": "memctx.context.explain",
    "Observed": "memctx.context.budget",
    "Protected": "memctx.context.report",
    "Pruned": "memctx.context.report",
    "Recall": "memctx.context.recall",
    "Recalled": "memctx.context.report",
    "RecalledBlock": "memctx.context.recall",
    "Report": "memctx.context.report",
    "Row": "memctx.context.intake",
    "SmartTrimmed": "memctx.context.trim",
    "Tokens": "memctx.context.report",
    "Trimmed": "memctx.context.report",
    "Turn": "memctx.context.turns",
    "Turns": "memctx.context.turns",
    "answer_tokens": "memctx.messages",
    "is_wanted": "memctx.context.intake",
    "matched_spans": "memctx.context.words",
    "matched_words": "memctx.context.words",
    "prompt_tokens": "memctx.messages",
    "smart_trim": "memctx.context.trim",
    "state_writer": "memctx.context.state_writer",
    "truncate_tool_result": "memctx.context.tool_result",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    __getattr__ = lazy_exports(globals(), _LATER)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

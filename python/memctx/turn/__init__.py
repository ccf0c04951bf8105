"""The turn: what is sent to the model, prepared from the host's messages and from memory."""

from memctx.messages.usage import prompt_tokens
from memctx.turn.report import Cache, Protected, Pruned, Recalled, Report, Tokens, Trimmed
from memctx.turn.turns import Turn, Turns

__all__ = [
    "Cache",
    "Protected",
    "Pruned",
    "Recalled",
    "Report",
    "Tokens",
    "Trimmed",
    "Turn",
    "Turns",
    "prompt_tokens",
]

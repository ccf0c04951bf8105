"""Replay of recorded sessions through the turn pipeline.

>>> from memctx.cli.replay import replay
>>> messages = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "8443"}]
>>> played = replay(messages, context_window=8_000)
>>> len(played.turns), played.turns[0].tokens.after == played.turns[0].tokens.before
(1, True)
"""

from memctx import checks
from memctx.cli.replay.page import comparison_html, html, write_html
from memctx.cli.replay.page import write_page as write_page
from memctx.cli.replay.play import replay
from memctx.cli.replay.recording import Recording
from memctx.cli.replay.recording import passage_excerpt as passage_excerpt
from memctx.cli.replay.result import (
    FactHistory,
    FactState,
    PrunedResult,
    RecalledItem,
    Replay,
    ReplayedTurn,
    SentPart,
    TrimmedMessages,
)

__all__ = [
    "FactHistory",
    "FactState",
    "PrunedResult",
    "RecalledItem",
    "Recording",
    "Replay",
    "ReplayedTurn",
    "SentPart",
    "TrimmedMessages",
    "comparison_html",
    "html",
    "replay",
    "write_html",
]

checks.guard(globals(), __all__)

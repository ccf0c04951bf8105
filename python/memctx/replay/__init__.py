"""Replay: a recorded session goes through the turn pipeline again, and every turn is shown.

>>> from memctx.replay import replay
>>> messages = [{"role": "user", "content": "Which port?"}, {"role": "assistant", "content": "8443"}]
>>> played = replay(messages, context_window=8_000)
>>> len(played.turns), played.turns[0].tokens.after == played.turns[0].tokens.before
(1, True)
"""

from memctx.replay.page import html, write_html
from memctx.replay.play import replay
from memctx.replay.recording import Recording
from memctx.replay.result import FactThread, Gone, Replay, ReplayedTurn, Returned, Shortened, Stated

__all__ = [
    "FactThread",
    "Gone",
    "Recording",
    "Replay",
    "ReplayedTurn",
    "Returned",
    "Shortened",
    "Stated",
    "html",
    "replay",
    "write_html",
]

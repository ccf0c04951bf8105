"""How many tokens a turn may take, and how many of them recalled text may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memctx.config import Config

# Recalled text never takes more than this share of the window.
CAP_SHARE = 0.10
# Nor does the room kept for the answer take more than this share of it, or a small window would be all reserve.
RESERVE_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a session, in tokens. Without a window there is no limit, only the cap of recalled text."""

    window: int | None
    limit: int | None
    """What the messages may cost before a trim starts."""
    target: int | None
    """What a trim goes down to."""
    overflow: int | None
    """What messages and recalled text together may cost before the model could not answer."""
    cap: int
    """What all recalled blocks together may cost."""

    @classmethod
    def of(cls, config: Config) -> Budget:
        """The limits that the settings make."""
        window, wanted = config.context_window, config.working_budget
        budget = window if wanted is None or (window is not None and window < wanted) else wanted
        if budget is None:
            return cls(None, None, None, None, config.hard_cap_tokens)
        cap = min(config.hard_cap_tokens, int(budget * CAP_SHARE))
        reserve = min(config.reserve_tokens, int(budget * RESERVE_SHARE))
        limit = budget - reserve - cap
        full = window or budget
        overflow = full - min(config.reserve_tokens, int(full * RESERVE_SHARE))
        return cls(full, limit, int(limit * config.trim_to), overflow, cap)

    def room(self, tokens: int) -> int:
        """What recalled text may cost beside messages of so many tokens."""
        return self.cap if self.overflow is None else max(min(self.cap, self.overflow - tokens), 0)

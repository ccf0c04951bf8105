"""Token limits of a session, and the provider's counts that correct the estimates of its turns."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memctx.config import Config

# Share of the window that recalled text may take at most.
CAP_SHARE = 0.10
# Share of the cap that only the block of the newest question may take, and its tokens at least where the cap is at
# least twice that, as it is from a window of 16,000 tokens on: room for several passages.
NEWEST_SHARE, NEWEST_TOKENS = 0.25, 800
# Share of the window that the reserve for the answer may take at most, or a small window would be all reserve.
RESERVE_SHARE = 0.25
# Tokens of a block with one passage, which a smaller cap has for it if that is at most half of the cap.
PASSAGE_TOKENS = 200
# Turns that wait for their usage; beyond this, the oldest are dropped.
MOST_OUTSTANDING = 256
# A count below this share of the estimate leaves something out, such as the cached tokens.
LEAST_SHARE = 0.5
# Share of an estimate by which it may be corrected downwards: a wrong count must not raise the limit by much.
MOST_BELOW = 0.25
# A count of more windows than this sums up several calls.
MOST_WINDOWS = 2


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a session, in tokens. Without a window only recalled text is limited."""

    window: int | None
    limit: int | None
    """Cost of the messages above which a trim starts."""
    target: int | None
    """Cost of the messages after a trim."""
    overflow: int | None
    """Cost of messages and recalled text together above which the model could not answer."""
    cap: int
    """Cost of all recalled blocks together at most."""

    @classmethod
    def of(cls, config: Config) -> Budget:
        """Derive the limits from the settings."""
        window, wanted = config.context_window, config.working_budget
        budget = window if wanted is None or (window is not None and window < wanted) else wanted
        if budget is None:
            return cls(None, None, None, None, config.recall.hard_cap_tokens)
        cap = min(config.recall.hard_cap_tokens, int(budget * CAP_SHARE))
        reserve = min(config.trim.reply_reserve_tokens, int(budget * RESERVE_SHARE))
        limit = budget - reserve - cap
        full = window or budget
        overflow = full - min(config.trim.reply_reserve_tokens, int(full * RESERVE_SHARE))
        return cls(full, limit, int(limit * config.trim.to), overflow, cap)

    @property
    def reserve(self) -> int:
        """Part of the cap that only the newest question may take."""
        share = int(self.cap * NEWEST_SHARE)
        return max(
            share,
            NEWEST_TOKENS if self.cap >= 2 * NEWEST_TOKENS else min(PASSAGE_TOKENS, self.cap // 2),
        )

    def room(self, tokens: int) -> int:
        """Return how many tokens recalled text may take beside messages of ``tokens`` tokens."""
        return self.cap if self.overflow is None else max(min(self.cap, self.overflow - tokens), 0)


@dataclass(frozen=True, slots=True)
class Observed:
    """Outcome of `Memory.observe`."""

    input_tokens: int
    """Tokens of the prompt by the provider's count, cached ones included."""
    output_tokens: int
    """Tokens of the answer."""
    is_used: bool
    """True if the limit of later turns follows this count."""
    note: str | None = None
    """Reason why it does not."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A turn that waits for its usage."""

    number: int
    conversation: int | None
    """Id of its state; None if memory failed."""
    estimate: int


class Outstanding:
    """Turns that wait for their usage, by number."""

    def __init__(self) -> None:
        self._sent: OrderedDict[int, Sent] = OrderedDict()

    def add(self, sent: Sent) -> None:
        """Register a turn."""
        self._sent[sent.number] = sent
        if len(self._sent) > MOST_OUTSTANDING:
            self._sent.popitem(last=False)

    def set_estimate(self, number: int, tokens: int) -> None:
        """Replace the estimate of a turn."""
        if (sent := self._sent.get(number)) is not None:
            self._sent[number] = replace(sent, estimate=tokens)

    def take(self, number: int | None) -> Sent | str:
        """Remove and return the turn with a number, or the reason why there is none.

        Without a number, the only turn that waits is taken; if several wait, the usage may belong to any of them.
        """
        if number is not None:
            known = self._sent.pop(number, None)
            return known or (
                "turn was observed before, or another memory prepared it; expected a turn of this memory, once"
            )
        if not self._sent:
            return "no turn is waiting for its usage; pass turn= to name one"
        if len(self._sent) > 1:
            return f"{len(self._sent)} turns are waiting for their usage; pass turn= to name one"
        return self._sent.popitem()[1]


def find_implausible(tokens: int, estimate: int, window: int | None) -> str | None:
    """Return why a count of prompt tokens cannot be right; None if it can."""
    hint = "expected all tokens of the prompt, cached ones included"
    if tokens <= 0:
        return f"usage says {tokens} input tokens; {hint}"
    if tokens < estimate * LEAST_SHARE:
        return f"usage says {tokens} input tokens, where about {estimate} were sent; {hint}"
    if window is not None and tokens > window * MOST_WINDOWS:
        return (
            f"usage says {tokens} input tokens in a window of {window}; expected those of one call"
        )
    return None


def excess_of(tokens: int, estimate: int) -> int:
    """Return the cost of a prompt beyond its estimate: system prompt, tools, and the estimate's error."""
    return max(tokens - estimate, -int(estimate * MOST_BELOW))

"""Text: tokenizer, token estimates, and whether a text has a topic."""

from typing import Literal, TypeAlias

TokenMode: TypeAlias = Literal["memctx", "openclaw"]

Estimator: TypeAlias = Literal["utf16", "script"]

def tokenize(text: str, mode: TokenMode = "memctx") -> list[str]:
    """Return the terms that search sees in a text.

    ``"memctx"`` folds full-width forms (NFKC), gives every Chinese, Japanese and Korean character and each adjacent
    pair, and gives identifiers as their parts and as a whole. ``"openclaw"`` reproduces the tokenizer of OpenClaw's
    ``memory-context`` plugin, token for token. A lone surrogate reads as U+FFFD.

    >>> tokenize("parseHTTPHeader 飞书")
    ['parse', 'http', 'header', 'parsehttpheader', '飞', '书', '飞书']
    """

def has_topic(text: str) -> bool:
    """Return whether a text is about something: more than courtesies, function words and numbers.

    >>> has_topic("thanks, looks good"), has_topic("thanks, which port was it?")
    (False, True)
    """

def estimate_tokens(text: str, estimator: Estimator = "utf16") -> int:
    """Estimate how many model tokens a text costs, never less than 1.

    ``"utf16"`` is a third of the UTF-16 length, rounded up: the figure stored with every segment. ``"script"`` counts
    each Chinese, Japanese or Korean character as one token and the rest as before: an upper estimate for budgets.

    >>> estimate_tokens("hello world"), estimate_tokens("支付回调", "script")
    (4, 4)
    """

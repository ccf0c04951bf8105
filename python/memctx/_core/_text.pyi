"""Text: tokenizer, hashes of terms, token estimates, and whether a text has a topic."""

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

def term_hashes(text: str, key: int) -> list[int]:
    """Return the distinct terms of a document as the text index has them, each as a keyed hash, in ascending order.

    The hashes are signed 64-bit numbers: XXH3 of the term's UTF-8 bytes with ``key``, a number of 64 bits, as its seed.
    They are the same in every version and on every machine.

    >>> term_hashes("webhook", 7) == term_hashes("Webhook, webhook!", 7) != term_hashes("webhook", 8)
    True

    Raises:
        ConfigError: ``key`` does not fit 64 bits.
    """

def query_term_hashes(query: str, key: int) -> list[int]:
    """Return the distinct terms that a search for a query looks up, hashed as `term_hashes` does.

    These are its words and the other forms of English ones, without function words unless there are no others.

    >>> set(query_term_hashes("which webhooks?", 7)) >= set(term_hashes("webhook", 7))
    True

    Raises:
        ConfigError: ``key`` does not fit 64 bits.
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

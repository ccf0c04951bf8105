"""The words that stand around a summary where the model reads it, and the summary without them."""

from __future__ import annotations

# "Turn Context" is what a scanner knows a summary by.
COMPACTED = (
    "Turn Context: what was said before this point was compacted. This is the summary of it:"
)
BRANCHED = (
    "The conversation came back here from another branch. This is the summary of that branch:"
)
_OPEN, _CLOSE = "\n\n<summary>\n", "\n</summary>"


def spoken(summary: str, lead: str = COMPACTED) -> str:
    """A summary as the model reads it. Nothing in it can end it early.

    >>> print(spoken("Port 8443 was chosen."))
    Turn Context: what was said before this point was compacted. This is the summary of it:
    <BLANKLINE>
    <summary>
    Port 8443 was chosen.
    </summary>
    """
    inner = summary.replace("</summary", "<\\/summary")
    return f"{lead}{_OPEN}{inner}{_CLOSE}"


def summary_in(text: str) -> str | None:
    """The summary in a text that is nothing else, or None.

    >>> summary_in(spoken("Port 8443 was chosen."))
    'Port 8443 was chosen.'
    """
    head = f"{COMPACTED}{_OPEN}"
    if not (text.startswith(head) and text.endswith(_CLOSE)):
        return None
    return text[len(head) : -len(_CLOSE)].replace("<\\/summary", "</summary")

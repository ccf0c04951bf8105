"""Silent answers: detection and filtering of the token by which a model says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from memctx.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator

SILENT = "NO_REPLY"
"""Answer of a model that has nothing to say."""

Verdict: TypeAlias = Literal["silent", "speech", "open"]

# Decoration that models put around the token.
DECORATION = frozenset("*`\"'“”‘’.。!！")  # noqa: RUF001 - models write them
WORD = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
# Limit of white space and decoration, so that a stream is not held back for ever.
MAX_DECORATION = 64


def is_silent(text: str, token: str = SILENT) -> bool:
    """Return whether an answer is silent: it begins with the token, or is the token in quotes or bold.

    >>> is_silent("NO_REPLY"), is_silent(" **NO_REPLY**"), is_silent("NO_REPLY: nothing to keep")
    (True, True, True)
    >>> is_silent("NO_REPLY_LATER"), is_silent("Answer with `NO_REPLY` then"), is_silent("")
    (False, False, False)
    """
    return _verdict(text, token, is_whole=True) == "silent"


class SilenceFilter:
    r"""A filter that removes silent answers from a stream completely.

    Text is held back while it could still become a silent answer, and passes at once after that.

    >>> filter = SilenceFilter()
    >>> [filter.feed(part) for part in ("NO", "_REP", "ORT is late")], filter.finish()
    (['', '', 'NO_REPORT is late'], '')
    >>> list(SilenceFilter().wrap(["NO_", "REPLY", "\n"]))
    []
    """

    def __init__(self, token: str = SILENT) -> None:
        """Make a filter for one answer.

        Raises:
            ConfigError: the token is empty, or has something in it that no word has.
        """
        if not token or not set(token) <= WORD:
            raise ConfigError(f"token is {token!r}; expected letters, digits and underscores")
        self._token = token
        self._held = ""
        self._verdict: Verdict = "open"

    @property
    def is_silent(self) -> bool:
        """True if the answer is known to be silent."""
        return self._verdict == "silent"

    def feed(self, text: str) -> str:
        """Take the next part of the answer; return the text to show now."""
        if self._verdict == "speech":
            return text
        if self._verdict == "silent":
            return ""
        self._held += text
        return self._judge(is_whole=False)

    def finish(self) -> str:
        """End the answer; return the held text to show."""
        return self._judge(is_whole=True) if self._verdict == "open" else ""

    def wrap(self, parts: Iterable[str]) -> Iterator[str]:
        """Yield the text to show of a stream."""
        for part in parts:
            if shown := self.feed(part):
                yield shown
        if shown := self.finish():
            yield shown

    async def wrap_async(self, parts: AsyncIterable[str]) -> AsyncIterator[str]:
        """Yield the text to show of an asynchronous stream."""
        async for part in parts:
            if shown := self.feed(part):
                yield shown
        if shown := self.finish():
            yield shown

    def _judge(self, *, is_whole: bool) -> str:
        self._verdict = _verdict(self._held, self._token, is_whole=is_whole)
        if self._verdict == "open":
            return ""
        held, self._held = self._held, ""
        return held if self._verdict == "speech" else ""


def _verdict(text: str, token: str, *, is_whole: bool) -> Verdict:
    """Classify an answer by its beginning, or by its whole text."""
    start = next(
        (at for at, each in enumerate(text[: MAX_DECORATION + 1]) if not _is_around(each)), None
    )
    if start is None:
        return "speech" if is_whole or len(text) > MAX_DECORATION else "open"
    head = text[start : start + len(token)]
    if head != token:
        return "open" if token.startswith(head) and not is_whole else "speech"
    rest = text[start + len(token) :]
    is_decorated = any(not each.isspace() for each in text[:start])
    if rest and not is_decorated:
        return "speech" if rest[0] in WORD else "silent"
    if len(rest) > MAX_DECORATION or not all(map(_is_around, rest)):
        return "speech"
    return "silent" if is_whole else "open"


def _is_around(character: str) -> bool:
    return character.isspace() or character in DECORATION

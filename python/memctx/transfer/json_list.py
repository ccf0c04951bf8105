"""`JsonList`: one long JSON list, of which only one value at a time is held in memory."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1 << 20
# No value of a list is that long; what is no JSON would otherwise be held in memory as a whole.
LONGEST = 512 << 20
BETWEEN = " \t\r\n,"
ENDS = (*BETWEEN, "]")


class JsonList:
    """The values of a list, which are read as they are asked for.

    >>> import io
    >>> list(JsonList(io.BytesIO(b'[1, {"a": [2]}]')))
    [1, {'a': [2]}]
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0

    def __iter__(self) -> Iterator[object]:
        """The values.

        Raises:
            ValueError: it is no list, or lacks its end.
        """
        if self._next() != "[":
            raise ValueError("it is no list")
        self._at += 1
        while self._next() != "]":
            yield self._value()

    def _next(self) -> str:
        """The character that the next value begins with."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in BETWEEN:
                    return self._text[self._at]
                self._at += 1
            if not self._has_grown(1):
                raise ValueError("it lacks its end")

    def _value(self) -> object:
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except ValueError as error:
                fault = error
            else:
                # A number that nothing stands behind may go on.
                if self._text[end : end + 1] in ENDS:
                    self._at = end
                    return value
                fault = ValueError("it lacks its end")
            # Only with twice as much is it worth trying again.
            if not self._has_grown(2 * (len(self._text) - self._at)):
                raise fault

    def _has_grown(self, wanted: int) -> bool:
        """Read until so many characters lie ahead, or as many as there are; whether any came."""
        ahead = [self._text[self._at :]]
        size = before = len(ahead[0])
        while size < min(wanted, LONGEST) and (chunk := self._file.read(CHUNK)):
            ahead.append(self._bytes.decode(chunk))
            size += len(ahead[-1])
        self._text, self._at = "".join(ahead), 0
        return size > before

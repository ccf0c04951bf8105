"""`Hits`: the results of a search, as a list that notebooks show as a table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memctx._html import join, marked, table, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memctx._core import SearchHit

SHORT_ID, EXCERPT = 8, 300


class Hits(list["SearchHit"]):
    """Results of a search, best first.

    >>> import memctx, tempfile
    >>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
    ...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
    ...     hits = memory.search("which port?")
    >>> print(hits)  # doctest: +ELLIPSIS
    0.9...  user  The webhook listens on port 8443
    >>> print(Hits([], "which port?"))
    nothing found
    """

    def __init__(self, hits: Iterable[SearchHit], query: str) -> None:
        """Keep the results and their query."""
        super().__init__(hits)
        self.query = query

    def __str__(self) -> str:
        """Return a line for each result: score, role and the best passage."""
        lines = [f"{hit.score:.2f}  {hit.segment.role}  {_passage(hit, 100)}" for hit in self]
        return "\n".join(lines) or "nothing found"

    def _repr_html_(self) -> str:
        from memctx.context import matched_spans  # noqa: PLC0415 - for notebooks only

        def cells(hit: SearchHit) -> tuple[str, ...]:
            text, segment = _passage(hit, EXCERPT), hit.segment
            when = datetime.fromtimestamp(segment.timestamp / 1000, UTC)
            return (
                f"{hit.score:.2f}",
                marked(text, matched_spans(self.query, text)),
                f"{segment.role}, {when:%Y-%m-%d %H:%M}",
                join(tag("code", segment.id[:SHORT_ID])),
            )

        caption = join(tag("strong", f"{len(self)} found"), f" for {self.query[:EXCERPT]}")
        return table(caption, ("score", "text", "said", "id"), map(cells, self))


def _passage(hit: SearchHit, longest: int) -> str:
    """Return the beginning of the best passage on one line."""
    start, end = hit.passage
    line = " ".join(hit.segment.content[start : min(end, start + longest * 4)].split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"

"""tantivy in memory, given every advantage.

It gets text cut into tokens and queries made beforehand, keeps no positions and no text, need not count all hits, and
need not look ids up.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import tantivy
from tantivy import Document, Occur, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tantivy import SearchResult

NAME = "tantivy (RAM)"

_SCHEMA = (
    SchemaBuilder()
    .add_text_field("text", tokenizer_name="spaces", index_option="freq")
    .add_unsigned_field("number", stored=True)
    .build()
)


class Index:
    """An index over lines of tokens with spaces between them, written by one thread."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._index = tantivy.Index(_SCHEMA)
        spaces = TextAnalyzerBuilder(Tokenizer.whitespace()).build()
        self._index.register_tokenizer("spaces", spaces)
        self._writer = self._index.writer(num_threads=1)
        self._length = 0
        for line in lines:
            self._add(line)
        self._commit()

    def query(self, tokens: Iterable[str]) -> Query:
        """Build a query for any of the tokens."""
        terms = [Query.term_query(_SCHEMA, "text", token, "freq") for token in tokens]
        return Query.boolean_query([(Occur.Should, term) for term in terms])

    def search(self, query: Query, k: int = 10) -> SearchResult:
        """Return the addresses of the best documents."""
        return self._searcher.search(query, k, count=False)

    def numbers(self, query: Query) -> list[int]:
        """Return the numbers of the best documents, first document 0."""
        hits = self.search(query).hits
        return [self._searcher.doc(address)["number"][0] for _, address in hits]

    def scored(self, query: Query, k: int) -> tuple[list[int], list[float]]:
        """Return the numbers of the best documents and their scores; the position of a number is known beforehand."""
        hits = self.search(query, k).hits
        places = self._places
        numbers = [places[address.segment_ord, address.doc] for _, address in hits]
        return numbers, [score for score, _ in hits]

    @cached_property
    def _places(self) -> dict[tuple[int, int], int]:
        """The number of each document by its address."""
        hits = self._searcher.search(Query.all_query(), self._length, count=False).hits
        addresses = [address for _, address in hits]
        return {
            (address.segment_ord, address.doc): self._searcher.doc(address)["number"][0]
            for address in addresses
        }

    def add(self, line: str) -> None:
        """Add a document and let the next search see it."""
        self._add(line)
        self._commit()

    def _add(self, line: str) -> None:
        document = Document()
        document.add_text("text", line)
        document.add_unsigned("number", self._length)
        self._writer.add_document(document)
        self._length += 1

    def _commit(self) -> None:
        self._writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

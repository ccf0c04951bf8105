"""tantivy for the words, a graph of usearch in 8 bits for the vectors, fused in Python.

It gets tokens and vectors ready, and keeps neither positions nor vectors in full precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tantivy
from tantivy import Document, Occur, Query, SchemaBuilder, TextAnalyzerBuilder, Tokenizer
from usearch.index import Index

from cold.engine import CANDIDATES, TOP, Footprint, plain_numbers, size_of
from cold.fusion import fused

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from cold.material import Batch
    from cold.question import Question

NAME = "tantivy-py + usearch i8"
PACKAGES = ("tantivy", "usearch")
IS_GIVEN_TOKENS = True
LINKS, BUILD_WIDTH, SEARCH_WIDTH = 16, 128, 64

numbers = plain_numbers

_SCHEMA = (
    SchemaBuilder()
    .add_text_field("tokens", tokenizer_name="spaces", index_option="freq")
    .add_text_field("text", stored=True, tokenizer_name="nothing", index_option="basic")
    .add_text_field("session", fast=True, tokenizer_name="raw", index_option="basic")
    .add_text_field("role", fast=True, tokenizer_name="raw", index_option="basic")
    .add_unsigned_field("time", indexed=True, fast=True)
    .add_unsigned_field("number", indexed=True, fast=True)
    .build()
)


def _opened(folder: Path) -> tantivy.Index:
    index = tantivy.Index(_SCHEMA, path=str(folder))
    index.register_tokenizer("spaces", TextAnalyzerBuilder(Tokenizer.whitespace()).build())
    # A field cannot be kept without being indexed: this one's words are all too long to be.
    nothing = TextAnalyzerBuilder(Tokenizer.raw()).filter(tantivy.Filter.remove_long(1)).build()
    index.register_tokenizer("nothing", nothing)
    return index


class Builder:
    """One thread, one commit for each batch."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "texts").mkdir(parents=True)
        self._writer = _opened(folder / "texts").writer(num_threads=1)
        self._graph = Index(
            ndim=384,
            metric="cos",
            dtype="i8",
            connectivity=LINKS,
            expansion_add=BUILD_WIDTH,
            expansion_search=SEARCH_WIDTH,
        )

    def add(
        self, batch: Batch, tokens: list[list[str]], vectors: NDArray[np.float32] | None
    ) -> None:
        for at, text in enumerate(batch.texts):
            document = Document()
            document.add_text("tokens", " ".join(tokens[at]))
            document.add_text("text", text)
            document.add_text("session", batch.sessions[at])
            document.add_text("role", batch.roles[at])
            document.add_unsigned("time", batch.times[at])
            document.add_unsigned("number", batch.first + at)
            self._writer.add_document(document)
        self._writer.commit()
        keys = np.arange(batch.first, batch.first + len(batch.texts), dtype=np.uint64)
        self._graph.add(keys, vectors, threads=1)

    def finish(self) -> None:
        self._writer.wait_merging_threads()
        self._graph.save(str(self._folder / "graph"))


class Searcher:
    """Both mapped, not loaded."""

    def __init__(self, folder: Path) -> None:
        self._texts = _opened(folder / "texts").searcher()
        graph = Index.restore(str(folder / "graph"), view=True)
        assert graph is not None
        graph.expansion_search = SEARCH_WIDTH
        self._graph = graph

    def search(self, question: Question) -> list[tuple[str, str]]:
        terms = [Query.term_query(_SCHEMA, "tokens", token, "freq") for token in question.tokens]
        query = Query.boolean_query([(Occur.Should, term) for term in terms])
        addresses = [
            address for _, address in self._texts.search(query, CANDIDATES, count=False).hits
        ]
        found = self._texts.fast_field_values("number", addresses)
        near = self._graph.search(question.vector, CANDIDATES, threads=1).keys.tolist()
        known = dict(zip(found, addresses, strict=True))
        return [(str(number), self._text(number, known)) for number in fused(found, near)]

    def nearest(self, question: Question) -> list[str]:
        return [str(key) for key in self._graph.search(question.vector, TOP, threads=1).keys]

    def _text(self, number: int, known: dict[int, tantivy.DocAddress]) -> str:
        address = known.get(number)
        if address is None:
            query = Query.term_query(_SCHEMA, "number", number, "basic")
            _, address = self._texts.search(query, 1, count=False).hits[0]
        text: str = self._texts.doc(address)["text"][0]
        return text


def footprint(folder: Path, _: int) -> Footprint:
    texts = size_of(folder, "*.store")
    return Footprint(texts, 0, size_of(folder) - texts)

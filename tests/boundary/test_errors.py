"""Errors are exceptions of the right class that name the value, the file or the offset."""

from __future__ import annotations

import errno
import os
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import memctx
from memctx import ConfigError, MemctxError, estimate_tokens, tokenize
from memctx.errors import (
    CorruptStoreError,
    DimensionMismatchError,
    UnsupportedVersionError,
    VectorError,
)
from memctx.lowlevel import Bm25Index, FlatIndex, HashEmbedder, Hit, fusion, vmem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Call = Callable[[Any], object]


def pairs() -> FlatIndex:
    index = FlatIndex(2)
    index.add_many(["a", "b"], [[1, 0], [0, 1]])
    return index


# names and counts


@pytest.mark.parametrize("name", ["", "Memctx", "other", "memctx\0"])
def test_unknown_modes_are_refused(name: Any) -> None:
    """A mode that is no mode is named in the message beside those there are."""
    for call in (lambda: tokenize("text", name), lambda: Bm25Index(name)):
        with pytest.raises(
            ConfigError, match='mode must be "memctx" or "openclaw", not "'
        ) as caught:
            call()
        assert isinstance(caught.value, ValueError)


def test_unknown_estimators_are_refused() -> None:
    """An estimator that is no estimator is named in the message beside those there are."""
    with pytest.raises(ConfigError, match='estimator must be "utf16" or "script", not "memctx"'):
        estimate_tokens("text", "memctx")  # type: ignore[arg-type]


SEARCHES: dict[str, Call] = {
    "Bm25Index.search": lambda k: Bm25Index().search("text", k),
    "FlatIndex.search": lambda k: pairs().search([1, 0], k),
    "FlatIndex.search_many": lambda k: pairs().search_many([[1, 0]], k),
    "mmr": lambda k: fusion.mmr([Hit("a", 1)], k, texts=["x"]),
}


@pytest.mark.parametrize("search", SEARCHES)
def test_a_negative_k_is_refused(search: str) -> None:
    """Fewer than no hits cannot be asked for."""
    for k in (-1, -(2**63)):
        with pytest.raises(ConfigError, match=f"k must be 0 or more, not {k}"):
            SEARCHES[search](k)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("k", ["3", 1.5, None])
def test_k_is_a_whole_number(search: str, k: object) -> None:
    """A count that is no integer is a mistake in the call."""
    with pytest.raises(TypeError):
        SEARCHES[search](k)


@pytest.mark.parametrize("dim", [0, -1, 65_537, 2**40])
def test_impossible_dimensions_are_refused(dim: int) -> None:
    """A dimension is at least 1 and at most what the formats hold."""
    with pytest.raises(ConfigError, match=f"dim must be between 1 and 65536, not {dim}"):
        FlatIndex(dim)
    with pytest.raises(ConfigError, match=f"dim must be between 1 and 32768, not {dim}"):
        HashEmbedder(dim)


def test_vectors_without_values_cannot_be_written(tmp_path: Path) -> None:
    """A file of vectors of dimension 0 is refused before anything is written."""
    with pytest.raises(ConfigError, match="dim must be between 1 and 65536, not 0"):
        vmem.write(tmp_path / "vectors.bin", ["a"], np.zeros((1, 0)))
    assert list(tmp_path.iterdir()) == []


# texts


@pytest.mark.parametrize("text", [None, b"text", 1, ["text"]])
def test_a_text_is_a_string(text: Any) -> None:
    """Whatever wants one text takes a string and nothing else."""
    index = Bm25Index()
    calls: list[Call] = [
        tokenize,
        estimate_tokens,
        index.search,
        HashEmbedder(3).embed,
        lambda text: index.add("a", text),
        lambda text: index.add(text, "a"),
        lambda text: index.explain(text, "a"),
        lambda text: Hit(text, 1),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call(text)
    assert len(index) == 0


MANY: dict[str, Call] = {
    "FlatIndex.add_many": lambda ids: pairs().add_many(ids, [[1, 0], [0, 1]]),
    "FlatIndex within": lambda ids: pairs().search([1, 0], within=ids),
    "Bm25Index within": lambda ids: Bm25Index().search("text", within=ids),
    "HashEmbedder.embed_many": lambda texts: HashEmbedder(3).embed_many(texts),
    "mmr texts": lambda texts: fusion.mmr([Hit("a", 1), Hit("b", 1)], 1, texts=texts),
    "vmem.write": lambda ids: vmem.write("no such folder/file", ids, [[1], [2]]),
    "vmem.append": lambda ids: vmem.append("no such file", ids, [[1], [2]]),
}


@pytest.mark.parametrize("call", MANY)
def test_one_string_is_not_several(call: str) -> None:
    """A single string where several are expected is a mistake, not a row of characters."""
    with pytest.raises(TypeError, match="expected several strings, got one"):
        MANY[call]("ab")


@pytest.mark.parametrize("call", MANY)
@pytest.mark.parametrize("several", [[1, 2], [b"a", b"b"], [None, "b"], 7])
def test_several_strings_are_strings(call: str, several: object) -> None:
    """Every item must be a string where several strings are expected."""
    with pytest.raises(TypeError):
        MANY[call](several)


def test_documents_come_as_pairs_of_strings() -> None:
    """Documents added together are pairs of id and text."""
    index = Bm25Index()
    for items in ("ab", ["ab"], [("a",)], [("a", "b", "c")], [("a", 1)], [(1, "b")], 7):
        with pytest.raises((TypeError, ValueError)):
            index.add_many(items)  # type: ignore[arg-type]
    assert len(index) == 0


IDS: dict[str, Call] = {
    "Bm25Index.add": lambda key: Bm25Index().add(key, "text"),
    "Bm25Index.add_many": lambda key: Bm25Index().add_many([(key, "text")]),
    "Bm25Index group": lambda key: Bm25Index().search("text", group=key),
    "FlatIndex.add": lambda key: pairs().add(key, [1, 0]),
    "FlatIndex.add_many": lambda key: pairs().add_many([key], [[1, 0]]),
    "FlatIndex within": lambda key: pairs().search([1, 0], within=[key]),
    "Hit": lambda key: Hit(key, 1),
    "vmem.write": lambda key: vmem.write("no such folder/file", [key], [[1]]),
}


@pytest.mark.parametrize("call", IDS)
def test_ids_are_valid_unicode(call: str) -> None:
    """An id with a lone surrogate is refused: read as U+FFFD it would be equal to others."""
    with pytest.raises(ConfigError, match="half of a surrogate pair"):
        IDS[call]("a\ud800")


# vectors


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_refused(value: float) -> None:
    """A vector with NaN or an infinity is refused, and the message says which value of which vector it is."""
    index = pairs()
    with pytest.raises(VectorError, match="value 1 of vector 0 is "):
        index.add("c", [1, value])
    with pytest.raises(VectorError, match="value 0 of vector 1 is "):
        index.add_many(["c", "d"], np.array([[1, 2], [value, 4]]))
    for call in (index.search, lambda vector: index.explain(vector, "a")):
        with pytest.raises(VectorError, match="value 1 of vector 0 is "):
            call([1, value])
    with pytest.raises(VectorError, match="value 0 of vector 1 is "):
        index.search_many(np.array([[1, 2], [value, 4]]))
    assert len(index) == 2


def test_a_refused_batch_adds_nothing() -> None:
    """No vector of a batch is added or replaced when one of them is refused."""
    index = pairs()
    with pytest.raises(VectorError):
        index.add_many(["c", "a", "d"], np.array([[1, 2], [5, 6], [np.nan, 4]]))
    assert len(index) == 2
    assert "c" not in index
    kept = index.get("a")
    assert kept is not None
    assert kept.tolist() == [1, 0]


LENGTHS: dict[str, tuple[Call, str]] = {
    "add": (lambda v: pairs().add("c", v), "has {} values where 2 are expected"),
    "search": (lambda v: pairs().search(v), "has {} values where the index has 2"),
    "search_many": (lambda v: pairs().search_many([v, v]), "has {} values where the index has 2"),
    "explain": (lambda v: pairs().explain(v, "a"), "has {} values where 2 are expected"),
}


@pytest.mark.parametrize("call", LENGTHS)
@pytest.mark.parametrize("length", [0, 1, 3, 4])
def test_vectors_of_another_length_are_refused(call: str, length: int) -> None:
    """A vector of the wrong length is refused, and the message has both lengths."""
    run, message = LENGTHS[call]
    with pytest.raises(DimensionMismatchError, match=message.format(length)) as caught:
        run(np.zeros(length))
    assert isinstance(caught.value, VectorError)


@pytest.mark.parametrize("shape", [(1, 2), (3, 2), (2, 1), (2, 3), (1, 4), (0, 2)])
def test_a_matrix_has_a_row_for_each_id(shape: tuple[int, int]) -> None:
    """A matrix that does not fit the ids and the dimension is refused; the message has both shapes."""
    index = FlatIndex(2)
    with pytest.raises(DimensionMismatchError) as caught:
        index.add_many(["a", "b"], np.ones(shape))
    assert str(list(shape)) in str(caught.value)
    assert "[2, 2]" in str(caught.value)
    assert len(index) == 0


ONE: dict[str, Call] = {
    "FlatIndex.add": lambda array: pairs().add("c", array),
    "FlatIndex.search": lambda array: pairs().search(array),
    "FlatIndex.explain": lambda array: pairs().explain(array, "a"),
}
MATRIX: dict[str, Call] = {
    "FlatIndex.add_many": lambda array: pairs().add_many(["c", "d"], array),
    "FlatIndex.search_many": lambda array: pairs().search_many(array),
    "mmr": lambda array: fusion.mmr([Hit("a", 1), Hit("b", 1)], 2, vectors=array),
    "vmem.write": lambda array: vmem.write("no such folder/file", ["a", "b"], array),
    "vmem.append": lambda array: vmem.append("no such file", ["a", "b"], array),
}


@pytest.mark.parametrize("call", ONE | MATRIX)
def test_arrays_have_the_right_number_of_dimensions(call: str) -> None:
    """A vector has one dimension and a matrix two; anything else is refused with the shape it has."""
    flat, deep = np.zeros(2), np.zeros((2, 2, 2))
    for array in (deep, np.zeros((2, 2)) if call in ONE else flat):
        with pytest.raises(VectorError, match=r"expected an array of (one|two) dim") as caught:
            (ONE | MATRIX)[call](array)
        assert str(array.shape) in str(caught.value)


@pytest.mark.parametrize("array", [["x", "y"], [[1], [1, 2]], [object(), 1], "xy"])
def test_vectors_that_are_no_numbers_are_refused(array: Any) -> None:
    """Values that numpy cannot convert to numbers are an error in every call."""
    for call in (ONE | MATRIX).values():
        with pytest.raises((TypeError, ValueError)):
            call(array)


# hits


def test_a_score_is_a_number() -> None:
    """A hit without a place in any order is refused."""
    with pytest.raises(VectorError, match='the score of hit "turn-3" is NaN'):
        Hit("turn-3", float("nan"))
    with pytest.raises(TypeError):
        Hit("a", "1")  # type: ignore[arg-type]


def test_lists_beside_hits_have_their_length() -> None:
    """Ages, texts and vectors come one for each hit, and the message says how many there are of both."""
    hits = [Hit("a", 1), Hit("b", 2)]
    calls: list[Callable[[], object]] = [
        lambda: fusion.decay(hits, [1.0]),
        lambda: fusion.mmr(hits, 1, texts=["x"]),
        lambda: fusion.mmr(hits, 1, vectors=[[1.0, 2.0]]),
    ]
    for call in calls:
        with pytest.raises(ConfigError, match="one item for each of the 2 hits, not 1"):
            call()


def test_mmr_needs_something_to_compare() -> None:
    """Without vectors and texts there is no likeness."""
    with pytest.raises(ConfigError, match="mmr needs vectors or texts"):
        fusion.mmr([Hit("a", 1)], 1)


@pytest.mark.parametrize("hits", ["ab", [1], [("a", 1.0)], None])
def test_rankings_are_lists_of_hits(hits: Any) -> None:
    """Objects that are no hits are refused in a ranking."""
    calls: list[Call] = [
        fusion.normalize,
        lambda hits: fusion.blend(hits, []),
        lambda hits: fusion.blend([], hits),
        lambda hits: fusion.decay(hits, [1.0]),
        lambda hits: fusion.threshold(hits, 0.5),
        lambda hits: fusion.mmr(hits, 1, texts=["x"]),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call(hits)


# files


@pytest.mark.parametrize("name", ["vectors.bin", "no such folder/vectors.bin"])
def test_missing_files_raise_file_not_found(tmp_path: Path, name: str) -> None:
    """A file that is not there is a FileNotFoundError with its name, as for every other file."""
    path = tmp_path / name
    for call in (vmem.read, vmem.verify, lambda path: vmem.append(path, ["a"], [[1]])):
        with pytest.raises(FileNotFoundError) as caught:
            call(path)
        assert (caught.value.filename, caught.value.errno) == (str(path), errno.ENOENT)
        assert not isinstance(caught.value, MemctxError)


def test_writing_into_a_missing_folder_raises_file_not_found(tmp_path: Path) -> None:
    """A folder that is not there is a FileNotFoundError with the name that was asked for."""
    path = tmp_path / "no such folder" / "vectors.bin"
    with pytest.raises(FileNotFoundError) as caught:
        vmem.write(path, ["a"], [[1]])
    assert (caught.value.filename, caught.value.errno) == (str(path), errno.ENOENT)


def test_system_errors_keep_errno_and_message(tmp_path: Path) -> None:
    """The text of a system error is the one Python has for its number."""
    with pytest.raises(FileNotFoundError) as caught:
        vmem.read(tmp_path / "vectors.bin")
    assert caught.value.strerror == os.strerror(errno.ENOENT)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other words for it")
def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """A folder in the place of a file is refused as the system refuses it."""
    for call in (vmem.read, vmem.verify, lambda path: vmem.write(path, ["a"], [[1]])):
        with pytest.raises(IsADirectoryError) as caught:
            call(tmp_path)
        assert caught.value.filename == str(tmp_path)


@pytest.mark.parametrize("path", [None, 1, b"vectors.bin", ["vectors.bin"]])
def test_a_path_is_a_string_or_a_path(path: Any) -> None:
    """An argument that is no path is a mistake in the call."""
    for call in (vmem.read, vmem.verify, lambda path: vmem.append(path, ["a"], [[1]])):
        with pytest.raises(TypeError):
            call(path)


HEADERS: dict[str, tuple[bytes, type[Exception], str]] = {
    "empty": (b"", CorruptStoreError, "at byte 0: 0 bytes are no header"),
    "short": (b"VMEM\1\0\0\0", CorruptStoreError, "at byte 0: 8 bytes are no header"),
    "other magic": (b"vmem" + struct.pack("<III", 1, 2, 0), CorruptStoreError, "at byte 0: "),
    "no dimension": (b"VMEM" + struct.pack("<III", 1, 0, 0), CorruptStoreError, "at byte 8: "),
    "huge dimension": (
        b"VMEM" + struct.pack("<III", 1, 65_537, 0),
        CorruptStoreError,
        "at byte 8: the dimension is 65537",
    ),
    "version 2": (
        b"VMEM" + struct.pack("<III", 2, 2, 0),
        UnsupportedVersionError,
        ": version 2 of the format; this memctx reads version 1",
    ),
    "version 0": (b"VMEM" + struct.pack("<III", 0, 2, 0), UnsupportedVersionError, ": version 0"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_files_that_are_no_vmem_are_refused(tmp_path: Path, case: str) -> None:
    """A file whose beginning is wrong is refused by everything, with its name and the place, and left as it is."""
    contents, kind, message = HEADERS[case]
    path = tmp_path / "vectors.bin"
    path.write_bytes(contents)
    for call in (vmem.read, vmem.verify, lambda path: vmem.append(path, ["a"], [[1, 2]])):
        with pytest.raises(kind) as caught:
            call(path)
        assert message in str(caught.value)
        assert str(path) in str(caught.value)
    assert path.read_bytes() == contents


def test_entries_of_another_dimension_are_not_appended(tmp_path: Path) -> None:
    """A file takes vectors of its own dimension only, and stays as it was when others are refused."""
    path = tmp_path / "vectors.bin"
    vmem.write(path, ["a"], [[1, 2]], checksum=True)
    before = path.read_bytes()
    with pytest.raises(DimensionMismatchError, match="has 3 values where 2 are expected"):
        vmem.append(path, ["b"], [[1, 2, 3]])
    assert path.read_bytes() == before


# the tree


def test_errors_are_also_builtin_exceptions() -> None:
    """Values are ValueErrors, shapes of messages TypeErrors, and everything is a MemctxError."""
    assert issubclass(ConfigError, ValueError)
    assert issubclass(VectorError, ValueError)
    assert issubclass(DimensionMismatchError, VectorError)
    assert issubclass(memctx.MessageFormatError, TypeError)
    for kind in (CorruptStoreError, UnsupportedVersionError, memctx.errors.StoreLockedError):
        assert issubclass(kind, memctx.StoreError)
        assert issubclass(kind, MemctxError)
        assert not issubclass(kind, (ValueError, OSError))

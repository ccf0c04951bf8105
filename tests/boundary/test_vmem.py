"""`memctx.lowlevel.vmem`."""

from __future__ import annotations

import contextlib
import os
import stat
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import strategies as st

from memctx import StoreError
from memctx.errors import CorruptStoreError
from memctx.lowlevel import vmem

from . import golden, reference
from .strategies import for_all, matrices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Entries = tuple[list[str], NDArray[np.float32]]

HEADER = 16
TRAILER = 28


@contextlib.contextmanager
def new_path() -> Iterator[Path]:
    """Return a path in a folder of its own; for property tests, in which a fixture would be shared by all examples."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "vectors.bin"


def entries(dim: int = 3, least: int = 0) -> st.SearchStrategy[Entries]:
    """Ids of any text, and a row for each."""
    return matrices(dim=dim, least=least, most=8).flatmap(
        lambda matrix: st.tuples(
            st.lists(st.text(max_size=12), min_size=len(matrix), max_size=len(matrix)),
            st.just(matrix),
        )
    )


def golden_entries() -> Entries:
    expected = golden.load("vmem_v1.json")
    return expected["ids"], np.array(expected["matrix"], dtype=np.float32)


def assert_holds(path: Path, expected: Entries) -> None:
    """Assert that the file has exactly these entries."""
    ids, matrix = vmem.read(path, strict=True)
    assert ids == expected[0]
    assert matrix.tobytes() == expected[1].tobytes()
    assert (matrix.shape, matrix.dtype) == (expected[1].shape, np.dtype("f4"))


def test_the_golden_file_is_read_and_written_to_the_byte(tmp_path: Path) -> None:
    """Reading gives the golden entries, and writing these gives the golden bytes."""
    file, expected = golden.FOLDER / "vmem_v1.bin", golden_entries()
    assert_holds(file, expected)
    assert vmem.verify(file).ok
    vmem.write(tmp_path / "new.bin", *expected)
    assert (tmp_path / "new.bin").read_bytes() == file.read_bytes()
    assert reference.vmem_file(*expected) == file.read_bytes()


@for_all(written=entries(), checksum=st.booleans())
def test_written_vectors_are_read(*, written: Entries, checksum: bool) -> None:
    """Any ids and finite values come back bit for bit, from the very bytes the format describes."""
    with new_path() as path:
        vmem.write(path, *written, checksum=checksum)
        assert path.read_bytes() == reference.vmem_file(*written, checksum=checksum)
        assert_holds(path, written)
        assert vmem.verify(path).checksum == ("valid" if checksum else "absent")


@for_all(a=entries(), b=entries(), c=entries(), checksum=st.booleans())
def test_appending_equals_writing(*, a: Entries, b: Entries, c: Entries, checksum: bool) -> None:
    """A file that grew has the very bytes of one written at once."""
    everything = [*a[0], *b[0], *c[0]], np.concatenate([a[1], b[1], c[1]])
    with new_path() as path:
        vmem.write(path, *a, checksum=checksum)
        vmem.append(path, *b)
        vmem.append(path, *c)
        assert path.read_bytes() == reference.vmem_file(*everything, checksum=checksum)
        assert_holds(path, everything)


@for_all(written=entries(), data=st.data(), checksum=st.booleans())
def test_a_file_cut_short_keeps_its_complete_entries(
    *, written: Entries, data: st.DataObject, checksum: bool
) -> None:
    """Cut anywhere behind the header, a file gives what is complete, and takes further entries."""
    with new_path() as path:
        whole = reference.vmem_file(*written, checksum=checksum)
        path.write_bytes(whole[: data.draw(st.integers(HEADER, len(whole)))])
        ids, matrix = vmem.read(path)
        report = vmem.verify(path)
        assert ids == written[0][: report.complete]
        assert matrix.tobytes() == written[1][: report.complete].tobytes()
        assert report.ok == (report.complete == report.declared == len(written[0]))
        vmem.append(path, ["new"], [[1, 2, 3]])
        grown = np.concatenate([matrix, np.array([[1, 2, 3]], dtype=np.float32)])
        assert_holds(path, ([*ids, "new"], grown))


@for_all(entries(dim=2), st.data())
def test_with_a_checksum_no_damage_goes_unnoticed(written: Entries, data: st.DataObject) -> None:
    """A flipped bit is either an error or in a place that changes no entry."""
    with new_path() as path:
        whole = bytearray(reference.vmem_file(*written, checksum=True))
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(whole)
        with contextlib.suppress(StoreError):
            ids, matrix = vmem.read(path)
            assert ids == written[0]
            assert matrix.tobytes() == written[1].tobytes()


@for_all(st.binary(max_size=200), st.sampled_from([b"", b"VMEM", b"VMEM\1\0\0\0\2\0\0\0"]))
def test_any_bytes_are_read_or_refused(rest: bytes, start: bytes) -> None:
    """Any bytes at all are either read as far as they go or refused as a store that is wrong."""
    with new_path() as path:
        path.write_bytes(start + rest)
        with contextlib.suppress(StoreError):
            ids, matrix = vmem.read(path)
            report = vmem.verify(path)
            assert matrix.shape == (len(ids), report.dim)
            assert len(ids) == report.complete - report.unreadable
            assert np.isfinite(matrix).all()


def test_a_wrong_checksum_is_an_error_that_says_where(tmp_path: Path) -> None:
    """Entries that do not match their checksum are never given out; `verify` says so without raising."""
    path = tmp_path / "vectors.bin"
    whole = bytearray(reference.vmem_file(*golden_entries(), checksum=True))
    whole[HEADER + 3] ^= 1
    path.write_bytes(whole)
    with pytest.raises(CorruptStoreError) as caught:
        vmem.read(path)
    assert f"{path} at byte {len(whole) - TRAILER}" in str(caught.value)
    report = vmem.verify(path)
    assert (report.checksum, report.ok, report.complete) == ("wrong", False, 2)


def test_a_checksum_is_invisible_to_other_readers(tmp_path: Path) -> None:
    """With or without a checksum, header and entries are the same bytes, and the header counts the entries."""
    path = tmp_path / "vectors.bin"
    vmem.write(path, *golden_entries(), checksum=True)
    plain = (golden.FOLDER / "vmem_v1.bin").read_bytes()
    assert path.read_bytes()[:-TRAILER] == plain
    assert vmem.verify(path).trailing_bytes == 0


def test_a_report_says_what_is_in_a_file(tmp_path: Path) -> None:
    """A report counts the entries promised, complete and unreadable, and the bytes left over."""
    path = tmp_path / "vectors.bin"
    path.write_bytes(reference.vmem_file(*golden_entries())[:-1])
    report = vmem.verify(path)
    assert isinstance(report, vmem.VmemReport)
    assert (report.dim, report.declared, report.complete, report.unreadable) == (4, 2, 1, 0)
    assert (report.trailing_bytes, report.checksum, report.ok) == (2 + 2 + 15, "absent", False)
    assert repr(report) == (
        "VmemReport(dim=4, declared=2, complete=1, unreadable=0, trailing_bytes=19, "
        'checksum="absent")'
    )


def test_bytes_behind_the_last_entry_are_no_fault(tmp_path: Path) -> None:
    """The rest of an unfinished append is no part of the file, and the next append replaces it."""
    path = tmp_path / "vectors.bin"
    path.write_bytes(reference.vmem_file(*golden_entries()) + b"\3\0half")
    assert_holds(path, golden_entries())
    report = vmem.verify(path)
    assert (report.ok, report.trailing_bytes) == (True, 6)
    vmem.append(path, [], np.zeros((0, 4)))
    assert path.read_bytes() == reference.vmem_file(*golden_entries())


def damaged(dim: int, *, at: int, value: float) -> bytes:
    """Return a file of three entries, of which the second has a value that is no number."""
    matrix = np.ones((3, dim), dtype=np.float32)
    matrix[1, at] = value
    return reference.vmem_file(["a", "b", "c"], matrix)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("dim", "at"), [(1, 0), (16, 15), (37, 0), (37, 31), (37, 32), (37, 36)])
def test_entries_with_values_that_are_not_finite_are_skipped(
    tmp_path: Path, dim: int, at: int, value: float
) -> None:
    """An entry with NaN or an infinity anywhere is skipped, the ones around it are not."""
    path = tmp_path / "vectors.bin"
    path.write_bytes(damaged(dim, at=at, value=value))
    ids, matrix = vmem.read(path)
    assert ids == ["a", "c"]
    assert np.array_equal(matrix, np.ones((2, dim)))
    assert (vmem.verify(path).complete, vmem.verify(path).unreadable) == (3, 1)


@pytest.mark.thread_unsafe(reason="uses caplog")
def test_entries_with_an_unreadable_id_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An entry whose id is no UTF-8 is skipped and logged, or refused when reading strictly."""
    path = tmp_path / "vectors.bin"
    whole = bytearray(reference.vmem_file(["a", "b"], np.ones((2, 3), dtype=np.float32)))
    whole[HEADER + 2] = 0xFF
    path.write_bytes(whole)
    assert vmem.read(path)[0] == ["b"]
    assert "1 of those unreadable" in caplog.text
    with pytest.raises(CorruptStoreError, match="1 of those unreadable"):
        vmem.read(path, strict=True)


@pytest.mark.thread_unsafe(reason="uses caplog")
def test_a_file_cut_short_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A missing end is one warning that names the file and the counts, or an error when reading strictly."""
    path = tmp_path / "vectors.bin"
    path.write_bytes(reference.vmem_file(*golden_entries())[:-1])
    assert len(vmem.read(path)[0]) == 1
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("memctx.lowlevel.vmem", "WARNING")
    for part in (str(path), "2 entries promised", "1 complete", "19 bytes left over"):
        assert part in record.getMessage()
    with pytest.raises(CorruptStoreError) as caught:
        vmem.read(path, strict=True)
    assert str(caught.value) == record.getMessage()


@pytest.mark.thread_unsafe(reason="uses caplog")
def test_a_whole_file_logs_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Reading a file that is as it should be says nothing."""
    vmem.write(tmp_path / "vectors.bin", ["a"], [[1, 2]], checksum=True)
    vmem.read(tmp_path / "vectors.bin")
    vmem.verify(tmp_path / "vectors.bin")
    assert caplog.records == []


def test_a_huge_count_reserves_no_memory(tmp_path: Path) -> None:
    """A header that promises four billion long vectors costs nothing when they are not there."""
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"VMEM" + struct.pack("<III", 1, 65_536, 0xFFFF_FFFF))
    ids, matrix = vmem.read(path)
    assert (ids, matrix.shape) == ([], (0, 65_536))
    assert vmem.verify(path).declared == 0xFFFF_FFFF


def test_an_empty_file_keeps_its_dimension(tmp_path: Path) -> None:
    """A file without entries is a file, and its dimension holds for what is appended."""
    path = tmp_path / "vectors.bin"
    vmem.write(path, [], np.zeros((0, 4)))
    assert vmem.read(path)[1].shape == (0, 4)
    vmem.append(path, ["a"], [[1, 2, 3, 4]])
    assert_holds(path, (["a"], np.array([[1, 2, 3, 4]], dtype=np.float32)))


def test_ids_may_repeat_and_be_long(tmp_path: Path) -> None:
    """Ids are kept in order, repeated or not, up to 65535 bytes each."""
    path, ids = tmp_path / "vectors.bin", ["a", "", "a", "é" * 32_767, "x" * 65_535]
    vmem.write(path, ids, np.ones((5, 1)))
    assert_holds(path, (ids, np.ones((5, 1), dtype=np.float32)))


def test_any_path_and_any_array_will_do(tmp_path: Path) -> None:
    """Paths are strings or path objects with any name; matrices are lists or arrays of any type and order."""
    path, matrix = tmp_path / "véctors 飞书", np.arange(6, dtype=np.float32).reshape(2, 3)
    for form in (matrix, matrix.tolist(), matrix.astype(np.float64), np.asfortranarray(matrix)):
        vmem.write(str(path), ("a", "b"), form)
        vmem.append(path, ["c"], form[:1])
        assert_holds(path, (["a", "b", "c"], np.concatenate([matrix, matrix[:1]])))


REFUSED: dict[str, tuple[list[str], ArrayLike]] = {
    "is nan": (["a"], [[1, 2, 3, np.nan]]),
    "where 4 are expected": (["a"], np.ones((2, 4))),
    "at most 65535 bytes": (["x" * 65_536], np.ones((1, 4))),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_refused_write_leaves_the_old_file(tmp_path: Path, fault: str) -> None:
    """The file stays as it was and nothing else is left behind when new entries cannot be written."""
    path = tmp_path / "vectors.bin"
    vmem.write(path, *golden_entries())
    ids, matrix = REFUSED[fault]
    with pytest.raises(ValueError, match=f"(?i){fault}"):
        vmem.write(path, ids, matrix)
    with pytest.raises(ValueError, match=f"(?i){fault}"):
        vmem.append(path, ids, matrix)
    assert_holds(path, golden_entries())
    assert list(tmp_path.iterdir()) == [path]


def test_readers_of_the_old_file_keep_it(tmp_path: Path) -> None:
    """A rewrite puts a new file in the place of the old one, which processes that have it open still see whole."""
    path = tmp_path / "vectors.bin"
    vmem.write(path, ["old"], [[1, 2]])
    old = path.read_bytes()
    if os.name != "posix":
        pytest.skip("an open file cannot be replaced here")
    with path.open("rb") as reader:
        vmem.write(path, ["new", "newer"], [[3, 4], [5, 6]])
        assert reader.read() == old
    assert vmem.read(path)[0] == ["new", "newer"]


@pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")
def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    """A new file can be read and written by its owner only."""
    path = tmp_path / "vectors.bin"
    vmem.write(path, ["a"], [[1]])
    vmem.append(path, ["b"], [[2]])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_large_files_are_read_whole(tmp_path: Path) -> None:
    """Entries that lie across the stretches a file is read in come out whole, also far longer ones."""
    path, source = tmp_path / "vectors.bin", np.random.default_rng(7)
    for rows, dim in ((3000, 384), (7, 65_536)):
        ids = [f"{row}" * (row % 7) for row in range(rows)]
        matrix = source.standard_normal((rows, dim), dtype=np.float32)
        vmem.write(path, ids, matrix, checksum=True)
        assert_holds(path, (ids, matrix))
        assert vmem.verify(path).ok


def test_the_matrix_belongs_to_the_caller(tmp_path: Path) -> None:
    """The returned arrays can be written to, and the file does not change by it."""
    path = tmp_path / "vectors.bin"
    vmem.write(path, *golden_entries())
    matrix = vmem.read(path)[1]
    matrix[:] = 7
    assert_holds(path, golden_entries())

"""A SQLite database of another program, opened so that nothing of it changes."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from memctx.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

MAGIC = b"SQLite format 3\x00"


@contextmanager
def opened(path: Path) -> Generator[sqlite3.Connection, None, None]:
    """A database, to be read only.

    Raises:
        StoreError: it is damaged, or locked by its own program.
    """
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            connection.text_factory = _text
            yield connection
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error


def columns(connection: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a table; none if there is no such table."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return {str(row[0]) for row in rows}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")

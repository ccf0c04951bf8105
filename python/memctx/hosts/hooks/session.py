"""`HostSession`: the id of a conversation with a host; `SessionRecord`: how people know it, and what it was told."""

from __future__ import annotations

import glob
import os
import re
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memctx import files, store_files

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from memctx.memory import Memory

FOLDER = "hosts"
"""Folder of a store that holds the records and the log of hooks."""
MAX_NAME = 40
"""Most characters of a folder's name in a session id."""
MAX_SHOWN = 400
"""Most ids of recalled text that a record keeps; the newest."""
SECONDS_TO_WAIT = 1.0


@dataclass(frozen=True, slots=True)
class HostSession:
    """A conversation with an agent host in a project folder.

    >>> session = HostSession("codex", "/src/shop", "01a1ed25")
    >>> session.session_id, session.is_same_project("claude-code/shop-3cb8c763/c1")
    ('codex/shop-3cb8c763/01a1ed25', True)
    """

    host: str
    """The host, such as ``"claude-code"``."""
    project: str
    """The folder that the conversation is about."""
    conversation: str
    """The host's own id of the conversation."""

    @property
    def project_key(self) -> str:
        """The name of the folder and a digest of its path, links resolved."""
        path = os.path.realpath(self.project)
        name = re.sub(r"[^\w.-]+", "-", os.path.basename(path))[:MAX_NAME]  # noqa: PTH119 - as above
        digest = sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{name or 'root'}-{digest[:8]}"

    @property
    def session_id(self) -> str:
        """Id of the session in a store."""
        return f"{self.host}/{self.project_key}/{self.conversation}"

    def is_same_project(self, session_id: str | None) -> bool:
        """Return whether a session is about the same project, whatever its host."""
        return project_key_of(session_id or "") == self.project_key

    def owns(self, session_id: str | None) -> bool:
        """Return whether a session is this one or that of one of its subagents."""
        own = self.session_id
        return session_id == own or (session_id or "").startswith(f"{own}.")


def project_key_of(session_id: str) -> str | None:
    """Return the project in a session id; None if the id names none.

    >>> project_key_of("codex/shop-3cb8c763/01a1ed25"), project_key_of("s1")
    ('shop-3cb8c763', None)
    """
    parts = session_id.split("/", 2)
    return parts[1] if len(parts) == 3 else None  # noqa: PLR2004 - host, project, conversation


def find_project(folder: str) -> str:
    """Return the root of the repository that a folder is in, or the folder itself."""
    path = Path(os.path.realpath(folder))
    for each in (path, *path.parents):
        try:
            if (each / ".git").exists():
                return str(each)
        except OSError:
            break
    return str(path)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A conversation as people know it, and the text that it was given. Texts are excerpts, secrets masked."""

    host: str = ""
    project: str = ""
    """The project folder."""
    conversation: str = ""
    title: str = ""
    """The title that the host gave it."""
    first_prompt: str = ""
    last_prompt: str = ""
    last_answer: str = ""
    last_at: float = 0.0
    """Time of the last prompt or answer, in milliseconds since the epoch."""
    compacted_at: float = 0.0
    """Time of the last compaction, in milliseconds since the epoch; 0 for none."""
    compactions: int = 0
    is_told: bool = False
    """True if the conversation was told about the project."""
    shown: tuple[str, ...] = ()
    """Ids of what was recalled for it since its last compaction."""
    session_id: str = ""
    """The id in the store of a session that was imported; empty for those that hooks archive."""

    @property
    def name(self) -> str:
        """The title, or else the first prompt."""
        return self.title or self.first_prompt


def read_record(root: Path, session: HostSession) -> SessionRecord:
    """Return the record of a conversation; an empty one if there is none, or none that can be read."""
    found = _load(_path_of(root, session.session_id))
    if found is not None and found.conversation == session.conversation:
        return found
    return SessionRecord(session.host, os.path.realpath(session.project), session.conversation)


def update_record(
    root: Path, session: HostSession, change: Callable[[SessionRecord], SessionRecord]
) -> SessionRecord:
    """Apply a change to a record under a lock; return the record after it.

    Raises:
        StoreError: it could not be saved.
    """
    with _held(root, session.session_id) as file:
        changed = change(read_record(root, session))
        changed = replace(changed, shown=changed.shown[-MAX_SHOWN:])
        _save(file, changed)
    return changed


def record_import(root: Path, found: SessionRecord) -> None:
    """Save what a transcript tells about an imported session; a record that hooks keep is left alone.

    Raises:
        StoreError: it could not be saved.
    """
    with _held(root, found.session_id) as file:
        known = _load(file.path)
        if known is None or not known.conversation:
            _save(file, found)
        elif known.session_id:
            # A session may be spread over several files.
            changed = replace(
                found,
                project=found.project or known.project,
                title=found.title or known.title,
                first_prompt=found.first_prompt or known.first_prompt,
            )
            if changed != known:
                _save(file, changed)


def find_records(root: Path, project_key: str | None = None) -> dict[str, SessionRecord]:
    """Return the records of a store, or those of hooks in one project, by session id, newest first."""
    found = {
        each.session_id or HostSession(each.host, each.project, each.conversation).session_id: each
        for each in _load_all(root, project_key)
        if project_key is None or not each.session_id
    }
    return dict(sorted(found.items(), key=lambda item: item[1].last_at, reverse=True))


def newest_sessions(memory: Memory, session: HostSession) -> list[str]:
    """Return the sessions of a project, those that hooks archived first, newest first."""
    known = find_records(Path(memory.store.path), session.project_key)
    order = {each: rank for rank, each in enumerate(known)}
    own = [each for each in memory.store.sessions() if session.is_same_project(each)]
    return sorted(own, key=lambda each: order.get(each, len(order)))


def _path_of(root: Path, session_id: str) -> Path:
    return store_files.path_of(root, FOLDER, session_id, ".json")


@contextmanager
def _held(root: Path, session_id: str) -> Generator[files.Held, None, None]:
    """Lock the file of a record."""
    path = _path_of(root, session_id)
    files.make_folder(root)
    store_files.make_folder(path.parent)
    with files.held(path, timeout=SECONDS_TO_WAIT) as file:
        yield file


def _save(file: files.Held, record: SessionRecord) -> None:
    file.replace(f"{store_files.json_of(asdict(record))}\n".encode(), sync=False)


def _load_all(root: Path, project_key: str | None) -> Iterator[SessionRecord]:
    pattern = "*.json"
    if project_key is not None:
        # The file has the quoted id as its name.
        whole = store_files.path_of(root, FOLDER, f"/{project_key}/", "").name
        pattern = f"*{glob.escape(whole)}*.json"
    for path in (root / FOLDER).glob(pattern):
        record = _load(path)
        if record is not None and record.conversation:
            yield record


def _load(path: Path) -> SessionRecord | None:
    try:
        document = store_files.read(path)
    except (OSError, ValueError):
        return None
    known = {
        field.name: document[field.name]
        for field in fields(SessionRecord)
        if _has_type(document.get(field.name), field.type)
    }
    known["shown"] = tuple(map(str, known.get("shown", ())))
    return SessionRecord(**known)


def _has_type(value: Any, declared: object) -> bool:  # noqa: ANN401 - what a file holds
    if declared == "float":
        return isinstance(value, int | float) and not isinstance(value, bool)
    expected = {"str": str, "int": int, "bool": bool}.get(str(declared), list)
    return type(value) is expected

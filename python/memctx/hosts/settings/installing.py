"""Installing and uninstalling: changes of settings files, as text first, then with a backup of each file."""

from __future__ import annotations

import difflib
import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from memctx import files
from memctx.errors import ConfigError, StoreError
from memctx.hosts.settings.hosts import targets

if TYPE_CHECKING:
    from memctx.hosts.settings.hosts import HostName, Place, Target

BACKUP = ".memctx-backup"
"""Ending of the file that holds the settings from before the installation."""
FOLDERS = frozenset({".claude", ".codex", ".cursor", ".gemini", ".opencode", "opencode", "plugin"})
"""Folders of hosts, which may be made for a settings file."""
MODE = 0o644
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one file; None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    is_first: bool = False
    """True if the file is there and has nothing of memctx, so that a backup is kept."""

    @property
    def backup(self) -> Path:
        """The backup of the file."""
        return backup_of(self.path)

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (_lines(each) for each in (self.before, self.after))
        from_file, to_file = (
            "/dev/null" if each is None else str(self.path) for each in (self.before, self.after)
        )
        return "\n".join(difflib.unified_diff(old, new, from_file, to_file, lineterm="", n=2))


def backup_of(path: Path) -> Path:
    """Return the backup of a file."""
    return path.with_name(f"{path.name}{BACKUP}")


def plan_install(
    host: HostName, place: Place, *, with_mcp: bool = True, trust: bool = False
) -> list[Change]:
    """Return the changes that install memctx in a host; none where it is installed already.

    Raises:
        ConfigError: a file is not understood; the message has its name and the position.
    """
    return _changed(
        [
            Change(path, before, _add(each, before), is_first=not _has_memctx(each, before))
            for each, path, before in _found(targets(host, place, with_mcp=with_mcp, trust=trust))
        ]
    )


def plan_uninstall(host: HostName, place: Place) -> list[Change]:
    """Return the changes that uninstall memctx from a host: every file as it was before, if it has not changed since.

    Raises:
        ConfigError: a file is not understood; the message has its name and the position.
    """
    variants = [
        each
        for with_mcp, trust in product((True, False), repeat=2)
        for each in targets(host, place, with_mcp=with_mcp, trust=trust)
    ]
    changes: list[Change] = []
    for target, path, before in _found(targets(host, place)):
        if before is not None:
            alike = [each for each in variants if each.path == target.path]
            changes.append(Change(path, before, _remove(target, alike, path, before)))
    return _changed(changes)


def install(changes: list[Change]) -> None:
    """Write the changes of an installation, and keep each file from before unless it has memctx already."""
    for each in changes:
        _check_unchanged(each)
        files.make_folder(each.path.parent)
        if each.before is not None and each.is_first:
            _write(each.backup, each.before, _mode(each.path))
        _write(each.path, each.after or b"", _mode(each.path))


def uninstall(changes: list[Change]) -> None:
    """Write the changes of an uninstallation, and remove the backups."""
    for each in changes:
        _check_unchanged(each)
        if each.after is None:
            each.path.unlink(missing_ok=True)
            _remove_folders(each.path.parent)
        else:
            _write(each.path, each.after, _mode(each.path))
        each.backup.unlink(missing_ok=True)


def _remove_folders(folder: Path) -> None:
    """Remove a folder of a host and those around it, as far as they are empty."""
    with suppress(OSError):  # other files are in it
        while folder.name in FOLDERS:
            folder.rmdir()
            folder = folder.parent


def is_installed(host: HostName, place: Place) -> bool:
    """Return whether the hooks of memctx are in the settings of a host; False if they cannot be read."""
    with suppress(ConfigError, OSError):
        first = targets(host, place, with_mcp=False)[0]
        return _has_memctx(first, _read(_resolve(first.path)))
    return False


def _found(wanted: list[Target]) -> list[tuple[Target, Path, bytes | None]]:
    paths = [_resolve(each.path) for each in wanted]
    return [(each, path, _read(path)) for each, path in zip(wanted, paths, strict=True)]


def _resolve(path: Path) -> Path:
    """Return the file behind symbolic links, which stay."""
    return Path(os.path.realpath(path))


def _add(target: Target, before: bytes | None) -> bytes:
    text = _text(before or b"", target.path)
    return _encoded(target.add(text))


def _remove(target: Target, alike: list[Target], path: Path, before: bytes) -> bytes | None:
    """Return a file without memctx: its backup if nothing else has changed, no file if there was none.

    ``alike`` are the target and its variants, one of which was installed.
    """
    text = _text(before, target.path)
    kept = _read(backup_of(path))
    if not _has_memctx(target, before):
        return before
    if any(_add_all(each, kept) == before for each in alike):
        return kept
    removed = target.remove(text)
    return _encoded(removed) if removed.strip() or kept is not None else None


def _add_all(target: Target, before: bytes | None) -> bytes | None:
    try:
        return _add(target, before)
    except ConfigError:
        return None


def _changed(changes: list[Change]) -> list[Change]:
    return [each for each in changes if each.before != each.after]


def _has_memctx(target: Target, data: bytes | None) -> bool:
    text = _text(data or b"", target.path)
    return bool(text.strip()) and target.remove(text) != text


def _check_unchanged(change: Change) -> None:
    if _read(change.path) != change.before:
        raise StoreError(f"{change.path}: another program has changed it meanwhile; try again")


def _read(path: Path) -> bytes | None:
    try:
        found = files.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if len(found) > MAX_BYTES:
        raise ConfigError(f"{path}: it is larger than any settings file; nothing was changed")
    return found


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: byte {error.start}: expected UTF-8; nothing was changed"
        ) from None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8")


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return MODE


def _write(path: Path, data: bytes, mode: int) -> None:
    files.replace(path, data)
    path.chmod(mode)

"""Memories of hooks: one that reads the sessions of all projects, and one that writes a session."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memctx.config import Config
    from memctx.hosts.hooks.session import HostSession
    from memctx.memory import Memory

READER_SESSION = "memctx-hooks"
"""Session id of a memory that only reads. Nothing is written under it."""
LOCK_TIMEOUT = 1.0
"""Most seconds to wait for other writers: a person waits for the host meanwhile."""


def load_config(root: Path | None) -> Config:
    """Return the settings of the environment, with facts by rules unless they say otherwise."""
    from memctx.config import Config  # noqa: PLC0415 - pydantic is slow to import
    from memctx.embeddings import read_metadata  # noqa: PLC0415 - as above

    config = Config.load()
    given = config.given()
    store = config.storage_path if root is None else root
    lock_timeout = min(config.disk.lock_timeout, LOCK_TIMEOUT)
    config = config.replace(storage_path=store, disk={"lock_timeout": lock_timeout})
    if "knowledge_extraction" not in given and config.extractor is None:
        config = config.replace(knowledge_extraction="rules")
    if "embedding_model" not in given:
        # Its agent may have chosen hashing; a hook does not change the model of a store.
        metadata = read_metadata(store)
        if metadata is not None and metadata["model"] == "hash":
            config = config.replace(embedding_model="hash")
    return config


def default_root() -> Path:
    """Return the folder of the store that the environment names, also where its settings are wrong."""
    return Path(os.environ.get("MEMCTX_STORAGE_PATH") or "~/.memctx").expanduser()


def open_reader(root: Path | None = None) -> Memory:
    """Open the memory that hooks read: all sessions of a store, of which they use those of their project.

    A process that answers many calls keeps it open, and every call finds it open.
    """
    from memctx import registry  # noqa: PLC0415 - slow to import

    config = load_config(root).replace(knowledge_extraction=False, cross_session=True)
    return registry.open(config.storage_path, session_id=READER_SESSION, config=config)


def open_writer(config: Config, session: HostSession) -> Memory:
    """Open the memory that archives a session and extracts its facts, which change none of another session."""
    from memctx import registry  # noqa: PLC0415 - slow to import

    config = config.replace(cross_session=False)
    return registry.open(config.storage_path, session_id=session.session_id, config=config)

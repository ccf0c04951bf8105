from __future__ import annotations

import pytest

from memctx.cli.replay import Replay, replay

from . import session


@pytest.fixture(scope="session")
def played() -> Replay:
    """Replay the session in its small window; nothing changes it, so that all tests share one."""
    return replay(
        session.messages(), context_window=session.WINDOW, trim={"reply_reserve_tokens": 500}
    )

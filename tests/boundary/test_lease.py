"""`Lease`: one holder at a time, and a forked child is not one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memctx._core import Lease

if TYPE_CHECKING:
    from pathlib import Path


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    first, second = Lease(tmp_path / "lock"), Lease(tmp_path / "lock")
    assert (first.is_held, first.acquire(), first.acquire(), first.is_held) == (
        False,
        True,
        True,
        True,
    )
    assert (second.acquire(), second.is_held) == (False, False)
    first.release()
    first.release()
    assert (first.is_held, second.acquire()) == (False, True)
    del second
    assert first.acquire()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="lock"):
        Lease(tmp_path / "lock").acquire()
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_leaves_the_lease_to_its_parent(tmp_path: Path) -> None:
    lease = Lease(tmp_path / "lock")
    assert lease.acquire()
    child = os.fork()
    if child == 0:
        lease.release()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert not Lease(tmp_path / "lock").acquire()
    lease.release()
    assert Lease(tmp_path / "lock").acquire()

"""An erased session leaves nothing in the caches of hosts, also where it is open while it is erased."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from memctx.errors import StoreError
from replica.test_sharing import contents, said, wait_for

if TYPE_CHECKING:
    from replica.conftest import Hosts

CANARY, NAME = "canary-7731", "gone-5521"


def traces(hosts: Hosts, name: str, *, of: tuple[str, ...] = (CANARY, NAME)) -> list[str]:
    """Return the files of a cache that have the erased text, or the name of its session."""
    found: list[str] = []
    for path in sorted(hosts.cache(name).rglob("*")):
        try:
            body = path.read_bytes() if path.is_file() else b""
        except FileNotFoundError:  # replaced meanwhile
            continue
        if any(each in str(path.name) or each.encode() in body for each in of):
            found.append(path.name)
    return found


def test_an_erased_session_leaves_the_caches_and_is_refused(hosts: Hosts) -> None:
    with hosts.open("a", NAME, context_window=8_000) as memory:
        memory.prepare(said(f"{CANARY} asks"))
        memory.archive(said(f"{CANARY} is secret"))
        memory.facts.add("config", f"{CANARY} is a fact")
    with hosts.open("a", "stays") as memory:
        memory.archive(said("this text stays here"))
    assert traces(hosts, "a")
    hosts.space.server().erase(NAME)
    with pytest.raises(StoreError, match="erased"):
        hosts.open("a", NAME)
    with hosts.open("a", "stays") as memory:
        wait_for(lambda: not traces(hosts, "a"))
        assert contents(memory) == ["this text stays here"]


@pytest.mark.slow
def test_text_of_a_session_that_was_open_while_it_was_erased_leaves_the_cache(hosts: Hosts) -> None:
    with hosts.open("a", "stays") as stays:
        stays.archive(said("this text stays here"))
        with hosts.open("a", NAME, context_window=8_000) as memory:
            memory.archive(said(f"{CANARY} is secret"))
            memory.facts.add("config", f"{CANARY} is a fact")
            hosts.space.server().erase(NAME)
            wait_for(lambda: not traces(hosts, "a", of=(CANARY,)), 20)
            memory.prepare(said(f"{CANARY} is said again"))
            with pytest.raises(StoreError, match="erased"):
                memory.archive(said(f"{CANARY} is archived again"))
            with pytest.raises(StoreError, match="erased"):
                memory.facts.add("config", f"{CANARY} is a fact again")
        wait_for(lambda: not traces(hosts, "a"))
        assert contents(stays) == ["this text stays here"]
        stays.archive(said("this text comes later"))
    assert not traces(hosts, "a")
    with hosts.open("b", "stays") as memory:
        assert contents(memory) == ["this text stays here", "this text comes later"]


@pytest.mark.slow
def test_archiving_succeeds_while_another_session_leaves_the_cache(hosts: Hosts) -> None:
    with hosts.open("a", NAME) as memory:
        memory.archive(said(*(f"{CANARY} is said for the {number}th time" for number in range(50))))
    with hosts.open("a", "stays", timeout=3.0) as stays:
        hosts.space.server().erase(NAME)
        count, deadline = 0, time.monotonic() + 60
        while traces(hosts, "a"):
            assert time.monotonic() < deadline
            stays.archive(said(f"Parcel {count} has gate {count}"))
            count += 1
        stays.archive(said("Deployments are frozen on weekends"))
    with hosts.open("b", "stays") as memory:
        assert len(contents(memory)) == count + 1


def test_the_last_session_of_a_cache_may_be_the_erased_one(hosts: Hosts) -> None:
    with hosts.open("a", NAME, context_window=8_000) as memory:
        memory.archive(said(f"{CANARY} is secret"))
        hosts.space.server().erase(NAME)
        memory.prepare(said(f"{CANARY} is said again"))
    assert not traces(hosts, "a")

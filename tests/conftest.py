"""What holds for every test: no network beyond this machine, and bounded property tests."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from memctx import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The typed-usage files are for type checkers; nothing runs them.
collect_ignore = ["typing"]

settings.register_profile(
    "dev", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "ci",
    settings.get_profile("dev"),
    max_examples=100,
    derandomize=True,  # a failure in CI fails again at the desk
    print_blob=True,
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def _is_local(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # the path of a Unix socket
    host = str(address[0])
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Fail whatever connects to another machine. For the whole session, so that tests may run in several threads."""

    def guarded(connect: Callable[..., Any]) -> Callable[..., Any]:
        def guard(self: socket.socket, address: object) -> Any:
            if not _is_local(address):
                pytest.fail(f"a test tried to connect to {address!r}")
            return connect(self, address)

        return guard

    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))
        yield


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings of the machine come in, and what a failed test leaves open does not reach the next."""
    for name in os.environ:
        if name.startswith("MEMCTX_"):
            monkeypatch.delenv(name)
    yield
    for memory in registry.memories():
        while not memory.closed:
            memory.close()

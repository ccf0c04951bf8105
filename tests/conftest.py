"""Fixtures and guards of all tests: no network, no file beside the repository, bounded property tests."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from generated import folder
from guard import confined
from memctx import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

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


GUARD = confined.Guard(confined.default_fence())
DATA = os.environ.get(confined.DATA)
"""The folder of recorded sessions, read before tests see a clean environment."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Repeat tests of wall time: another program may have had the processor, three times over it hardly did."""
    for item in items:
        if item.get_closest_marker("timing"):
            item.add_marker(pytest.mark.flaky(reruns=3, reruns_delay=2))


def pytest_sessionstart() -> None:
    # A background job of a shell ignores interrupts, and its children inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    GUARD.install()
    GUARD.is_on = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Watch paths while a test runs, but not what pytest itself reads."""
    GUARD.is_on = True
    try:
        return (yield)
    finally:
        GUARD.is_on = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that read outside, even where it caught the error."""
    report = yield
    if GUARD.found:
        looks = ", ".join(dict.fromkeys(GUARD.found))
        GUARD.found.clear()
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} reads outside the repository: {looks}"
    return report


@pytest.fixture(scope="session")
def generated_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of generated sessions."""
    return folder.write(tmp_path_factory.mktemp("generated"))


@pytest.fixture(params=["generated", pytest.param("recorded", marks=pytest.mark.data)])
def data(request: pytest.FixtureRequest, generated_data: Path) -> Path:
    """Return a folder of sessions: generated ones and, with `-m data`, the recorded ones that MEMCTX_DATA names."""
    if request.param == "generated":
        return generated_data
    if DATA is None:
        pytest.skip("MEMCTX_DATA names no folder of recorded sessions")
    return Path(DATA)


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
    """Refuse connections to other machines, for the whole session, since tests may use threads."""

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
    """Hide settings of the machine, and close what a failed test leaves open."""
    for name in os.environ:
        if name.startswith("MEMCTX_"):
            monkeypatch.delenv(name)
    yield
    for memory in registry.memories():
        while not memory.closed:
            memory.close()

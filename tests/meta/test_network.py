"""Network guard of conftest.py."""

from __future__ import annotations

import socket

import pytest


def test_connections_to_another_machine_are_refused() -> None:
    with (
        socket.socket() as client,
        pytest.raises(pytest.fail.Exception, match="tried to connect to"),
    ):
        client.connect(("192.0.2.1", 80))  # an address reserved for documentation


def test_connections_to_this_machine_are_allowed() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())

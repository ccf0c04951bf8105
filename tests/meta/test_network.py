"""The guard in conftest.py guards."""

from __future__ import annotations

import socket

import pytest


def test_another_machine_is_out_of_reach() -> None:
    with (
        socket.socket() as client,
        pytest.raises(pytest.fail.Exception, match="tried to connect to"),
    ):
        client.connect(("192.0.2.1", 80))  # an address reserved for documentation


def test_this_machine_is_not() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())

"""`TlsEnd`: the TLS end of a server whose binaries have none, with a certificate made on the spot."""

from __future__ import annotations

import contextlib
import datetime as dt
import socket
import ssl
import threading
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

SSL_REQUEST = bytes([0, 0, 0, 8, 4, 210, 22, 47])
"""The first message of a client of PostgreSQL that wants TLS."""


def make_certificate(folder: Path, host: str) -> tuple[Path, Path]:
    """Write a certificate for a host that is its own authority, and its key; return their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / f"{host}.pem", folder / f"{host}.key"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


class TlsEnd:
    """Takes connections with TLS and passes them on without; refuses those that want none."""

    def __init__(self, target: tuple[str, int], folder: Path, host: str) -> None:
        self._target = target
        self.certificate, key = make_certificate(folder, host)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.certificate, key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.accepted = 0
        """Number of connections that were encrypted."""
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no connections any more."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            if client.recv(8) != SSL_REQUEST:
                return
            client.sendall(b"S")
            with (
                self._context.wrap_socket(client, server_side=True) as encrypted,
                socket.create_connection(self._target) as plain,
            ):
                self.accepted += 1
                back = threading.Thread(target=_copy, args=(plain, encrypted), daemon=True)
                back.start()
                _copy(encrypted, plain)
                back.join(5)


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)

"""TLS settings of a connection string are honored: encryption, the authority and the name of the host."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import memctx
from memctx.errors import ServerError, ServerUnavailableError
from postgres.tls import TlsEnd, make_certificate
from replica.conftest import address
from replica.test_sharing import contents, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postgres.conftest import Space

HOST = "db.test"


@pytest.fixture
def tls(space: Space, tmp_path: Path) -> Iterator[TlsEnd]:
    found = conninfo_to_dict(space.dsn)
    end = TlsEnd((str(found["host"]), int(str(found["port"]))), tmp_path, HOST)
    yield end
    end.close()


def dsn(space: Space, tls: TlsEnd, **parameters: object) -> str:
    """Return the connection string of a host that is called `HOST`."""
    given = {"host": HOST, "hostaddr": "127.0.0.1", "port": tls.port, **parameters}
    return make_conninfo(space.dsn, **given)  # type: ignore[arg-type]  # typed as the first keyword alone


@pytest.mark.usefixtures("alone")
def test_a_verified_connection_is_encrypted(space: Space, tls: TlsEnd, tmp_path: Path) -> None:
    verified = dsn(space, tls, sslmode="verify-full", sslrootcert=tls.certificate)
    assert space.server(dsn=verified).heads(["s1"])["s1"].segments == 0
    assert tls.accepted == 1
    url = address(space.dsn, host=HOST, port=tls.port)
    url += f"?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={tls.certificate}"
    for host in ("a", "b"):
        with memctx.open(
            url,
            session_id="s1",
            namespace=space.name,
            embedding_model="hash",
            postgres={"cache_path": tmp_path / host},
        ) as memory:
            memory.archive(said("The webhook listens on port 8443"))
            assert contents(memory) == ["The webhook listens on port 8443"]
    assert tls.accepted == 5, "two connections of each host"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"host": "elsewhere.test"}, "does not match host name"),
        ({"sslrootcert": "other.test.pem"}, "certificate verify failed"),
        ({"sslrootcert": "missing.pem"}, "root certificate file .* does not exist"),
    ],
)
def test_a_connection_that_cannot_be_trusted_is_refused(
    space: Space, tls: TlsEnd, tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    make_certificate(tmp_path, "other.test")
    given = {"sslmode": "verify-full", "sslrootcert": f"{HOST}.pem", **changes}
    given["sslrootcert"] = str(tmp_path / given["sslrootcert"])
    with pytest.raises(ServerError, match=message) as caught:
        space.server(dsn=dsn(space, tls, **given), timeout=5).heads(["s1"])
    assert type(caught.value) is ServerError
    assert space.password not in "".join(traceback.format_exception(caught.value))


def test_a_server_that_wants_tls_is_not_reached_without(space: Space, tls: TlsEnd) -> None:
    with pytest.raises(ServerUnavailableError, match="no connection"):
        space.server(dsn=dsn(space, tls, sslmode="disable"), timeout=5).heads(["s1"])
    assert tls.accepted == 0

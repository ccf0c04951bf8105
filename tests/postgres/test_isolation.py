"""Isolation of namespaces: attempts to read or write another one, through the API and by raw SQL."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from memctx.errors import ServerError
from memctx.postgres import Job, Line, Server
from postgres.cluster import rows
from postgres.conftest import close, make_space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from postgres.conftest import Database, Space

CANARY = "canary-5f1c"
ORIGIN = uuid.uuid4()
DIM = 8
Given = dict[str, object]


def line(session_id: str, content: str) -> Line:
    id = str(uuid.uuid5(uuid.NAMESPACE_OID, session_id + content))  # noqa: A001 - as in the log
    fields = {"id": id, "sessionId": session_id, "role": "user", "content": content}
    return Line.parse("segments", json.dumps(fields), lambda _content: [1, 2, 3])


class Pair:
    """A victim with data of every kind, and an intruder with a namespace of its own."""

    def __init__(self, victim: Space, intruder: Space) -> None:
        self.victim, self.intruder = victim, intruder
        server = victim.server()
        self.line = line(CANARY, CANARY)
        server.append("segments", [self.line], origin=ORIGIN)
        server.append("facts", [Line(CANARY, "f", json.dumps({"id": CANARY}))], origin=ORIGIN)
        server.write_file(CANARY, CANARY, CANARY.encode(), expected=0)
        self.model = server.register_model(CANARY, "1", DIM)
        server.put_vectors(self.model, [(CANARY, self.line.id, np.ones(DIM))])
        found = server.claim(owner="worker", lease=0)
        assert len(found) == 1
        self.given: Given = {
            "ns": self._scalar("SELECT id FROM memctx.namespaces WHERE name = %s", victim.name),
            "session": server.session_key(CANARY),
            "id": uuid.UUID(self.line.id),
            "model": self.model,
        }
        self.own = self._scalar("SELECT id FROM memctx.namespaces WHERE name = %s", intruder.name)
        self.before = self.state()

    def _scalar(self, statement: str, *given: object) -> object:
        return rows(self.victim.database.superuser_dsn, statement, *given)[0][0]

    def state(self) -> object:
        """Return every row of the victim."""
        tables = ("sessions", "segments", "facts", "terms", "files", "models", "vectors", "queue")
        dsn = self.victim.database.superuser_dsn
        statement = "SELECT t::text FROM memctx.{} t WHERE namespace = %s"
        found = {each: rows(dsn, statement.format(each), self.given["ns"]) for each in tables}
        assert all(found.values())
        return found


@pytest.fixture(scope="module")
def pair(database: Database) -> Iterator[Pair]:
    victim, intruder = make_space(database), make_space(database)
    yield Pair(victim, intruder)
    close(victim)
    close(intruder)


STATEMENTS = {
    # reading
    "namespaces": "SELECT secret, name FROM memctx.namespaces WHERE id = %(ns)s",
    "sessions": "SELECT name FROM memctx.sessions WHERE namespace = %(ns)s",
    "segments": "SELECT line FROM memctx.segments WHERE namespace = %(ns)s",
    "segments without a condition": "SELECT line FROM memctx.segments WHERE namespace <> %(own)s",
    "facts": "SELECT line FROM memctx.facts WHERE session = %(session)s",
    "terms": "SELECT terms FROM memctx.terms WHERE namespace = %(ns)s",
    "files": "SELECT body FROM memctx.files WHERE namespace = %(ns)s",
    "models": "SELECT name FROM memctx.models WHERE namespace = %(ns)s",
    "vectors": "SELECT embedding FROM memctx.vectors WHERE model = %(model)s",
    "queue": "SELECT session FROM memctx.queue WHERE namespace = %(ns)s",
    "a leaking condition": "SELECT 1 FROM memctx.segments WHERE line::int > 0 AND namespace = %(ns)s",
    "a leaking order": "SELECT 1 FROM memctx.sessions WHERE namespace = %(ns)s ORDER BY name::int",
    "a partition": "SELECT embedding FROM memctx.vectors_{model}",
    "a copy": "COPY memctx.segments TO STDOUT",
    "statistics": "SELECT most_common_vals FROM pg_stats WHERE schemaname = 'memctx' AND tablename = 'sessions'"
    " AND most_common_vals::text LIKE '%%canary%%'",
    "search by words": "SELECT * FROM memctx.find_by_terms(%(ns)s, '{{1}}', NULL, NULL, NULL, NULL, NULL, 9, 9)",
    "a lock": "SELECT FROM memctx.sessions WHERE namespace = %(ns)s FOR UPDATE",
    # writing
    "a forged segment": "INSERT INTO memctx.segments VALUES (9, %(ns)s, %(session)s, %(id)s, '', 'forged')",
    "a forged session": "INSERT INTO memctx.sessions (namespace, session, name) VALUES (%(ns)s, %(id)s, 'forged')",
    "a forged file": "INSERT INTO memctx.files VALUES (1, %(ns)s, %(session)s, 'forged', '')",
    "a forged vector": "INSERT INTO memctx.vectors VALUES"
    " (%(model)s, %(ns)s, %(session)s, %(id)s, 7, '[1,1,1,1,1,1,1,1]')",
    "a moved row": "UPDATE memctx.sessions SET namespace = %(own)s WHERE namespace = %(ns)s",
    "a changed head": "UPDATE memctx.sessions SET segments = 0 WHERE namespace = %(ns)s RETURNING 1",
    "a changed file": "UPDATE memctx.files SET body = '' WHERE namespace = %(ns)s RETURNING 1",
    "a stolen job": "UPDATE memctx.queue SET owner = 'me' WHERE namespace = %(ns)s RETURNING 1",
    "a deleted job": "DELETE FROM memctx.queue WHERE namespace = %(ns)s RETURNING 1",
    "deleted segments": "DELETE FROM memctx.segments",
    "truncated tables": "TRUNCATE memctx.segments",
    "append": "SELECT memctx.append_facts(%(ns)s, %(id)s, ARRAY[%(session)s]::uuid[], '{{x}}', 'c', 'p',"
    " ARRAY[%(session)s]::uuid[], '{{x}}', '{{x}}')",
    "write_file": "SELECT memctx.write_file(%(ns)s, %(session)s, 'x', 'forged', '', 0, 'c', 'p')",
    "erase": "SELECT * FROM memctx.erase_session(%(ns)s, %(session)s, 'c', 'p')",
    "register_model": "SELECT memctx.register_model(%(ns)s, 'forged', '1', 3)",
    # powers
    "row security off": "SET row_security = off; SELECT line FROM memctx.segments",
    "a namespace taken": "UPDATE memctx.namespaces SET role = current_user::regrole",
    "a namespace made": "INSERT INTO memctx.namespaces (name, role, secret) VALUES ('x', current_user::regrole, '')",
    "a policy dropped": "DROP POLICY members ON memctx.segments",
    "security disabled": "ALTER TABLE memctx.segments DISABLE ROW LEVEL SECURITY",
    "a table": "CREATE TABLE memctx.mine (line text)",
    "the role of the victim": "SET ROLE {victim}",
    "the role of the owner": "SET ROLE {owner}",
    "a membership": "GRANT {victim} TO {intruder}",
    "a view of the owner": "CREATE VIEW memctx.mine AS SELECT * FROM memctx.segments",
    "a function": "CREATE FUNCTION memctx.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "files of the server": "SELECT pg_read_file('postgresql.conf')",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_raw_sql_reaches_no_other_namespace(pair: Pair, name: str) -> None:
    names = {
        "model": pair.model,
        "victim": pair.victim.role,
        "intruder": pair.intruder.role,
        "owner": "pg_database_owner",
    }
    statement = STATEMENTS[name].format(**names)
    is_script = statement.startswith("SET row_security")
    with psycopg.connect(pair.intruder.dsn, autocommit=True) as connection:
        try:
            if statement.startswith("COPY"):
                with connection.cursor().copy(statement.encode()) as copy:
                    found: object = [bytes(each) for each in copy]
            else:
                given = None if is_script else {**pair.given, "own": pair.own}
                cursor = connection.execute(statement.encode(), given)
                while cursor.nextset():
                    pass
                found = cursor.fetchall() if cursor.description else []
        except (
            psycopg.errors.InsufficientPrivilege
        ) as error:  # a wrong statement would prove nothing
            found = [CANARY] if CANARY in str(error) else []
    assert found == []
    assert pair.state() == pair.before


METHODS: dict[str, Callable[[Server, Pair], object]] = {
    "pull segments": lambda server, _: server.pull(CANARY, "segments", 0).rows,
    "pull facts": lambda server, _: server.pull(CANARY, "facts", 0).rows,
    "heads": lambda server, _: server.heads([CANARY])[CANARY].segments,
    "read_file": lambda server, _: server.read_file(CANARY, CANARY),
    "write_file": lambda server, _: server.write_file(CANARY, CANARY, b"x", expected=1),
    "sessions": lambda server, _: server.sessions(),
    "candidates by words": lambda server, _: server.candidates(terms=[1], deadline=5),
    "candidates by vectors": lambda server, pair: server.candidates(
        vector=np.ones(DIM), model=pair.model, deadline=5
    ),
    "put_vectors": lambda server, pair: server.put_vectors(
        pair.model, [(CANARY, pair.line.id, np.ones(DIM))]
    ),
    "missing_vectors": lambda server, pair: server.missing_vectors(pair.model, 9),
    "claim": lambda server, _: server.claim(owner="me", lease=9, limit=9),
    "claim_session": lambda server, _: server.claim_session(CANARY, owner="worker", lease=9).job,
    "complete": lambda server, _: server.complete(Job(CANARY, 0, 1, 0), owner="worker"),
    "release": lambda server, _: server.release(Job(CANARY, 0, 1, 0), owner="worker"),
    "erasures": lambda server, _: server.erasures(),
    "verify": lambda server, _: server.verify().segments,
    "stats": lambda server, _: server.stats()["segments"],
}


@pytest.mark.parametrize("name", METHODS)
def test_the_api_reaches_no_other_namespace(pair: Pair, name: str) -> None:
    server = pair.intruder.server()
    try:
        found = METHODS[name](server, pair)
    except (ServerError, ValueError) as error:
        found = CANARY in str(error)
    assert not found
    assert pair.state() == pair.before


def test_the_same_names_in_two_namespaces_do_not_meet(pair: Pair, space: Space) -> None:
    server = space.server()
    server.append("segments", [pair.line], origin=ORIGIN)
    assert server.erase(CANARY).segments == 1
    assert pair.state() == pair.before
    assert pair.victim.server().heads([CANARY])[CANARY].segments == 1


def test_another_namespace_cannot_be_opened(pair: Pair) -> None:
    with (
        Server(pair.intruder.dsn, namespace=pair.victim.name) as server,
        pytest.raises(ServerError, match="does not exist, or this role is no member"),
    ):
        server.heads([CANARY])


def test_notifications_of_another_namespace_are_not_heard(pair: Pair) -> None:
    """The channel has a secret name, and none that a role could list."""
    with psycopg.connect(pair.intruder.dsn, autocommit=True) as connection:
        for channel in ("memctx", f"memctx_{pair.given['ns']}", "*"):
            connection.execute(f'LISTEN "{channel}"'.encode())
        pair.victim.server().append("segments", [line("other", "x")], origin=ORIGIN)
        assert list(connection.notifies(timeout=0.3)) == []
    pair.before = pair.state()


def test_members_of_two_roles_choose_by_set_role(database: Database, pair: Pair) -> None:
    """A login that pools for two namespaces is held to the one whose role is set, in functions of the owner too."""
    login, password = f"pool_{uuid.uuid4().hex}", uuid.uuid4().hex
    database.admin.create_role(login, password=password)
    grant = f"GRANT {pair.victim.role}, {pair.intruder.role} TO {login}"
    rows(database.superuser_dsn, grant)
    dsn = make_conninfo(database.owner_dsn, user=login, password=password)
    search = (
        f"SELECT count(*) FROM memctx.find_by_terms({pair.given['ns']},"  # noqa: S608 - a number
        " '{1}', NULL, NULL, NULL, NULL, NULL, 9, 9)"
    ).encode()
    with psycopg.connect(dsn, autocommit=True) as connection:
        found = connection.execute("SELECT count(*) FROM memctx.namespaces").fetchone()
        assert found == (2,)
        assert connection.execute(search).fetchone() != (0,)
        connection.execute(f"SET ROLE {pair.intruder.role}".encode())
        assert connection.execute("SELECT count(*) FROM memctx.namespaces").fetchone() == (1,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(search)


def test_the_role_of_the_application_is_weak(space: Space) -> None:
    powers = space.sql(
        "SELECT rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication FROM pg_roles WHERE rolname = %s",
        space.role,
    )
    assert powers == [(False,) * 5]
    assert space.sql("SELECT has_schema_privilege('memctx', 'CREATE')") == [(False,)]
    unforced = space.sql(
        "SELECT relname FROM pg_class WHERE relnamespace = 'memctx'::regnamespace AND relkind IN ('r', 'p')"
        " AND NOT (relrowsecurity AND relforcerowsecurity) ORDER BY 1"
    )
    assert unforced == [("migrations",), ("terms",)]


def test_powerful_roles_are_refused(database: Database) -> None:
    with pytest.raises(ServerError, match="superuser or has BYPASSRLS"):
        database.admin.grant("postgres")

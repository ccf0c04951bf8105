"""Candidates of searches: by words, by vectors, with conditions and deadlines."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memctx.errors import ConfigError, DimensionMismatchError, LateError, VectorError
from memctx.postgres import CandidateFilter, Line
from postgres.cluster import rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memctx.postgres import Server
    from postgres.conftest import Space

ORIGIN = uuid.uuid4()
DIM = 16


def line(  # noqa: PLR0913, PLR0917 - fields of a segment
    number: int,
    terms: list[int],
    session_id: str = "s1",
    role: str = "user",
    at: float | None = None,
    topics: tuple[str, ...] = (),
) -> Line:
    id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session_id} {number}"))  # noqa: A001 - as in the log
    text = json.dumps({"id": id, "sessionId": session_id, "content": f"message {number}"})
    return Line(session_id, id, text, role, number if at is None else at, topics, terms)


def vectors(count: int, seed: int = 1) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def numbers(found: object) -> list[int]:
    return [int(json.loads(each.line)["content"].split()[1]) for each in found]  # type: ignore[attr-defined]


def test_segments_are_found_by_words(server: Server) -> None:
    lines = [line(1, [10, 11]), line(2, [11, 12]), line(3, [13])]
    server.append("segments", lines, origin=ORIGIN)
    assert numbers(server.candidates(terms=[10, 11], deadline=5)) == [1, 2]
    assert server.candidates(terms=[99], deadline=5) == []
    assert server.candidates(deadline=5) == []
    found = server.candidates(terms=[13], deadline=5)[0]
    assert (found.session_id, found.id, found.line) == ("s1", lines[2].id, lines[2].text)
    assert found.vectors is None


def test_hashes_at_the_bounds_of_their_type_are_found(server: Server) -> None:
    bounds = [-(2**63), 2**63 - 1]
    server.append("segments", [line(1, bounds)], origin=ORIGIN)
    for each in bounds:
        assert numbers(server.candidates(terms=[each], deadline=5)) == [1]


def test_conditions_hold_for_words_and_vectors(server: Server) -> None:
    lines = [
        line(1, [7], "s1", "user", 100),
        line(2, [7], "s2", "tool", 200),
        line(3, [7], "s3", "user", 300, ("API", "billing")),
    ]
    server.append("segments", lines, origin=ORIGIN)
    model = server.register_model("test", "1", DIM)
    query = vectors(1)[0]
    server.put_vectors(model, [(each.session_id, each.id, query) for each in lines])
    for conditions, expected in [
        (CandidateFilter(session_ids=["s1", "s3"]), {1, 3}),
        (CandidateFilter(roles=["tool"]), {2}),
        (CandidateFilter(since=200), {2, 3}),
        (CandidateFilter(until=200), {1, 2}),
        (CandidateFilter(topics=["api"]), {3}),
        (CandidateFilter(session_ids=[]), set()),
        (CandidateFilter(roles=["user"], until=150), {1}),
    ]:
        by_words = server.candidates(terms=[7], filter=conditions, deadline=5)
        assert set(numbers(by_words)) == expected, conditions
        by_vector = server.candidates(vector=query, model=model, filter=conditions, deadline=5)
        assert set(numbers(by_vector)) == expected, conditions


def test_the_rarest_words_come_first(space: Space, server: Server) -> None:
    lines = [line(n, [1, 2, 1000 + n]) for n in range(6_000)]
    server.append("segments", lines, origin=ORIGIN)
    rows(space.database.superuser_dsn, "ANALYZE memctx.terms")
    assert numbers(server.candidates(terms=[1, 2, 1777], limit=5, deadline=5))[0] == 777
    # Every word is common: those that have them together come, within bounds.
    assert len(server.candidates(terms=[1, 2], limit=50, deadline=5)) == 50


def test_words_are_looked_up_beside_a_few_that_all_have(space: Space, server: Server) -> None:
    """Statistics that know nothing but frequent words say little of the others."""
    server.append("segments", [line(n, [1, 2]) for n in range(5_000)], origin=ORIGIN)
    server.append("segments", [line(6_001, [10, 11]), line(6_002, [11])], origin=ORIGIN)
    rows(space.database.superuser_dsn, "ANALYZE memctx.terms")
    assert set(numbers(server.candidates(terms=[10, 11], deadline=5))) == {6_001, 6_002}


def test_vectors_come_back_with_their_candidates(server: Server) -> None:
    lines = [line(n, [n]) for n in range(50)]
    server.append("segments", lines, origin=ORIGIN)
    model = server.register_model("test", "1", DIM)
    assert server.register_model("test", "1", DIM) == model
    made = vectors(100).reshape(50, 2, DIM)
    server.put_vectors(model, [("s1", each.id, made[n]) for n, each in enumerate(lines)])
    server.put_vectors(model, [("s1", lines[0].id, made[1])])  # left alone
    found = server.candidates(vector=made[7, 1], model=model, limit=10, deadline=5)
    assert numbers(found)[0] == 7
    assert len(set(numbers(found))) == len(found)
    for each in found:
        assert each.vectors is not None
        np.testing.assert_allclose(each.vectors, made[numbers([each])[0]], atol=1e-3)


def test_words_and_vectors_are_united(server: Server) -> None:
    lines = [line(n, [n]) for n in range(4)]
    server.append("segments", lines, origin=ORIGIN)
    model = server.register_model("test", "1", DIM)
    made = vectors(4)
    server.put_vectors(model, [("s1", lines[n].id, made[n]) for n in (0, 1, 2)])
    found = server.candidates(terms=[3, 0], vector=made[0], model=model, limit=2, deadline=5)
    assert set(numbers(found)[:2]) == {0, 3}
    assert len(found) == 3


def test_segments_without_vectors_are_listed(server: Server) -> None:
    lines = [line(n, [n]) for n in range(4)]
    server.append("segments", lines, origin=ORIGIN)
    model = server.register_model("test", "1", DIM)
    server.put_vectors(model, [("s1", lines[1].id, vectors(1))])
    assert {each.id for each in server.missing_vectors(model, 10)} == {
        lines[n].id for n in (0, 2, 3)
    }
    assert len(server.missing_vectors(model, 2)) == 2


def test_vectors_of_unknown_segments_are_left_out(server: Server) -> None:
    model = server.register_model("test", "1", DIM)
    server.put_vectors(model, [("nowhere", str(uuid.uuid4()), vectors(1))])
    assert server.candidates(vector=vectors(1)[0], model=model, deadline=5) == []


def test_bad_vectors_are_refused(server: Server) -> None:
    model = server.register_model("test", "1", DIM)
    with pytest.raises(DimensionMismatchError, match="must have 16 dimensions"):
        server.put_vectors(model, [("s1", "x", np.ones(3))])
    with pytest.raises(VectorError, match="not finite"):
        server.candidates(vector=np.full(DIM, np.nan), model=model, deadline=5)
    with pytest.raises(ConfigError, match="model must be an id that register_model returned"):
        server.candidates(vector=np.ones(DIM), model=99_999, deadline=5)
    with pytest.raises(ConfigError, match="dim must be 16"):
        server.register_model("test", "1", 8)


def test_the_indexes_are_used(space: Space, server: Server) -> None:
    """Row-level security keeps operators that are not leakproof away from indexes; searches must not scan tables."""
    lines = [line(n, [n, n + 1, n + 2]) for n in range(2_000)]
    server.append("segments", lines, origin=ORIGIN)
    model = server.register_model("test", "1", DIM)
    made = vectors(2_000)
    server.put_vectors(model, [("s1", each.id, made[n]) for n, each in enumerate(lines)])
    rows(space.database.superuser_dsn, "VACUUM (ANALYZE) memctx.terms")
    rows(space.database.superuser_dsn, "VACUUM (ANALYZE) memctx.vectors")

    def scans() -> dict[object, object]:
        statement = (
            "SELECT indexrelname, idx_scan FROM pg_stat_user_indexes WHERE schemaname = 'memctx'"
        )
        return dict(rows(space.database.superuser_dsn, statement))  # type: ignore[arg-type]

    server.close()  # the counts of a session are told when it ends
    before = scans()
    for n in range(20):
        found = server.candidates(
            terms=[n + 100], vector=made[n], model=model, limit=20, deadline=5
        )
        assert {n, n + 100} <= set(numbers(found))
    server.close()
    time.sleep(0.2)
    after = scans()
    for index in ("terms_terms", f"vectors_{model}_hnsw"):
        assert int(str(after[index])) - int(str(before[index])) >= 20, index


def test_late_searches_raise(space: Space) -> None:
    server = space.server()
    server.append("segments", [line(n, [1, n]) for n in range(500)], origin=ORIGIN)
    with pytest.raises(LateError, match="candidates"):
        server.candidates(terms=[1], deadline=0)
    assert isinstance(LateError("x"), TimeoutError)
    assert server.candidates(terms=[1], limit=3, deadline=5), "the connection goes on"

"""The programs in the guide on PostgreSQL run, one after another, on a real server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from postgres.conftest import empty_database, host, owner  # noqa: F401 - fixtures
from replica.conftest import address

if TYPE_CHECKING:
    import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "postgres.md"
PROGRAM = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
OWNER = "postgresql://memctx_owner@db.example/memory?sslmode=verify-full"
MEMBER = "postgresql://team-a@db.internal/agents"


def test_the_programs_of_the_guide_run(
    empty_database: str,  # noqa: F811 - the fixture
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The administrator's come first, since the guide opens with the use of what they create."""
    monkeypatch.setenv("HOME", str(tmp_path))
    use, setup, retention, absence = PROGRAM.findall(GUIDE.read_text("utf-8"))
    member = address(empty_database, user="team_a", password=quote("…"))
    names: dict[str, Any] = {}
    for program in (setup, use, retention, absence):
        text = program.replace(OWNER, empty_database).replace(MEMBER, member)
        exec(compile(text, str(GUIDE), "exec"), names)  # noqa: S102 - text of this repository
    names["admin"].close()
    assert names["turn"].messages == names["messages"]
    assert capsys.readouterr().out.startswith("later: ")

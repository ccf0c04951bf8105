"""The demonstration shows what it says: answers from memory that truncation has lost."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import process
from memctx.cli import demo, main

if TYPE_CHECKING:
    from pathlib import Path

# Hides click, as where memctx is installed without an extra.
BARE = "import sys; sys.modules['click'] = None; sys.argv[0] = 'memctx'; from memctx.__main__ import main; main()"


@pytest.mark.slow
def test_demo_answers_what_truncation_has_lost(tmp_path: Path) -> None:
    """Each answer is quoted out of what is sent, and the first page of output has all of them."""
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", BARE, "demo", "--html", str(tmp_path / "page.html")]
    done = process.run(command, env=environment, timeout=110)
    answers = re.findall(
        r"^(.+)\n  with memctx   (.+)\n  truncation    (.+)$", done.stdout, re.MULTILINE
    )
    assert len(answers) == len(demo.QUESTIONS) == 5
    for question, (asked, answer, truncated) in zip(demo.QUESTIONS, answers, strict=True):
        assert asked.startswith(question.text)
        assert question.wanted in answer
        assert truncated == "I do not know."
    block = done.stdout.partition("<recalled-context")[2].partition("</recalled-context>")[0]
    assert "eu-west-3" in block
    assert "deployed to the region us-east-1" not in block, "it was corrected"
    lines = done.stdout.splitlines()
    assert len(lines) < 40
    assert lines[-1] == f"Open the page in a browser: {(tmp_path / 'page.html').as_uri()}"
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("status", [0, 1])
def test_demo_has_json_and_a_status(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that memory does not answer is a failure, not a line of text."""
    answer = demo.Answer(
        "Which port?",
        "",
        "8443",
        "I do not know.",
        is_right=status == 0,
        was_gone=True,
        block="",
    )
    monkeypatch.setattr(demo, "demonstrate", lambda: demo.Demonstration(57_000, (answer,)))
    done = CliRunner().invoke(main, ["demo", "--json"])
    assert done.exit_code == status
    assert json.loads(done.output)["answers"][0]["answer"] == "8443"
    last = CliRunner().invoke(main, ["demo"]).output.splitlines()[-1]
    assert last.endswith("demo --html memctx-demo.html")

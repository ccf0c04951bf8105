"""The demonstration shows what it says: answers recalled that truncation has lost."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import process

if TYPE_CHECKING:
    from pathlib import Path


def test_demo_recalls_every_answer_that_truncation_lost(tmp_path: Path) -> None:
    """Each answer comes out of the recalled block, and the page of output opens with the point."""
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    done = process.run([sys.executable, "-m", "memctx.cli.demo"], env=environment)
    lines = done.stdout.splitlines()
    answers = [line for line in lines[:5] if re.search(r"recalled +gone$", line)]
    assert len(answers) == 3
    assert len(lines) < 40
    assert "port 8443" in done.stdout
    assert "[REDACTED" in done.stdout
    assert "Vq7rT2mKx9" not in done.stdout
    assert "a provider would refuse: 0" in done.stdout
    assert list(tmp_path.iterdir()) == []

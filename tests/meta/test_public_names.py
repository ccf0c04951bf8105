"""The public names, pinned: one that comes or goes is a change somebody decided on."""

from __future__ import annotations

import inspect

import memctx

PUBLIC = {
    "memctx": [
        "Bm25Index",
        "ConfigError",
        "CorruptStoreError",
        "DimensionMismatchError",
        "Explanation",
        "ExtractionError",
        "FlatIndex",
        "HashEmbedder",
        "Hit",
        "Masked",
        "MemctxError",
        "MessageShapeError",
        "Redactor",
        "StoreError",
        "StoreLockedError",
        "UnsupportedVersionError",
        "VectorError",
        "__version__",
        "estimate_tokens",
        "fusion",
        "ingest",
        "tokenize",
        "vmem",
    ],
    "memctx.fusion": ["blend", "decay", "mmr", "normalize", "threshold"],
    "memctx.ingest": ["Entity", "Topics", "entities", "is_noise", "strip_channel_prefix"],
    "memctx.vmem": ["VmemReport", "append", "read", "verify", "write"],
}


def test_public_names_are_pinned() -> None:
    modules = (memctx, memctx.fusion, memctx.ingest, memctx.vmem)
    assert {module.__name__: module.__all__ for module in modules} == PUBLIC


def test_every_public_name_exists_and_is_documented() -> None:
    for module in (memctx, memctx.fusion, memctx.ingest, memctx.vmem):
        for name in module.__all__:
            value = getattr(module, name)
            assert isinstance(value, str) or inspect.getdoc(value), f"{module.__name__}.{name}"


def test_every_exception_is_a_memctx_error() -> None:
    classes = [getattr(memctx, name) for name in memctx.__all__ if name.endswith("Error")]
    assert len(classes) == 10
    assert all(issubclass(cls, memctx.MemctxError) for cls in classes)
    assert all(cls.__module__ == "memctx.errors" for cls in classes)

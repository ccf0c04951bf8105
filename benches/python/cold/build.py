"""Program that fills one folder with one engine, and writes the costs beside it."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

from cold import engine, resident
from cold.material import Material


def kept(folder: Path) -> Path:
    """Return the path of the figures of a folder."""
    return folder.with_suffix(".json")


def build(name: str, material: Material, size: int, folder: Path) -> dict[str, Any]:
    """Fill an empty folder; the time of reading, tokenizing and embedding is subtracted."""
    chosen = engine.load(name)
    shutil.rmtree(folder, ignore_errors=True)
    kept(folder).unlink(missing_ok=True)
    wall, cpu = perf_counter(), engine.processor_time(chosen)
    spared_wall = spared_cpu = given_cpu = 0.0
    builder = chosen.Builder(folder)
    batches = material.batches(size)
    while True:
        began, start = perf_counter(), thread_time()
        batch = next(batches, None)
        read = thread_time()
        if batch is None:
            break
        tokens = batch.tokens() if chosen.IS_GIVEN_TOKENS else []
        vectors = batch.vectors() if chosen.IS_GIVEN_TOKENS else None
        given_cpu += thread_time() - read
        spared_cpu += thread_time() - start
        spared_wall += perf_counter() - began
        builder.add(batch, tokens, vectors)
    added_wall, added_cpu = perf_counter(), engine.processor_time(chosen)
    builder.finish()
    end_wall, end_cpu = perf_counter(), engine.processor_time(chosen)
    aside_wall, aside_cpu = getattr(builder, "aside", (0.0, 0.0))
    return {
        "engine": chosen.NAME,
        "size": size,
        "cpu_s": end_cpu - cpu - spared_cpu - aside_cpu,
        "wall_s": end_wall - wall - spared_wall - aside_wall,
        "aside_cpu_s": aside_cpu,
        "remark": getattr(builder, "remark", ""),
        "given_cpu_s": given_cpu,
        "finish_cpu_s": end_cpu - added_cpu,
        "finish_wall_s": end_wall - added_wall,
        "peak_bytes": resident.now()["VmHWM"],
        "footprint": asdict(chosen.footprint(folder, size)),
        "versions": {package: _version(package) for package in chosen.PACKAGES},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed, on the path only"


def main() -> None:
    name, material, size, folder = sys.argv[1:]
    path = Path(folder)
    found = build(name, Material(Path(material)), int(size), path)
    kept(path).write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

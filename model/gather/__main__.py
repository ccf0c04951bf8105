"""Collect the text of all sources: `python -m gather --mirror DIR --out DIR`."""

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from gather.extract import EXTRACTORS
from gather.extract.shape import Opened
from gather.items import Sink
from gather.snapshot import open_source
from gather.sources import WORDS, Source, load
from gather.text import SHORTEST, SHORTEST_WORD

_SOURCES = Path(__file__).parent.parent / "sources.toml"


def main() -> int:
    """Run the command."""
    arguments = _parser().parse_args()
    sources = load(arguments.sources)
    missing = [source.name for source in sources if source.name not in EXTRACTORS]
    unknown = sorted(EXTRACTORS.keys() - {source.name for source in sources})
    if missing or unknown:
        sys.stderr.write(f"without an extractor: {missing}; without a source: {unknown}\n")
        return 2
    only = set(filter(None, arguments.only.split(",")))
    with Sink(arguments.out) as sink:
        for source in sources:
            if not only or source.name in only:
                started = time.monotonic()
                _gather(source, sources, sink, arguments.mirror, arguments.out / "clones")
                _report(source.name, sink, time.monotonic() - started)
        _totals(sink)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gather", description="Collect training text.")
    parser.add_argument("--sources", type=Path, default=_SOURCES, help="the list of sources")
    parser.add_argument("--mirror", type=Path, help="a folder of repositories as owner+name/repo")
    parser.add_argument("--out", type=Path, required=True, help="the folder for what is written")
    parser.add_argument("--only", default="", help="names of sources, with commas between them")
    return parser


def _gather(
    source: Source, sources: list[Source], sink: Sink, mirror: Path | None, clones: Path
) -> None:
    """Take what one source has."""
    by_name = {other.name: other for other in sources}
    opened = Opened(
        open_source(source, mirror, clones),
        None
        if source.original is None
        else open_source(_original(source, by_name), mirror, clones),
        {name: open_source(by_name[name], mirror, clones) for name in source.needs},
    )
    shortest = SHORTEST_WORD if source.kind == WORDS else SHORTEST
    for item in EXTRACTORS[source.name](opened):
        sink.put(source.name, item, shortest)


def _original(source: Source, by_name: dict[str, Source]) -> Source:
    """Find the source that another translates, at the commit that was translated."""
    original = by_name[source.original or source.name]
    return replace(original, commit=source.original_commit or original.commit)


def _report(name: str, sink: Sink, seconds: float) -> None:
    """Print what one source gave."""
    sys.stdout.write(f"{name} ({seconds:.0f} s)\n")
    for (source, kind, languages), count in sorted(sink.pairs.items()):
        if source == name:
            sys.stdout.write(f"  {count:8d} pairs  {languages:8s} {kind}\n")
    for (source, language), count in sorted(sink.texts.items()):
        if source == name:
            sys.stdout.write(f"  {count:8d} texts  {language}\n")
    sys.stdout.flush()


def _totals(sink: Sink) -> None:
    """Print the sums."""
    pairs: Counter[tuple[str, str]] = Counter()
    for (_, kind, languages), count in sink.pairs.items():
        pairs[languages, kind] += count
    texts: Counter[str] = Counter()
    for (_, language), count in sink.texts.items():
        texts[language] += count
    sys.stdout.write(f"all: {pairs.total()} pairs, {texts.total()} texts\n")
    for (languages, kind), count in sorted(pairs.items()):
        sys.stdout.write(f"  {count:8d} pairs  {languages:8s} {kind}\n")
    for language, count in sorted(texts.items()):
        sys.stdout.write(f"  {count:8d} texts  {language}\n")


if __name__ == "__main__":
    sys.exit(main())

"""Read the list of sources."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LICENSES = frozenset(
    {
        "Apache-2.0",
        "BSD-3-Clause",
        "CC-BY-2.0-FR",
        "CC-BY-3.0",
        "CC-BY-4.0",
        "CC-BY-SA-2.5",
        "CC-BY-SA-3.0",
        "CC-BY-SA-4.0",
        "CC0-1.0",
        "CDLA-Sharing-1.0",
        "ISC",
        "MIT",
        "MPL-2.0",
        "PSF-2.0",
        "Unicode-3.0",
        "WordNet",
    }
)
KINDS = frozenset(
    {"documentation", "dialogue", "sentences", "questions", "paraphrases", "words", "code"}
)
WORDS = "words"


@dataclass(frozen=True, slots=True)
class Source:
    """One place that text comes from.

    Attributes:
        name: What the outputs call it.
        repository: Its owner and name.
        commit: The commit that was read.
        package: The name and version of a package of the Python Package Index, if it is no repository.
        digest: The SHA-256 digest of the file of the package.
        license: The SPDX identifier of the license of the text that is taken.
        license_file: The file that states the license.
        languages: The languages that are taken.
        kind: What kind of text it is.
        attribution: One line that names the authors.
        original: The name of the source that it translates, if that is another repository.
        original_commit: The commit of the original that was translated, if it is not the one that is read itself.
        needs: The names of other sources that are read to make sense of it.
    """

    name: str
    license: str
    license_file: str
    languages: tuple[str, ...]
    kind: str
    attribution: str
    repository: str = ""
    commit: str = ""
    package: str = ""
    digest: str = ""
    original: str | None = None
    original_commit: str | None = None
    needs: tuple[str, ...] = ()


def load(path: Path) -> list[Source]:
    """Read the sources, in the order of the file.

    Raises:
        ValueError: An entry has an unknown license, kind or original, or no place.
    """
    tables: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    sources = [
        Source(name=name, **{key: _freeze(value) for key, value in table.items()})
        for name, table in tables.items()
    ]
    for source in sources:
        if source.license not in LICENSES:
            raise ValueError(f"{source.name}: license {source.license} is not allowed")
        if source.kind not in KINDS:
            raise ValueError(f"{source.name}: kind {source.kind} is unknown")
        if not (source.repository and source.commit) and not (source.package and source.digest):
            raise ValueError(f"{source.name}: it names no place")
        for other in {source.original or source.name, *source.needs} - tables.keys():
            raise ValueError(f"{source.name}: {other} is no source")
    return sources


def _freeze(value: Any) -> Any:
    """Make a list a tuple."""
    return tuple(value) if isinstance(value, list) else value

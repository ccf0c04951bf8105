"""Check of the built site: links and anchors lead somewhere, nothing is loaded from elsewhere. Prints weights of pages.

Run by `make docs`: `python docs/site/check.py target/site`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from gzip import compress
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}
NAMED = {"canonical", "alternate", "next", "prev"}
CSS_URL = re.compile(r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)")
ORIGIN = "https://site.invalid/"


@dataclass
class Page(HTMLParser):
    """Anchors, links and loaded files of a page."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag names."""
        given = {name: value for name, value in attrs if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag != "link" or given.get("rel") not in NAMED:
            self.loaded += [
                given[name] for name in ("src", "href") if (tag, name) in LOADED and name in given
            ]


def read(path: Path) -> Page:
    """Return a parsed page."""
    page = Page()
    page.feed(path.read_text("utf-8"))
    return page


def target(url: str, page: str) -> tuple[str, str] | None:
    """Return file and anchor that a link of a page leads to; None if it leaves the site."""
    parts = urlsplit(urljoin(ORIGIN + page, url))
    if parts.scheme not in {"http", "https"} or f"{parts.scheme}://{parts.netloc}/" != ORIGIN:
        return None
    path = unquote(parts.path).removeprefix("/")
    return (path + "index.html" if not path or path.endswith("/") else path), unquote(
        parts.fragment
    )


def faults(site: Path) -> tuple[list[str], int]:
    """Return what is wrong, and the number of links checked."""
    pages = {path.relative_to(site).as_posix(): read(path) for path in sorted(site.rglob("*.html"))}
    found, count = [], 0
    for name, page in pages.items():
        for url in [*page.links, *page.loaded]:
            aim = target(url, name)
            if aim is None:
                if url in page.loaded:
                    found.append(f"{name}: loads {url} from elsewhere")
                continue
            count += 1
            file, anchor = aim
            if not (site / file).is_file():
                found.append(f"{name}: {url} leads nowhere")
            elif anchor and file in pages and anchor not in pages[file].anchors | {"__top"}:
                found.append(f"{name}: {url} has no anchor {anchor!r}")
    for style in site.rglob("*.css"):
        found += [f"{style.name}: loads {url}" for url in CSS_URL.findall(style.read_text("utf-8"))]
    return found, count


def main() -> None:
    """Check the site in the folder given, and print what was checked."""
    site = Path(sys.argv[1])
    found, count = faults(site)
    pages = {path: len(compress(path.read_bytes())) for path in site.rglob("*.html")}
    heaviest = max(pages, key=lambda path: pages[path])
    shared = [
        path
        for path in site.glob("assets/**/*")
        if path.suffix in {".css", ".js"} and "lunr" not in path.parts
    ]
    assets = sum(len(compress(path.read_bytes())) for path in shared)
    print(f"{len(pages)} pages, {count} links and files checked, {len(found)} faults")
    print(
        f"compressed: pages {sorted(pages.values())[len(pages) // 2] / 1024:.0f} KiB at the median, "
        f"{pages[heaviest] / 1024:.0f} at most ({heaviest.relative_to(site)}); assets of all {assets / 1024:.0f} KiB"
    )
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()

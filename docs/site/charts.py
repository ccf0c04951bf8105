"""Bar charts of the page on benchmarks, drawn from the tables in `benches/RESULTS.md`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MARKER = re.compile(r"^<!-- chart: (\w+) -->$", re.MULTILINE)
NUMBER = re.compile(r"([\d,]+(?:\.\d+)?) ?(µs|ms|s|kB|MB|%)?")
MILLISECONDS = {"µs": 0.001, "ms": 1.0, "s": 1000.0}
WIDTH, LABELS, FIGURES, ROW, BAR = 720, 250, 90, 26, 16


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart."""

    label: str
    row: str
    """Beginning of the row of the table, its cells joined by ``|``."""
    column: int
    is_ours: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A bar chart of figures in one section of the results."""

    section: str
    """Heading of the section, without its ``##``."""
    title: str
    unit: str
    bars: tuple[Bar, ...]


TURN = "2026-11-17, x86-64, the turn"
STORE = "2026-11-17, x86-64, the store"
DISK = "2026-11-15, x86-64, everything ever archived"
ENCODER = "2026-11-18, x86-64, the default encoder"
START = "2026-11-18, x86-64, cold start"
FRAMEWORKS = "2026-11-18, x86-64, memctx beside the memory of each framework"

STEADY, FIRST = (
    "steady turn, 1999 messages, 1,469,955 tokens",
    "first turn, 1999 messages, 1,469,955 tokens",
)
HYBRID = "hybrid top-10, short query, p50"
MILLION = "hybrid search p50, processor ms|1,000,000"

CHARTS = {
    "steady": Chart(
        TURN,
        "A steady turn over 2,000 messages and 20,000 segments, processor time",
        "ms",
        (
            Bar("memctx", STEADY, 1, is_ours=True),
            Bar("one numpy product, 20,000 x 384", f"{STEADY}|", 3),
            Bar("LangChain trim_messages", f"{STEADY}|*|LangChain", 3),
        ),
    ),
    "first": Chart(
        TURN,
        "The first turn, which trims 2,000 messages, processor time",
        "ms",
        (
            Bar("memctx", FIRST, 1, is_ours=True),
            Bar("the same trim in plain Python", f"{FIRST}|", 3),
            Bar("LangChain trim_messages", f"{FIRST}|*|LangChain", 3),
        ),
    ),
    "hybrid": Chart(
        STORE,
        "Ten best of 20,000 segments by words and vectors, processor time, p50",
        "ms",
        (
            Bar("memctx", HYBRID, 1, is_ours=True),
            Bar("bm25s + numpy", f"{HYBRID}|*|bm25s (numba) + numpy", 3),
            Bar("bm25s + faiss", f"{HYBRID}|*|bm25s (numba) + faiss", 3),
            Bar("tantivy + numpy", f"{HYBRID}|*|tantivy (RAM) + numpy", 3),
            Bar("tantivy + faiss", f"{HYBRID}|*|tantivy (RAM) + faiss", 3),
        ),
    ),
    "million": Chart(
        DISK,
        "Ten best of 1,000,000 segments on disk, processor time, p50",
        "ms",
        (
            Bar("memctx", MILLION, 2, is_ours=True),
            Bar("tantivy + usearch (8 bits)", MILLION, 3),
            Bar("LanceDB (IVF_SQ)", MILLION, 5),
            Bar("SQLite FTS5 + sqlite-vec", MILLION, 4),
        ),
    ),
    "encoder": Chart(
        ENCODER,
        "Facts asked for in another language than they were told in: evidence among the first ten, vectors alone",
        "%",
        (
            Bar("the encoder of memctx", "encoder, alone", 8, is_ours=True),
            Bar("multilingual USE", "USE, alone", 8),
            Bar("all-MiniLM-L6-v2", "MiniLM, alone", 8),
            Bar("WordLlama", "WordLlama, alone", 8),
            Bar("hashed trigrams", "hash, alone", 8),
        ),
    ),
    "paraphrases": Chart(
        ENCODER,
        "Decisions in agent sessions (needles_dev): evidence among the first ten, in the store",
        "%",
        (
            Bar("with the encoder", "encoder, store", 7, is_ours=True),
            Bar("with multilingual USE", "USE, store", 7),
            Bar("with all-MiniLM-L6-v2", "MiniLM, store", 7),
            Bar("with hashed trigrams", "hash, store", 7),
            Bar("words alone", "words, store", 7),
        ),
    ),
    "start": Chart(
        START,
        "Import, open 20,000 segments, search, answer and exit: processor time",
        "ms",
        (
            Bar("in process", "in process|processor", 6, is_ours=True),
            Bar("with the resident helper", "with the helper|processor", 6, is_ours=True),
        ),
    ),
    "frameworks": Chart(
        FRAMEWORKS,
        "Facts found, of three that left a window of 16,000 tokens",
        "",
        (
            Bar("LangChain, memctx", "langchain-anthropic, memctx", 1, is_ours=True),
            Bar("LangChain, SummarizationMiddleware", "langchain, SummarizationMiddleware", 1),
            Bar("OpenAI Agents, memctx", "openai_agents-responses, memctx", 1, is_ours=True),
            Bar("OpenAI Agents, SQLiteSession (30 items)", "openai_agents, SQLiteSession", 1),
            Bar("ADK, memctx", "adk-gemini, memctx", 1, is_ours=True),
            Bar("ADK, ContextFilterPlugin (9 turns)", "adk, ContextFilterPlugin", 1),
            Bar("LlamaIndex, memctx", "llama_index-chat, memctx", 1, is_ours=True),
            Bar("LlamaIndex, Memory", "llama_index, Memory", 1),
            Bar("Agent Framework, memctx", "agent_framework-chat, memctx", 1, is_ours=True),
            Bar("Agent Framework, its compaction", "agent_framework, its compaction|", 1),
        ),
    ),
    "tokens": Chart(
        FRAMEWORKS,
        "Tokens sent in 62 calls, LangChain, thousands",
        "",
        (
            Bar("no limit of the window", "langchain-anthropic, no limit", 4),
            Bar("memctx, 3 facts of 3", "langchain-anthropic, memctx", 4, is_ours=True),
            Bar("summaries of everything, 3 of 3", "langchain, the same of everything", 4),
            Bar("SummarizationMiddleware, 0 of 3", "langchain, SummarizationMiddleware", 4),
        ),
    ),
}


def insert_charts(markdown: str, root: Path) -> str:
    """Return text with each marker ``<!-- chart: name -->`` replaced by the chart."""
    results = (root / "benches" / "RESULTS.md").read_text("utf-8")
    return MARKER.sub(lambda match: draw(CHARTS[match[1]], results), markdown)


def draw(chart: Chart, results: str) -> str:
    """Return a chart as inline SVG, which takes its colors from the page."""
    rows = _rows(results, chart.section)
    values = [_value(bar, rows, chart) for bar in chart.bars]
    scale = (WIDTH - LABELS - FIGURES) / max(values)
    height = ROW * len(values) + 4
    summary = "; ".join(
        f"{bar.label} {_shown(value, chart.unit)}"
        for bar, value in zip(chart.bars, values, strict=True)
    )
    parts = [
        f'<figure class="chart"><figcaption>{escape(chart.title)}</figcaption>',
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(chart.title + ": " + summary)}">',
    ]
    for index, (bar, value) in enumerate(zip(chart.bars, values, strict=True)):
        top = ROW * index + 4
        width = max(value * scale, 1.5)
        kind = "ours" if bar.is_ours else "peer"
        parts += [
            f'<text x="{LABELS - 10}" y="{top + 13}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect class="{kind}" x="{LABELS}" y="{top}" width="{width:.1f}" height="{BAR}" rx="2"></rect>',
            f'<text x="{LABELS + width + 8:.1f}" y="{top + 13}">{_shown(value, chart.unit)}</text>',
        ]
    return "".join([*parts, "</svg></figure>"])


def _shown(value: float, unit: str) -> str:
    digits = 0 if value == int(value) else 1 if value > 1 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def _rows(results: str, section: str) -> list[str]:
    """Return the rows of the tables of a section, their cells joined by ``|``."""
    _, heading, rest = results.partition(f"## {section}\n")
    if not heading:
        raise ValueError(f"benches/RESULTS.md has no section {section!r}")
    lines = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    return [
        "|".join(cell.strip() for cell in line.strip("|").split("|"))
        for line in lines
        if line[:1] == "|"
    ]


def _value(bar: Bar, rows: list[str], chart: Chart) -> float:
    head = re.compile(".*?".join(map(re.escape, bar.row.split("*"))))
    found = next((row for row in rows if head.match(row)), None)
    if found is None:
        raise ValueError(f"{chart.section!r} has no row {bar.row!r}")
    number = NUMBER.match(found.split("|")[bar.column])
    if number is None:
        raise ValueError(f"{chart.section!r}, row {bar.row!r}: no number in column {bar.column}")
    value = float(number[1].replace(",", "")) * (
        MILLISECONDS.get(number[2] or "", 1) if chart.unit == "ms" else 1
    )
    return value / 1000 if "thousands" in chart.title else value

"""Quality checks of summaries."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.compaction.summary import REQUIRED_SECTIONS, check_quality, extract_identifiers
from memctx.compaction.summary.quality import reflects

SECTIONS = "\n".join(f"## {heading}\nNone." for heading in REQUIRED_SECTIONS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://example.com/a?b=1, please", "https://example.com/a?b=1"),
        ("见https://example.com/文档。然后", "https://example.com/文档"),
        ("edit src/pay.rs now", "src/pay.rs"),
        ("修改src/pay.rs的端口", "src/pay.rs"),
        ("open ~/notes/a.md", "~/notes/a.md"),
        ("run ./scripts/build", "./scripts/build"),
        ("in /etc/nginx/nginx.conf.", "/etc/nginx/nginx.conf"),
        (r"in C:\work\app.ini", r"C:\work\app.ini"),
        ("at db.example.net:5432", "db.example.net:5432"),
        ("地址是10.20.3.7:6380。", "10.20.3.7:6380"),
        ("commit 3f2a9c81d0 broke it", "3f2a9c81d0"),
        ("id 6f1c0c52-0000-4000-8000-000000000001", "6f1c0c52-0000-4000-8000-000000000001"),
        ("ticket PAY-311", "PAY-311"),
        ("set DATABASE_URL", "DATABASE_URL"),
        ("in pyproject.toml", "pyproject.toml"),
        ("order 20261115", "20261115"),
    ],
)
def test_identifiers_are_extracted(text: str, found: str) -> None:
    assert extract_identifiers([text]) == (found,)


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "1,234 items",
        "12345",
        "and/or either",
        "3.14",
        "e.g. this",
        "deadbeef",
        "A",
        "[REDACTED:token]",
    ],
)
def test_ordinary_words_are_no_identifiers(text: str) -> None:
    assert extract_identifiers([text]) in ((), ("and/or",))


def test_at_most_twelve_identifiers_newest_first() -> None:
    entries = [f"file src/module_{number}.py" for number in range(30)]
    found = extract_identifiers(entries)
    assert found == tuple(f"src/module_{number}.py" for number in range(29, 19, -1))
    assert len(extract_identifiers([" ".join(entries)])) == 12


@pytest.mark.parametrize(
    ("ask", "summary", "is_reflected"),
    [
        ("Move the webhook to port 8443", "The webhook goes to port 8443.", True),
        ("Move the webhook to port 8443", "The port is open.", False),
        ("deploy", "We deploy on Friday.", True),
        ("deploy", "We ship on Friday.", False),
        ("ok", "Anything.", True),
        ("please do it", "Anything.", True),
        ("把支付回调的端口改成 8443", "支付回调端口将改为 8443", True),
        ("把支付回调的端口改成 8443", "没有任何进展", False),
        ("キャッシュの有効期限を変更して", "キャッシュの有効期限は三百秒", True),
        ("", "Anything.", True),
    ],
)
def test_a_summary_reflects_an_ask_by_its_content_words(
    ask: str,
    summary: str,
    is_reflected: bool,  # noqa: FBT001
) -> None:
    assert reflects(summary, ask) is is_reflected


def test_a_good_summary_has_no_faults() -> None:
    text = f"{SECTIONS}\n支付回调端口改成 8443，src/pay.rs"
    quality = check_quality(text, identifiers=["src/pay.rs"], ask="把支付回调的端口改成 8443")
    assert quality.is_good
    assert quality.problems() == ()


def test_every_fault_is_counted_and_described() -> None:
    quality = check_quality(
        "## Decisions\nNone.", identifiers=["a.py", "b.py"], ask="deploy on Friday"
    )
    assert quality.faults == 4 + 2 + 1
    assert len(quality.problems()) == 3


@given(st.text())
def test_any_text_can_be_checked(text: str) -> None:
    found = extract_identifiers([text])
    assert len(found) <= 12
    assert all(identifier in text for identifier in found)
    assert check_quality(f"{SECTIONS}\n{text}", identifiers=found, ask=text).is_good


@pytest.mark.timing
@pytest.mark.parametrize(
    "text",
    ["a/" * 50_000, "a." * 50_000, "a" * 100_000, "0a" * 50_000, "A_" * 50_000, "../" * 30_000],
)
def test_checks_of_long_texts_are_fast(text: str) -> None:
    started = time.perf_counter()
    extract_identifiers([text])
    assert time.perf_counter() - started < 2

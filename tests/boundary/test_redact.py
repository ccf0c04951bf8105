"""`memctx.Redactor` from Python."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memctx

TOKEN = "ghp_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll"  # noqa: S105


def test_masks_and_counts() -> None:
    masked = memctx.Redactor().mask(f"token {TOKEN} and {TOKEN}")
    assert masked.text == "token [REDACTED:github_token] and [REDACTED:github_token]"
    assert masked.kinds == {"github_token": 2}
    assert repr(masked) == 'Masked(kinds={"github_token": 2})'


def test_a_clean_text_is_the_same_object() -> None:
    text = "nothing to see in commit 4f2a9c81d07be35a"
    assert memctx.Redactor().mask(text).text is text


def test_modes_mask_as_documented() -> None:
    text = "Bearer abcdefghijklmnopqrstuvwxyz"
    assert memctx.Redactor("off").mask(text).text == text
    masked = memctx.Redactor("openclaw").mask(text)
    assert masked.text == "Bearer [REDACTED]"
    assert masked.kinds == {"bearer": 1}


def test_personal_data_on_request() -> None:
    text = "write to ada@lovelace.org or call +49 30 901820"
    assert memctx.Redactor().mask(text).text == text
    masked = memctx.Redactor(pii=True).mask(text)
    assert masked.text == "write to [REDACTED:email] or call [REDACTED:phone]"


def test_patterns_of_the_user() -> None:
    redactor = memctx.Redactor(patterns={"ticket": "ACME-[0-9]{6}"})
    assert redactor.mask("see ACME-123456").kinds == {"ticket": 1}


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("ACME-[", "unclosed character class"), ("x*", "match something"), ("(?=x)", "look-around")],
)
def test_bad_patterns_are_refused_by_kind(pattern: str, words: str) -> None:
    with pytest.raises(memctx.ConfigError, match=words) as fault:
        memctx.Redactor(patterns={"ticket": pattern})
    assert "ticket" in str(fault.value)


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(
        memctx.ConfigError, match='mode must be "off", "mask" or "openclaw", not "maks"'
    ):
        memctx.Redactor("maks")  # type: ignore[arg-type]


def test_a_lone_surrogate_reads_as_the_replacement_character() -> None:
    masked = memctx.Redactor().mask(f"\ud800 {TOKEN}")
    assert masked.text == "\ufffd [REDACTED:github_token]"


def test_threads_share_one() -> None:
    redactor = memctx.Redactor()
    with ThreadPoolExecutor(4) as pool:
        texts = pool.map(lambda _: redactor.mask(f"x {TOKEN}" * 50).kinds, range(40))
        assert all(kinds == {"github_token": 50} for kinds in texts)


@given(st.text())
def test_masking_twice_is_masking_once(text: str) -> None:
    redactor = memctx.Redactor(pii=True)
    once = redactor.mask(text).text
    assert redactor.mask(once).text == once

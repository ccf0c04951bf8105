"""`memctx.tokenize` and `memctx.estimate_tokens`."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from memctx import estimate_tokens, tokenize

from . import golden, reference
from .strategies import for_all, texts

if TYPE_CHECKING:
    from memctx._core import TokenMode

MODES: tuple[TokenMode, ...] = ("memctx", "openclaw")
REFERENCES = {"memctx": reference.tokenize, "openclaw": reference.tokenize_openclaw}

# The newest version of Unicode that the library's tables know.
KNOWN_UNICODE = 16
PYTHON_UNICODE = int(unicodedata.unidata_version.split(".")[0])

MANY_MEGABYTES = 50 << 20
HAN = [chr(code) for code in range(0x4E00, 0x9FA6)]


@pytest.mark.parametrize("mode", MODES)
def test_golden_tokens(mode: TokenMode) -> None:
    """Both tokenizers give the golden tokens, the same that the Rust tests read."""
    cases = golden.load("tokens.json")
    assert len(cases) > 15
    for case in cases:
        assert tokenize(case["text"], mode) == case[mode], case["text"]


@settings(max_examples=300)
@for_all(texts)
def test_memctx_mode_equals_its_reference(text: str) -> None:
    """The `memctx` tokenizer follows its written rules on any text, lone surrogates included."""
    assert tokenize(text) == tokenize(text, mode="memctx") == reference.tokenize(text)


@settings(max_examples=300)
@for_all(texts)
def test_openclaw_mode_equals_its_reference(text: str) -> None:
    """The compatible tokenizer follows the rules of OpenClaw's plugin on any text."""
    assert tokenize(text, "openclaw") == reference.tokenize_openclaw(text)


@pytest.mark.thread_unsafe(reason="long, and says nothing about threads")
@pytest.mark.skipif(PYTHON_UNICODE > KNOWN_UNICODE, reason="Python knows newer characters")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_every_character_is_classified_like_the_reference(mode: TokenMode) -> None:
    """Every character there is joins, ends, folds and lower-cases words as its Unicode properties say."""
    unused = {"Cn", "Co", "Cs"}
    characters = (chr(code) for code in range(sys.maxunicode + 1))
    used = [c for c in characters if unicodedata.category(c) not in unused]
    text = " ".join(f"a{c}Bc{c}" for c in used)
    assert len(used) > 140_000
    assert tokenize(text, mode) == REFERENCES[mode](text)


@for_all(texts)
def test_normal_forms_do_not_matter(text: str) -> None:
    """However the accents of a text are composed, search sees the same terms."""
    expected = tokenize(text)
    assert tokenize(unicodedata.normalize("NFD", text)) == expected
    assert tokenize(unicodedata.normalize("NFKC", text)) == expected


@for_all(texts)
def test_tokens_are_whole_strings(text: str) -> None:
    """No token is empty, and every token is a string that UTF-8 can hold and that equals its own copy."""
    for mode in MODES:
        for token in tokenize(text, mode):
            assert token
            assert token.encode().decode() == token


@pytest.mark.parametrize("word", ["ḁabc", "กabc", "კაa", "𐐨é", "ḁé1", "飞书", "abcdef", "é飞"])
def test_short_words_of_any_width_are_spelled_right(word: str) -> None:
    """A token comes out as it stands in the text, whatever number of bytes its characters take."""
    for _ in range(2):  # a string may be made once and then kept
        assert tokenize(word) == reference.tokenize(word)
        assert tokenize(word, "openclaw") == reference.tokenize_openclaw(word)


@pytest.mark.thread_unsafe(reason="long, and says nothing about threads")
@pytest.mark.slow
def test_more_strings_than_are_kept_are_spelled_right() -> None:
    """Strings that have to make room, also within a text that has them again further on, are not missed."""
    words = [[f"{number:x}" * (1 + number % 4)] for number in range(150_000)]
    firsts = (
        (HAN[number % len(HAN)], HAN[number * 7 // 3 % len(HAN)]) for number in range(150_000)
    )
    known = words + [[first, second, first + second] for first, second in firsts]
    places = (number * 7919 % (len(known) >> number % 8) for number in range(400_000))
    terms = [known[place] for place in places]
    text = " ".join(term[-1] for term in terms)
    for _ in range(3):
        assert tokenize(text) == [token for term in terms for token in term]


@pytest.mark.parametrize("code", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
def test_lone_surrogates_read_as_replacement_characters(code: int) -> None:
    """Half of a surrogate pair counts and breaks words just as U+FFFD does."""
    half = chr(code)
    assert estimate_tokens(half) == estimate_tokens("\ufffd") == 1
    assert estimate_tokens(half * 4) == estimate_tokens("\ufffd" * 4) == 2
    for mode in MODES:
        assert tokenize(f"pay{half}Hook", mode) == tokenize("pay\ufffdHook", mode)
    assert tokenize(f"pay{half}Hook") == ["pay", "hook"]


def test_split_surrogate_pairs_stay_apart() -> None:
    """Two halves side by side in a Python string are two characters, not the one they could form."""
    assert estimate_tokens("\ud83d\ude00" * 3) == 2
    assert estimate_tokens("\ud83d\ude00" * 3, "script") == 2
    assert tokenize("a\ud83d\ude00b") == ["a", "b"]


def test_invisible_characters_neither_break_nor_show() -> None:
    """Zero-width and combining characters are read over; NUL ends a word in `memctx` mode only."""
    assert tokenize("pay\u200bment\u0301") == ["payment"]
    assert tokenize("飞\u200b书") == ["飞", "书", "飞书"]
    assert tokenize("nul\0byte") == ["nul", "byte"]
    assert tokenize("nul\0byte", "openclaw") == ["nulbyte"]
    assert tokenize("\u200b\u0301\ufeff") == []


@settings(max_examples=300)
@for_all(texts)
def test_estimates_equal_the_reference(text: str) -> None:
    """A token is three UTF-16 units, or with `script` also each CJK character; there is always at least one."""
    assert estimate_tokens(text) == estimate_tokens(text, "utf16") == reference.estimate(text)
    by_script = reference.estimate(text, is_whole=reference.is_cjk)
    assert estimate_tokens(text, estimator="script") == by_script >= estimate_tokens(text)


def test_the_empty_text_costs_one_token() -> None:
    """Nothing has no terms but still costs a token."""
    assert [tokenize("", mode) for mode in MODES] == [[], []]
    assert estimate_tokens("") == estimate_tokens("", "script") == 1


@pytest.mark.thread_unsafe(reason="takes hundreds of megabytes")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_one_word_of_fifty_megabytes(mode: TokenMode) -> None:
    """A word may be as long as memory allows, also where it is not plain ASCII."""
    for letter in ("x", "X"):
        tokens = tokenize(letter * MANY_MEGABYTES, mode)
        assert [len(token) for token in tokens] == [MANY_MEGABYTES]
    (token,) = tokenize("é" * (MANY_MEGABYTES // 2), mode)
    assert len(token) == MANY_MEGABYTES // 2


@pytest.mark.thread_unsafe(reason="takes hundreds of megabytes")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_fifty_megabytes_of_words(mode: TokenMode) -> None:
    """A text of many megabytes is tokenized whole."""
    text = "The quick brown fox jumps over the lazy dog, "
    tokens = tokenize(text * (MANY_MEGABYTES // len(text)), mode)
    assert len(tokens) == 9 * (MANY_MEGABYTES // len(text))
    assert tokens[-9:] == tokenize(text, mode)


@pytest.mark.thread_unsafe(reason="takes hundreds of megabytes")
@pytest.mark.parametrize("unit", ["x", "é", "飞", "😀", "\ud800"])
@pytest.mark.slow
def test_fifty_megabytes_are_estimated(unit: str) -> None:
    """Estimates hold for texts of many megabytes in every width, lone surrogates included."""
    times = MANY_MEGABYTES // len(unit.encode("utf-8", "surrogatepass"))
    units = times * len(reference.utf16(unit))
    assert estimate_tokens(unit * times) == -(-units // 3)
    whole = times if unit == "飞" else -(-units // 3)
    assert estimate_tokens(unit * times, "script") == whole

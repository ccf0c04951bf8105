"""The page in a browser: on a screen and on a phone, by day and by night."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memctx.cli.replay import Replay, write_html

from . import chromium, session
from .chromium import Chromium

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.BINARY is None, reason="no Chromium here: the page was not opened"),
]

AXE = os.environ.get("MEMCTX_AXE")

# Texts whose color is too close to their background: WCAG asks for 4.5.
FAINT = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  // Backgrounds from the outermost to that of the element, which may let the others shine through.
  const ground = (element) => element
    ? [...ground(element.parentElement), getComputedStyle(element).backgroundColor] : [];
  const texts = [...document.querySelectorAll("body *")].filter((element) => element.checkVisibility()
    && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return texts.map((element) => {
    const under = ground(element), color = getComputedStyle(element).color;
    const [a, b] = [luminance([...under, color]), luminance(under)].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), element.className || element.tagName];
  }).filter(([ratio]) => ratio < 4.5);
})()
"""
# Elements that reach beyond the right edge though nothing around them scrolls or clips.
BEYOND = """
[...document.querySelectorAll("body *")].filter((element) => !element.closest("svg, .wide, .query")
  && element.getBoundingClientRect().right > innerWidth + 0.5).map((element) => element.className || element.tagName)
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    with Chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def path(played: Replay, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_html(played, tmp_path_factory.mktemp("page") / "replay.html")


@pytest.mark.parametrize("width", [1280, 768, 390, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_the_screen_and_is_legible(
    browser: Chromium, path: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    browser.open(path, width, scheme)
    browser.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert browser.console_errors() == []
    assert browser.requests() == [path.as_uri()]
    assert browser.value("document.documentElement.scrollWidth") == width
    assert browser.value(BEYOND) == []
    assert browser.value(FAINT) == []
    is_dark = browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(21, 20, 18)"
    assert is_dark == (scheme == "dark")


def test_the_browser_reports_page_errors(browser: Chromium, tmp_path: Path) -> None:
    """Without this, a look that sees nothing would pass for a page that does nothing."""
    bad = tmp_path / "bad.html"
    style = "background:#fff;color:#ccc;width:2000px"
    bad.write_text(
        f"<body><p style='{style}'>faint<img src=x.png><script>console.log(1); missing()</script>"
    )
    browser.open(bad, 390, "light")
    assert len(browser.console_errors()) >= 2
    assert browser.requests() == [bad.as_uri(), (tmp_path / "x.png").as_uri()]
    assert browser.value("document.documentElement.scrollWidth") > 390
    assert "P" in browser.value(BEYOND)
    assert [name for _, name in browser.value(FAINT)] == ["P"]


def test_pointing_at_a_chart_shows_the_turn(browser: Chromium, path: Path, played: Replay) -> None:
    browser.open(path, 1280, "light")
    assert browser.value("getComputedStyle(document.getElementById('readout')).display") == "none"
    left, top, width = browser.value(
        "(({x, y, width}) => [x, y, width])(document.querySelector('.plot').getBoundingClientRect())"
    )
    turn = next(turn for turn in played.turns if turn.trimmed)
    x = left + (turn.number - 0.5) / len(played.turns) * width
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=top + 20)
    readout = browser.value("document.getElementById('readout').textContent")
    assert readout.startswith(f"Turn {turn.number} · {turn.messages} messages")
    gone = sum(len(unit.messages) for unit in turn.trimmed)
    assert f"{gone} trimmed" in readout
    for kind in ("mousePressed", "mouseReleased"):
        browser.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=top + 20, button="left", clickCount=1
        )
    assert browser.value(f"document.getElementById('turn-{turn.number}').open") is True
    assert browser.value("scrollY") > 500
    assert browser.console_errors() == []


def test_page_keys_move_from_turn_to_turn(browser: Chromium, path: Path, played: Replay) -> None:
    browser.open(path, 1280, "dark")
    browser.value("document.querySelector('.plot').focus()")

    def told_after(key: str) -> str:
        browser.call("Input.dispatchKeyEvent", type="keyDown", key=key)
        return str(browser.value("document.getElementById('readout').textContent")).split(" ·")[0]

    keys = ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home")
    last = f"Turn {len(played.turns)}"
    assert [told_after(key) for key in keys] == ["Turn 1", "Turn 2", "Turn 1", last, last, "Turn 1"]
    told_after("Escape")
    assert browser.value("document.getElementById('readout').hidden") is True
    assert browser.console_errors() == []


def test_page_filters_show_the_selected_turns(
    browser: Chromium, path: Path, played: Replay
) -> None:
    browser.open(path, 390, "light")
    shown = "[...document.querySelectorAll('.turn')].filter((turn) => turn.checkVisibility()).map((turn) => turn.id)"
    browser.value("document.querySelector('[data-kind=trimmed]').click()")
    assert browser.value(shown) == [f"turn-{turn.number}" for turn in played.turns if turn.trimmed]
    browser.value("document.querySelector('.filters button').click()")
    assert len(browser.value(shown)) == sum(turn.is_eventful for turn in played.turns)
    assert browser.value("document.querySelectorAll('[aria-pressed=true]').length") == 1


def test_the_page_is_readable_without_scripts(browser: Chromium, path: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(path, 390, "light")
        assert (
            browser.value("document.querySelector('.plot svg').getBoundingClientRect().height")
            > 100
        )
        assert (
            browser.value("document.querySelector('.filters')?.checkVisibility() ?? false") is False
        )
        assert browser.console_errors() == []
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.skipif(AXE is None, reason="$MEMCTX_AXE does not name axe-core's axe.min.js")
def test_the_page_has_no_accessibility_violations(
    browser: Chromium, path: Path, scheme: Literal["light", "dark"]
) -> None:
    for width in (1280, 390):
        browser.open(path, width, scheme)
        browser.value(
            "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
        )
        browser.value(Path(str(AXE)).read_text("utf-8") + ";0")
        browser.value("axe.run().then((found) => { window.found = found.violations; }); 0")
        while not (found := browser.value("window.found && window.found.map((each) => each.id)")):
            if found == []:
                break
        assert found == [], browser.value("JSON.stringify(window.found)")


def test_the_chart_is_saved_as_a_picture_that_stands_alone(
    browser: Chromium, path: Path, tmp_path: Path
) -> None:
    browser.open(path, 1280, "light")
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for kind in ("svg", "png"):
        browser.value(f"document.querySelector('[data-save={kind}]').click()")
    deadline = time.monotonic() + 20
    while (
        len(saved := [each for each in tmp_path.iterdir() if each.suffix in {".svg", ".png"}]) < 2
    ):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert browser.console_errors() == []
    by_kind = {each.suffix: each for each in saved}
    time.sleep(0.2)
    assert by_kind[".png"].read_bytes().startswith(b"\x89PNG")
    browser.open(by_kind[".svg"], 900, "dark")
    assert browser.requests() == [by_kind[".svg"].as_uri()]
    assert browser.value("document.querySelector('title').textContent").startswith("session")


def test_the_prompt_shows_what_memory_added(browser: Chromium, path: Path, played: Replay) -> None:
    browser.open(path, 1280, "light")
    block = browser.value(
        f"document.querySelector('#turn-{played.turns[-1].number} .prompt .added pre').textContent"
    )
    assert session.SETTING in block
    assert block.startswith("<recalled-context")

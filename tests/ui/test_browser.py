"""The page in Chromium: every view and every edit, by mouse and keyboard, with nothing executed and nothing fetched.

`make browser` runs these: they need playwright and a Chromium on the path or in $MEMCTX_CHROMIUM. With the path of
axe-core's ``axe.min.js`` in $MEMCTX_AXE, the views are checked for accessibility, too.
"""

from __future__ import annotations

import os
import re
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.replay.chromium import BINARY
from memctx._core import Importer
from ui.conftest import ANSWER, QUESTION, SHOP, TOKEN, Page, command, fill, remove, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
AXE = os.environ.get("MEMCTX_AXE")
MANY = 100_000
MAX_HEAP = 40_000_000
"""Most bytes of JavaScript that a page of any store may take."""
ATTACK = """<!doctype html><script>window.stolen = [];</script>
<iframe name="framed" src="http://127.0.0.1:PORT/"></iframe>
<form id="form" method="post" enctype="text/plain" target="posted" action="http://127.0.0.1:PORT/api/facts/add">
<input name='{"session":"s2","type":"config","content":"stolen","x":"' value='"}'></form><iframe name="posted"></iframe>
<script src="http://127.0.0.1:PORT/app.js" onload="window.stolen.push('script')"></script>
<script type="module">
document.getElementById("form").submit();
const base = "http://127.0.0.1:PORT";
const bodies = [{}, { method: "POST", body: "{}" },
  { method: "POST", body: "{}", headers: { "Content-Type": "application/json", "X-Memctx-Page": "1" } }];
for (const path of ["/", "/api/overview", "/api/search?query=gate", "/api/facts/add"]) {
  for (const body of bodies) {
    for (const mode of ["cors", "no-cors"]) {
      try {
        const found = await fetch(base + path, { credentials: "include", mode, ...body });
        if (found.type !== "opaque" && found.ok) window.stolen.push(path);
      } catch { /* as it should be */ }
    }
  }
}
document.body.dataset.done = "yes";
</script>"""
WIDTHS = (390, 1280, 1920)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BINARY is None, reason="no Chromium here: the pages were not opened"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        args = ["--no-sandbox", "--host-resolver-rules=MAP attacker.example 127.0.0.1"]
        found = driver.chromium.launch(executable_path=BINARY, args=args)
        yield found
        found.close()


@contextmanager
def opened(browser: Any, page: Page, **options: Any) -> Generator[Any]:
    """Open a tab on a served store; fail if it logs anything, or asks another machine."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    name, _, value = page.cookie.partition(";")[0].partition("=")
    cookie = {
        "name": name,
        "value": value,
        "url": page.origin,
        "httpOnly": True,
        "sameSite": "Strict",
    }
    context.add_cookies([cookie])
    tab = context.new_page()
    tab.set_default_timeout(20_000)
    said: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    tab.on("pageerror", lambda error: said.append(f"error: {error}"))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{page.origin}/")
    tab.wait_for_selector(".row")
    yield tab
    assert tab.evaluate("window.hacked") is None, "stored text was executed"
    assert said == []
    assert [url for url in asked if not url.startswith(page.origin)] == []
    context.close()


@pytest.fixture
def tab(browser: Any, page: Page) -> Iterator[Any]:
    with opened(browser, page) as found:
        yield found


def until(tab: Any, test: str, given: object = None) -> None:
    """Wait until a function returns true; the driver's own way evaluates strings, which the policy refuses."""
    deadline = time.monotonic() + 20
    while not tab.evaluate(test, given):
        assert time.monotonic() < deadline, test
        tab.wait_for_timeout(30)


def go(tab: Any, view: str) -> None:
    tab.evaluate("view => { location.hash = view; }", f"#/{view}")


def shop() -> str:
    return f"session?id={SHOP.replace('/', '%2F')}"


def test_the_printed_address_opens_the_page_once(browser: Any, filled: Path) -> None:
    with serve(filled, may_write=False, is_opened=False) as page:
        context = browser.new_context()
        tab = context.new_page()
        tab.goto(f"{page.origin}/?token={TOKEN}")
        tab.wait_for_selector(".row")
        assert "token" not in tab.url
        other = browser.new_context().new_page()
        assert other.goto(f"{page.origin}/?token={TOKEN}").status == 403
        context.close()


def test_the_overview_leads_to_a_session(tab: Any) -> None:
    assert "claude-code · shop" in tab.inner_text(".sessions")
    tab.wait_for_selector(".health .tile")
    tab.click("text=Verify the store")
    tab.wait_for_selector("text=No damage found")
    tab.fill("[aria-label='Filter sessions']", "gates")
    until(tab, "() => document.querySelectorAll('.row').length === 1")
    tab.click(".row")
    tab.wait_for_selector(".message")


def test_stored_scripts_and_directions_are_text(tab: Any) -> None:
    go(tab, f"{shop()}&at=90")
    tab.wait_for_selector(".message:has-text('window.hacked = 1')")
    assert "U+202E" in tab.inner_text(".virtual")
    go(tab, "search?query=hacked")
    tab.wait_for_selector(".hit")
    assert "<script>" in tab.inner_text(".hit")


def test_search_answers_while_typing_and_explains(tab: Any) -> None:
    tab.keyboard.press("/")
    tab.wait_for_selector("[data-search]")
    tab.keyboard.type("locker of Zebulon", delay=20)
    tab.wait_for_selector(f".hit:has-text('{ANSWER}')")
    until(
        tab,
        "() => [...document.querySelectorAll('.hit mark')].some((mark) => mark.textContent === 'Zebulon')",
    )
    assert "sure that the question is answered" in tab.get_attribute(".relevance", "aria-label")
    tab.click("summary:has-text('How the score is made')")
    tab.wait_for_selector(".tree code")
    tab.select_option("[name=role]", "tool")
    until(
        tab,
        "() => !document.querySelector('.hit .role') || document.querySelector('.hit .role').textContent === 'tool'",
    )


def test_a_message_tells_why_it_is_not_recalled(tab: Any) -> None:
    go(tab, f"{shop()}&at=8")
    tab.wait_for_selector(f".message:has-text('{ANSWER}')")
    tab.focus(f".message:has-text('{ANSWER}')")
    tab.keyboard.press("y")
    tab.fill("dialog [name=question]", QUESTION)
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".verdict.yes")
    tab.select_option("dialog [name=asked]", "same")
    tab.click("dialog button:has-text('Explain')")
    tab.wait_for_selector(".verdict.no:has-text('Still visible')")
    tab.keyboard.press("Escape")
    assert tab.query_selector("dialog[open]") is None


def test_long_messages_are_shown_by_parts(tab: Any) -> None:
    go(tab, "session?id=s2")
    tab.wait_for_selector("text=Show more")
    before = len(tab.inner_text(".message .text"))
    tab.click("text=Show more")
    until(
        tab,
        "before => document.querySelector('.message .text').textContent.length > before",
        before,
    )
    assert len(tab.inner_text(".message .text")) <= 110_000


def test_the_scrubber_shows_what_each_call_sent(tab: Any) -> None:
    go(tab, shop())
    tab.wait_for_selector(".message")
    tab.select_option("select[name=window]", "4000")
    tab.click("text=Play the calls")
    tab.wait_for_selector(".sent-list", timeout=60_000)
    assert tab.query_selector(".message.evicted, .message.kept")
    first = tab.inner_text(".call h3")
    tab.keyboard.press("Escape")
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("ArrowLeft")
    until(tab, "first => document.querySelector('.call h3').textContent !== first", first)
    tab.fill("[name=price]", "3")
    tab.keyboard.press("Tab")
    tab.wait_for_selector(".call :text('$')")
    tab.click("text=Close the replay")
    tab.wait_for_selector("text=Play the calls")


def test_the_conversation_is_shown_as_a_call_sent_it(tab: Any, page: Page) -> None:
    go(tab, shop())
    tab.wait_for_selector(".message")
    tab.select_option("select[name=window]", "4000")
    tab.click("text=Play the calls")
    tab.wait_for_selector(".sent-list .recalled", timeout=60_000)
    started = page.play(session=SHOP, settings={"context_window": 4_000}, messages=93)
    call = page.get("call", id=started["id"], number=started["totals"]["calls"])
    ranges = [(each["first"], each["last"]) for each in call["sent"] if each["first"] is not None]
    sent = {number for first, last in ranges for number in range(first, last + 1)}
    block = next(each["text"] for each in call["sent"] if each["kind"] == "recalled")
    assert 0 < len(sent) < call["given"]
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("v")
    tab.keyboard.press("v")
    assert tab.input_value("[aria-label='Messages to show']") == "after"
    tab.click(".sent-list .recalled >> text=Show where")
    tab.wait_for_selector(".recalled-block:focus")
    assert tab.inner_text(".recalled-block pre") == block
    assert listed(tab) == sent
    tab.select_option("[aria-label='Messages to show']", "before")
    assert listed(tab) == set(range(call["given"]))
    tab.select_option("[aria-label='Messages to show']", "both")
    tab.keyboard.press("Home")
    tab.wait_for_selector(".message.evicted")


def listed(tab: Any) -> set[int]:
    """Scroll through the conversation, and return the numbers of its messages."""
    found: set[int] = set()
    tab.wait_for_timeout(1_000)  # it is sent to its end first
    tab.evaluate("document.querySelector('.virtual').scrollTop = 0")
    for _ in range(100):
        tab.wait_for_timeout(60)
        script = "() => [...document.querySelectorAll('.message')].map((each) => Number(each.dataset.number))"
        found |= set(tab.evaluate(script))
        script = """() => {
            const list = document.querySelector('.virtual');
            const before = list.scrollTop;
            list.scrollTop += list.clientHeight;
            return list.scrollTop === before;
        }"""
        if tab.evaluate(script):
            break
    return found


def test_two_settings_are_compared_and_exported(tab: Any) -> None:
    go(tab, f"whatif?session={SHOP.replace('/', '%2F')}")
    tab.wait_for_selector("fieldset")
    assert tab.get_attribute("[data-name=A] [name='recall.min_score']", "placeholder") == "0.7"
    for name in "AB":
        tab.fill(f"[data-name={name}] [name=context_window]", "3000")
        tab.select_option(f"[data-name={name}] [name=embedding_model]", "hash")
    tab.select_option("[data-name=B] [name=placement]", "tail")
    tab.click("text=Play both")
    tab.wait_for_selector(".result table", timeout=60_000)
    with tab.expect_download() as toml:
        tab.click("text=Settings B as TOML")
    assert 'placement = "tail"' in Path(toml.value.path()).read_text("utf-8")
    with tab.expect_download() as html:
        tab.click("text=Comparison as one HTML file")
    assert "Key figures" in Path(html.value.path()).read_text("utf-8")


def test_every_edit_can_be_undone(browser: Any, tmp_path: Path) -> None:
    store = fill(tmp_path / "store")
    valkey = ".facts-list .fact:has-text('Valkey')"
    with serve(store, may_write=True) as page, opened(browser, page) as tab:
        go(tab, "facts")
        edits = (("Edit", "Edited."), ("Supersede", "Superseded."))
        for action, told in edits:
            tab.click(f"{valkey} button:text-is('{action}')")
            tab.fill("dialog textarea", "Use Dragonfly for the session cache")
            tab.click("dialog button:has-text('Save')")
            tab.wait_for_selector(f".toast:has-text('{told}')")
            tab.wait_for_selector(".facts-list .fact:has-text('Dragonfly')")
            tab.click(".toast >> text=Undo")
            tab.wait_for_selector(".toast:has-text('earlier')")
            tab.wait_for_selector(valkey)
            while dismiss := tab.query_selector(".toast [aria-label=Dismiss]"):
                dismiss.click()
        tab.click(f"{valkey} button:text-is('Forget')")
        tab.wait_for_selector(".toast:has-text('Forgotten')")
        tab.wait_for_selector(valkey, state="detached")
        listed = [each["content"] for each in command(store, "facts", "list")["facts"]]
        assert "Use Valkey for the session cache" not in listed
        tab.click(".toast >> text=Undo")
        tab.wait_for_selector(".toast:has-text('stated again')")
        tab.wait_for_selector(valkey)
        assert tab.query_selector(".toast.error") is None
        tab.click("text=Add a fact")
        tab.fill(".add textarea", "Ship on Friday")
        tab.select_option(".add [name=session]", SHOP)
        tab.click(".add button:text-is('Add')")
        tab.wait_for_selector(".facts-list .fact:has-text('Ship on Friday')")
    listed = [each["content"] for each in command(store, "facts", "list")["facts"]]
    assert {"Use Valkey for the session cache", "Ship on Friday"} <= set(listed)


def test_a_fact_that_is_known_is_told_and_not_forgotten_by_undo(browser: Any, editor: Page) -> None:
    with opened(browser, editor) as tab:
        go(tab, "facts")
        tab.click("text=Add a fact")
        tab.fill(".add textarea", "use valkey for the session cache")
        tab.select_option(".add [name=session]", SHOP)
        tab.click(".add button:text-is('Add')")
        tab.wait_for_selector(".toast:has-text('Known already.')")
        assert tab.query_selector(".toast >> text=Undo") is None
        tab.click(".facts-list .fact:has-text('8443') button:text-is('Supersede')")
        tab.fill("dialog textarea", "Use Valkey for the session cache")
        tab.click("dialog button:has-text('Save')")
        tab.wait_for_selector(".facts-list .fact:has-text('8443')", state="detached")
        tab.click(".toast:has-text('known already') >> text=Undo")
        tab.wait_for_selector(".facts-list .fact:has-text('8443')")
        assert tab.query_selector(".facts-list .fact:has-text('Valkey')")


def test_undo_outlasts_later_messages_and_forgotten_facts_can_be_restored(
    browser: Any, editor: Page
) -> None:
    with opened(browser, editor) as tab:
        go(tab, "facts")
        facts = ".facts-list .fact.active"
        for left in (2, 1, 0):
            tab.click(f"{facts} >> nth=0 >> button:text-is('Forget')")
            until(tab, f"() => document.querySelectorAll('{facts}').length === {left}")
        for left in (1, 2):
            tab.click(".toast >> text=Undo")
            until(tab, f"() => document.querySelectorAll('{facts}').length === {left}")
        assert len(tab.query_selector_all(".toast:has-text('Forgotten')")) == 1
        tab.check("[name=superseded]")
        last = editor.get("facts", superseded="yes")["facts"]
        texts = {each["content"] for each in last if each["state"] == "forgotten"}
        texts -= {each["content"] for each in last if each["state"] == "active"}
        gone = f".fact.forgotten:has-text('{texts.pop()}')"
        tab.click(f"{gone} >> button:text-is('Restore')")
        until(tab, f"() => document.querySelectorAll('{facts}').length === 3")


def test_the_focus_and_open_histories_outlast_an_edit(browser: Any, editor: Page) -> None:
    focused = "() => document.activeElement.closest('.fact')?.querySelector('.text')?.textContent"
    valkey = ".facts-list .fact:has-text('Valkey')"
    with opened(browser, editor) as tab:
        go(tab, "facts")
        tab.click(f"{valkey} >> summary")
        tab.wait_for_selector(f"{valkey} >> .history li")
        tab.focus(f"{valkey} >> button:text-is('Edit')")
        tab.keyboard.press("Enter")
        tab.fill("dialog textarea", "Use Valkey 8 for the session cache")
        tab.click("dialog button:has-text('Save')")
        until(tab, f"() => ({focused})() === 'Use Valkey 8 for the session cache'")
        until(tab, "() => document.querySelectorAll('.facts-list .history li').length === 2")
        texts = tab.eval_on_selector_all(
            ".facts-list .fact .text", "all => all.map((each) => each.textContent)"
        )
        tab.focus(".facts-list .fact >> nth=0 >> button:text-is('Forget')")
        tab.keyboard.press("Enter")
        until(tab, f"text => ({focused})() === text", texts[1])
        tab.focus(".toast:has-text('Forgotten') >> button:text-is('Undo')")
        tab.keyboard.press("Enter")
        until(tab, f"text => ({focused})() === text", texts[0])


def test_a_new_view_takes_a_focus_that_is_lost(tab: Any) -> None:
    tab.focus(".row")
    go(tab, "facts")
    tab.wait_for_selector(".fact")
    assert tab.evaluate("document.activeElement.id") == "main"


def test_a_search_shows_more_than_the_best_messages(tab: Any) -> None:
    go(tab, "search?query=customer+gate")
    tab.wait_for_selector(".found [role=status]:has-text('the best 12 messages')")
    tab.focus("text=Show more")
    tab.keyboard.press("Enter")
    until(tab, "() => document.querySelectorAll('.hit').length > 12")
    until(tab, "() => document.activeElement.matches('.hit')")
    assert tab.query_selector("text=Show more") is None


def test_a_server_that_has_stopped_is_told(browser: Any, tmp_path: Path) -> None:
    with serve(fill(tmp_path / "store"), may_write=True) as page:
        context = browser.new_context()
        name, _, value = page.cookie.partition(";")[0].partition("=")
        context.add_cookies([{"name": name, "value": value, "url": page.origin}])
        tab = context.new_page()
        faults: list[str] = []
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.goto(f"{page.origin}/#/facts")
        tab.wait_for_selector(".edits")
    tab.click(".edits button:text-is('Forget')")
    tab.wait_for_selector(".toast.error:has-text('The server has stopped')")
    tab.fill("[aria-label='Search facts']", "port")
    until(tab, "() => document.querySelectorAll('.toast.error').length === 2")
    assert faults == []
    context.close()


def test_pages_of_others_reach_nothing(browser: Any, editor: Page, tmp_path: Path) -> None:
    """Pages at another port of this machine, to which the browser sends the cookie, and at a name rebound to it."""
    (tmp_path / "index.html").write_text(ATTACK.replace("PORT", str(editor.port)), "utf-8")
    with other_server(tmp_path) as port:
        context = browser.new_context()
        name, _, value = editor.cookie.partition(";")[0].partition("=")
        context.add_cookies([{"name": name, "value": value, "url": editor.origin}])
        for host in ("127.0.0.1", "localhost", "attacker.example"):
            tab = context.new_page()
            tab.goto(f"http://{host}:{port}/index.html")
            tab.wait_for_selector("[data-done]", state="attached")
            assert tab.evaluate("window.stolen") == [], host
            frame = next(each for each in tab.frames if each.name == "framed")
            assert ".row" not in frame.content()
            assert frame.query_selector("#main") is None, host
        rebound = context.new_page().goto(f"http://attacker.example:{editor.port}/api/overview")
        assert rebound.status == 421
        context.close()
    assert editor.get("facts")["found"] == 3


@contextmanager
def other_server(folder: Path) -> Generator[int]:
    """Serve a folder at a port of its own."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *_: None  # type: ignore[attr-defined]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def test_a_store_deleted_underneath_is_told(browser: Any, tmp_path: Path) -> None:
    store = fill(tmp_path / "store")
    with serve(store, may_write=True) as page:
        context = browser.new_context()
        name, _, value = page.cookie.partition(";")[0].partition("=")
        context.add_cookies([{"name": name, "value": value, "url": page.origin}])
        tab = context.new_page()
        tab.goto(f"{page.origin}/#/facts")
        tab.wait_for_selector(".edits")
        remove(store)
        tab.click(".edits button:text-is('Forget')")
        tab.wait_for_selector(".toast.error:has-text('the store is gone')")
        go(tab, "")
        tab.wait_for_selector(".error:has-text('the store is gone')")
        context.close()
    assert not store.exists()


def test_a_read_only_page_offers_no_edits(tab: Any) -> None:
    go(tab, "facts")
    tab.wait_for_selector(".fact")
    assert tab.query_selector(".edits, .add") is None
    tab.wait_for_selector(".pair")
    tab.click(".fact summary")
    tab.wait_for_selector(".history li")
    tab.fill(".preview [name=question]", QUESTION)
    tab.keyboard.press("Enter")
    tab.wait_for_selector("pre.block")
    tab.select_option(".search-form [name=session]", "s2")
    tab.click("text=Show the block")
    tab.wait_for_selector("text=A turn would recall nothing")


def test_keys_reach_every_view(tab: Any) -> None:
    for key, title in (("s", "Search"), ("f", "Facts"), ("w", "What if"), ("o", "Sessions")):
        tab.evaluate("document.activeElement.blur()")
        tab.keyboard.press("g")
        tab.keyboard.press(key)
        tab.wait_for_selector(f"h1:text-is('{title}')")
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("k")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".message")
    tab.keyboard.press("?")
    tab.wait_for_selector("dialog[open] .keys")
    tab.keyboard.press("Escape")
    tab.wait_for_selector("dialog[open]", state="detached")


def views(tab: Any) -> Generator[str]:
    """Show one view after the other."""
    tab.wait_for_selector(".health .tile")
    yield "overview"
    go(tab, "search?query=locker+of+Zebulon")
    tab.wait_for_selector(".hit")
    yield "search"
    go(tab, "facts")
    tab.wait_for_selector(".pair")
    yield "facts"
    go(tab, shop())
    tab.wait_for_selector(".message")
    tab.click("text=Play the calls")
    tab.wait_for_selector(".sent-list", timeout=60_000)
    yield "session"
    tab.select_option("[aria-label='Messages to show']", "after")
    tab.wait_for_selector(".message.kept")
    yield "conversation as sent"
    while tab.query_selector("dialog[open]") is None:  # a list that is drawn again loses the focus
        tab.focus(".message.kept")
        tab.keyboard.press("y")
        tab.wait_for_timeout(50)
    tab.fill("dialog [name=question]", QUESTION)
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".verdict")
    yield "why"
    tab.keyboard.press("Escape")
    tab.click("#help-button")
    tab.wait_for_selector("dialog[open] .keys")
    yield "help"
    tab.keyboard.press("Escape")
    go(tab, "whatif")
    tab.wait_for_selector("fieldset")
    tab.fill("[name=messages]", "20")
    tab.click("text=Play both")
    tab.wait_for_selector(".result table", timeout=60_000)
    yield "whatif"
    go(tab, "facts")
    tab.wait_for_selector(".edits")
    tab.click(".add summary")
    tab.click(".fact summary")
    tab.wait_for_selector(".history li")
    tab.click(".edits button:text-is('Edit')")
    tab.wait_for_selector("dialog[open] textarea")
    yield "edit"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_views_fit_every_width_and_are_accessible(
    browser: Any, editor: Page, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900}
    with opened(browser, editor, viewport=size, color_scheme=scheme) as tab:
        for view in views(tab):
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, view
            assert tab.evaluate("document.querySelector('main').scrollWidth") <= width, view
            if AXE:
                tab.evaluate(Path(AXE).read_text("utf-8"))
                found = tab.evaluate(
                    "axe.run().then((found) => found.violations.map((each) => [each.id, each.impact]))"
                )
                serious = [each for each in found if each[1] in {"serious", "critical"}]
                assert serious == [], view


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with one session of 100,000 messages."""
    store = tmp_path_factory.mktemp("large") / "store"
    importer = Importer(store)
    roles = ("user", "assistant", "tool", "assistant")
    for start in range(0, MANY, 5_000):
        importer.add(
            [
                (
                    "big",
                    roles[at % 4],
                    f"Remark {at}: parcel {at * 7} of gate {at % 977}. " + "and so on " * (at % 40),
                    1.76e12 + at * 30_000,
                    None,
                )
                for at in range(start, start + 5_000)
            ]
        )
    return store


@pytest.mark.timing
@pytest.mark.timeout(300)
def test_a_hundred_thousand_messages_are_browsed_and_searched(browser: Any, large: Path) -> None:
    with serve(large, may_write=False) as page:
        page.get(
            "health"
        )  # the memory is loaded, as it is by the time that somebody has opened the address
        with opened(browser, page) as tab:
            took: Callable[[], float] = lambda: tab.evaluate("performance.now()")  # noqa: E731 - a short name
            tab.reload()
            tab.wait_for_selector(".row")
            assert took() < 500, "first view"
            tab.click(".row")
            tab.wait_for_selector(".message")
            for number in (50_000, 99_999, 3, 77_777):
                tab.fill("[aria-label='Go to message number']", str(number + 1))
                tab.keyboard.press("Enter")
                tab.wait_for_selector(f".message:has-text('Remark {number}:')")
            for _ in range(60):
                tab.mouse.move(400, 600)
                tab.mouse.wheel(0, 4_000)
                tab.wait_for_timeout(15)
            assert tab.evaluate("document.querySelectorAll('*').length") < 6_000
            assert _heap(tab) < MAX_HEAP
            timings: list[float] = []
            tab.on(
                "response",
                lambda response: (
                    timings.append(_server_time(response))
                    if "/api/search" in response.url
                    else None
                ),
            )
            go(tab, "search")
            tab.wait_for_selector("[data-search]")
            tab.type("[data-search]", "parcel 349993 of gate 173", delay=90)
            tab.wait_for_selector(".hit:has-text('parcel 349993')")
            assert timings
            assert max(timings) < 50, timings


def _heap(tab: Any) -> float:
    """Return the bytes of JavaScript that a page holds on to."""
    session = tab.context.new_cdp_session(tab)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    found = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in found if each["name"] == "JSHeapUsedSize"))


def _server_time(response: Any) -> float:
    found = re.search(r"dur=([\d.]+)", response.headers.get("server-timing", ""))
    assert found is not None
    return float(found[1])

// One session: the conversation as it was, what became of it, and a scrubber over the calls of a replay.

import { get, latest } from "/api.js";
import { count, debounced, fill, h, plural, said, short, time, toast } from "/dom.js";
import { askWhy, blockOf, messageOf } from "/message.js";
import { timelineOf } from "/overview.js";
import { callPanel, changesOf, chartLegend, chartOf, marksAt, play, priceField, rangesOf } from "/replay.js";
import { VirtualList } from "/virtual.js";

const SHOWN = { both: "before and after", before: "before: as given", after: "after: as sent" };
const WINDOWS = [4000, 8000, 16000, 32000, 64000, 128000, 200000, 1000000];

export async function showSession(body, { id, at }, page, isCurrent) {
  const [session, { settings }] = await Promise.all([get("session", { session: id }), page.ready]);
  if (!isCurrent()) return;
  const recalled = new Set(session.recalled);
  let scrubbed = null; // The call that is shown, with its marks and changes.
  let current = at === undefined ? -1 : Number(at);

  function marksOf({ number }) {
    const marks = [];
    if (scrubbed) marks.push(scrubbed.markOf(number));
    else if (number < session.summarized) marks.push("summarized");
    if (recalled.has(number)) marks.push("recalled");
    return marks;
  }

  const list = new VirtualList({
    total: session.messages,
    label: `Conversation of ${plural(session.messages, "message")}`,
    load: async (start, size) => (await get("messages", { session: id, start, count: size })).messages,
    render: (message) => {
      const { number } = message;
      const changes = filter.value === "before" ? null : scrubbed?.changes;
      const element = messageOf(message, { marks: marksOf(message), isCurrent: number === current, changed: changes?.texts.get(number) ?? null,
        isOriginalShown: filter.value !== "after" || !changes?.texts.has(number) });
      element.setAttribute("aria-posinset", number + 1);
      element.setAttribute("aria-setsize", session.messages);
      return [(changes?.before.get(number) ?? []).map(blockOf), element, (changes?.after.get(number) ?? []).map(blockOf)];
    },
  });
  page.leave = () => list.close();

  const jump = (number, isBefore = false) => { current = number; list.refresh(); list.scrollTo(number, { focus: true, isBefore }); };
  const jumpTo = h("input", { type: "number", min: 1, max: session.messages, "aria-label": "Go to message number", placeholder: "go to #",
    onchange: (event) => { if (event.target.value) jump(Number(event.target.value) - 1); } });
  const filter = h("select", { "aria-label": "Messages to show", onchange: () => showCall(scrubbed.call) },
    Object.entries(SHOWN).map(([value, words]) => h("option", { value }, words)));

  /** Show the conversation as a call was given it, as it sent it, or both. */
  function showCall(call) {
    scrubbed = { call, markOf: marksAt(call), changes: changesOf(call) };
    recalled.clear();
    for (const each of call.sources) recalled.add(each);
    list.setRanges(rangesOf(call, filter.value, session.messages));
    list.update();
    list.scrollTo(call.given - 1);
  }

  const side = h("aside", { class: "side", "aria-label": "Calls of the session" });
  fillSide();

  function fillSide() {
    const windows = [...new Set([...WINDOWS, settings.context_window])].sort((a, b) => a - b);
    const window = h("select", { name: "window" }, windows.map((each) => h("option", { value: each, selected: each === settings.context_window }, `${short(each)} tokens`)));
    const amount = h("input", { type: "number", min: 1, max: 50000, value: Math.min(session.messages, 2000) });
    const status = h("p", { role: "status", class: "soft" });
    const button = h("button", { type: "button" }, "Play the calls");
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        const played = await play({ session: id, settings: { context_window: Number(window.value) }, messages: Number(amount.value) },
          (done, total) => { status.textContent = total ? `Call ${count(done)} of ${count(total)}…` : "Reading the session…"; }, isCurrent);
        if (played && isCurrent()) scrub(played);
      } catch (error) {
        toast(error.message, { isError: true });
        status.textContent = error.message;
      }
      button.disabled = false;
    });
    fill(side, h("div", { class: "side-head" }, h("h2", {}, "Every call"),
      h("p", { class: "soft" }, "Plays the session in a scratch copy and shows what each call of the model was given and sent."),
      h("div", { class: "controls" }, h("label", {}, h("span", {}, "Window"), window), h("label", {}, h("span", {}, "First messages"), amount), button), status));
  }

  function scrub(played) {
    const calls = played.calls.after.length;
    if (!calls) {
      side.append(h("p", { class: "empty" }, "The model was never called in these messages."));
      return;
    }
    const panel = h("div", { class: "panel" });
    const chart = chartOf(played);
    const label = h("output", {});
    const ask = latest();
    const slider = h("input", { type: "range", min: 1, max: calls, value: calls, "aria-label": "Call", oninput: () => select() });
    const load = debounced(async () => {
      const number = Number(slider.value);
      try {
        const call = await ask("call", { id: played.id, number });
        if (!call || !isCurrent()) return;
        showCall(call);
        fill(panel, callPanel(call, jump, page.price));
      } catch (error) {
        toast(error.message, { isError: true });
      }
    }, 40);
    function select(number = Number(slider.value)) {
      slider.value = Math.min(Math.max(number, 1), calls);
      label.textContent = `${count(Number(slider.value))} of ${count(calls)}`;
      slider.setAttribute("aria-valuetext", `call ${label.textContent}`);
      chart.point(Number(slider.value));
      load();
    }
    chart.addEventListener("click", (event) => {
      const box = chart.getBoundingClientRect();
      select(Math.ceil(((event.clientX - box.left) / box.width) * calls));
    });
    page.keys.ArrowLeft = () => select(Number(slider.value) - 1);
    page.keys.ArrowRight = () => select(Number(slider.value) + 1);
    page.keys.v = () => {
      filter.selectedIndex = (filter.selectedIndex + 1) % filter.options.length;
      showCall(scrubbed.call);
    };
    const part = played.played < session.messages ? h("p", { class: "soft" }, `The first ${count(played.played)} of ${count(session.messages)} messages were played.`) : null;
    filter.value = "both";
    fill(side, h("div", { class: "side-head" },
      h("div", { class: "titled" }, h("h2", {}, "Every call"), h("a", { href: `#/whatif?${new URLSearchParams({ session: id })}` }, "Compare settings"),
        h("button", { type: "button", class: "plain", onclick: stop }, "Close the replay")), part,
      h("div", { class: "scrubber" }, chart, slider, label),
      chartLegend(),
      h("div", { class: "controls" }, h("label", {}, h("span", {}, "Conversation"), filter), priceField(page, () => select()))), panel);
    select();
  }

  function stop() {
    scrubbed = null;
    filter.value = "both";
    recalled.clear();
    for (const each of session.recalled) recalled.add(each);
    delete page.keys.ArrowLeft;
    delete page.keys.ArrowRight;
    delete page.keys.v;
    fillSide();
    list.setRanges([[0, session.messages - 1]]);
    list.update();
  }

  page.keys.y = () => {
    const item = document.activeElement?.closest?.("[data-number]");
    const message = item && [...list.cache.values()].flat().find((each) => each.number === Number(item.dataset.number));
    if (message) askWhy(message);
    else toast("Choose a message first: j and k move along them.");
  };
  page.keys.Home = () => jump(0);
  page.keys.End = () => jump(session.messages - 1);

  const chart = timelineOf(session.timeline, async (moment) => jump((await get("find", { session: id, time: moment })).number));
  fill(body, 
    h("p", { class: "crumbs" }, h("a", { href: "#/" }, "Sessions"), " / ", said([session.host, session.folder].filter(Boolean).join(" · ") || "session")),
    h("h1", { title: session.title }, said(session.title)),
    h("p", { class: "soft facts" }, said(session.id, "code"), ` · ${plural(session.messages, "message")} · ${short(session.tokens)} tokens · ${time(session.first)} to ${time(session.last)}`,
      session.context_tokens ? ` · last prompt ${short(session.context_tokens)} tokens` : "", session.compactions ? ` · ${plural(session.compactions, "compaction")}` : ""),
    chart,
    h("div", { class: "columns session-columns" },
      h("div", { class: "conversation" },
        h("div", { class: "controls" }, jumpTo, h("a", { href: `#/search?${new URLSearchParams({ session: id })}` }, "Search in it"),
          h("a", { href: `#/facts?${new URLSearchParams({ session: id })}` }, "Its facts"),
          h("span", { class: "soft" }, session.recalled.length ? `${plural(session.recalled.length, "message")} recalled by its agent` : "")), list.element),
      side));
  if (current >= 0) list.scrollTo(current, { focus: true });
  else list.update();
}

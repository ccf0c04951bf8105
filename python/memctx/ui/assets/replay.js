// Replays: start one and wait for it, the chart of its calls, and what one call sent.

import { get, post } from "/api.js";
import { count, field, h, legend, percent, plural, said, short, svg } from "/dom.js";
import { sentText } from "/message.js";

const sleep = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/** Play a session with some settings; `progress(done, total)` is called meanwhile. Resolves to null if it was left. */
export async function play({ session, settings, messages }, progress, isCurrent) {
  let job = await post("replays/start", { session, settings, messages });
  for (let wait = 60; ; wait = Math.min(wait * 1.3, 600)) {
    const found = await get("replay", { id: job.id });
    if (found.state === "done") return found;
    if (found.state === "failed") throw new Error(`The replay failed: ${found.error}`);
    if (found.state === "canceled") throw new Error("The replay was canceled.");
    progress(found.done, found.total);
    await sleep(wait);
    if (!isCurrent()) {
      await post("replays/cancel", { id: job.id }).catch(() => null);
      return null;
    }
  }
}

/** Return a chart of the tokens of every call: given, sent, recalled. */
export function chartOf(played) {
  const { before, after, recalled } = played.calls;
  const total = after.length;
  const top = Math.max(...after, played.window ?? 0, 1) * 1.05;
  const y = (value) => Math.max(0, 100 - (value / top) * 100).toFixed(2);
  const area = (values) => `M0 100${values.map((value, at) => `V${y(value)}H${at + 1}`).join("")}V100Z`;
  const line = (values) => `M0 ${y(values[0])}${values.map((value, at) => `V${y(value)}H${at + 1}`).join("")}`;
  const chart = svg("svg", { viewBox: `0 0 ${total} 100`, preserveAspectRatio: "none", role: "img",
    "aria-label": `Tokens of ${plural(total, "call")}: at most ${count(Math.max(...after))} sent, ${count(Math.max(...before))} given` },
  svg("path", { d: area(after), class: "sent" }), svg("path", { d: area(recalled), class: "recalled" }),
  svg("path", { d: line(before), class: "given" }));
  if (played.window) chart.append(svg("path", { d: `M0 ${y(played.window)}H${total}`, class: "window" }));
  const cursor = svg("path", { d: "", class: "cursor" });
  chart.append(cursor);
  chart.point = (number) => cursor.setAttribute("d", `M${number - 0.5} 0V100`);
  return chart;
}

/** Return the legend of the chart. */
export const chartLegend = () => legend([["sent", "sent"], ["recalled", "recalled"], ["given", "given"], ["window", "window"]]);

/** Return a cost: money if the price of a million input tokens is known, else tokens at full price. */
export function costOf(tokens, price) {
  return price ? `$${((tokens * price) / 1e6).toFixed(4)}` : `${short(tokens)} tokens`;
}

/** Return a field for the price, which all views share while the page is open. */
export function priceField(page, onchange) {
  return field("price", "$ per 1M input tokens", { type: "number", min: 0, step: "any", value: page.price ?? "", placeholder: "none",
    onchange: (event) => { page.price = Number(event.target.value) || 0; onchange(); } });
}

function figures(call, price) {
  const { tokens } = call;
  const cells = [
    ["Given", `${short(tokens.before)} tokens`, plural(call.given, "message")],
    ["Sent", `${short(tokens.after)} tokens`, tokens.limit ? `a trim starts at ${short(tokens.limit)}` : "no limit"],
    ["Recalled", `${short(tokens.recalled)} tokens`, plural(call.recalled.length, "new item")],
    ["From cache", tokens.after ? percent(call.cached / tokens.after) : "-", call.rewritten ? `${short(call.rewritten)} written again` : "nothing rewritten"],
    ["Cost", costOf(call.cost, price), `${price ? "" : "in tokens at full price; "}unedited ${costOf(call.unedited_cost, price)}, truncated ${costOf(call.truncated_cost, price)}`],
    ["Time", `${call.ms.toFixed(1)} ms`, "added to the call"],
  ];
  return h("dl", { class: "tiles small" }, cells.map(([name, value, note]) =>
    h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), h("dd", { class: "note" }, note))));
}

function range(part, jump) {
  const words = part.first === part.last ? `Message ${count(part.first + 1)}` : `Messages ${count(part.first + 1)} to ${count(part.last + 1)}`;
  return h("button", { type: "button", class: "plain", onclick: () => jump(part.first) }, words);
}

/** Return a button that leads to a recalled block in the conversation. */
function besideOf(call, at, jump) {
  const beside = call.sent[at + 1] ?? call.sent[at - 1];
  return beside && beside.first !== null ? h("button", { type: "button", class: "plain", onclick: () => jump(call.sent[at + 1] ? beside.first : beside.last, true) }, "Show where") : null;
}

/** Return exactly what a call sent, run by run; what memory added is highlighted. */
function sentOf(call, jump) {
  let next = 0;
  const rows = [];
  for (const [at, part] of call.sent.entries()) {
    if (part.first !== null && part.first > next) {
      rows.push(h("li", { class: "left-out" }, range({ first: next, last: part.first - 1 }, jump), " not sent"));
    }
    if (part.last !== null) next = part.last + 1;
    if (part.kind === "same") rows.push(h("li", {}, range(part, jump), " as given"));
    else if (part.kind === "edited") rows.push(h("li", { class: "shortened" }, range(part, jump), " changed to:", h("div", { class: "as-sent", tabindex: "0", role: "group", "aria-label": "Changed message" }, sentText(part.text))));
    else rows.push(h("li", { class: "recalled" }, h("strong", {}, "Recalled from memory"), " ", besideOf(call, at, jump), said(part.text, "pre", { tabindex: "0", "aria-label": "Recalled block" })));
  }
  return h("ol", { class: "sent-list" }, rows);
}

/** Return the panel of one call. */
export function callPanel(call, jump, price) {
  const { tokens } = call;
  return h("div", { class: "call" },
    h("h3", {}, `Call ${count(call.number)}`), call.query ? h("p", { class: "soft clamped" }, "Question: ", said(call.query.slice(0, 200))) : null,
    figures(call, price),
    call.errors.map((each) => h("p", { class: "error" }, each)),
    tokens.limit && tokens.after > tokens.limit && !call.is_deferred ? h("p", { class: "error" }, "Over the limit: the rest is protected, and nothing more could be trimmed.") : null,
    call.is_deferred ? h("p", { class: "soft" }, "A trim is due and waits for the end of the tool loop.") : null,
    call.trimmed.length ? h("details", {}, h("summary", {}, `${plural(call.trimmed.length, "unit")} left the context in this call`),
      h("ul", {}, call.trimmed.map((each) => h("li", {}, h("button", { type: "button", class: "plain", onclick: () => jump(each.number) },
        `Message ${count(each.number + 1)}`), ` ${each.reason}: `, said(each.excerpt.slice(0, 120)))))) : null,
    h("h3", {}, "Sent to the model"), sentOf(call, jump));
}

/** Return the ranges of messages to show: the whole session, those given to a call, or those it sent. */
export function rangesOf(call, show, total) {
  if (show === "before") return [[0, call.given - 1]];
  if (show === "after") {
    const found = [];
    for (const { first, last } of call.sent) {
      const start = Math.max(first ?? 0, (found.at(-1)?.[1] ?? -1) + 1);
      if (first !== null && start <= last) found.push([start, last]);
    }
    return found;
  }
  return [[0, total - 1]];
}

/** Return what a call sent beside unchanged messages: blocks before and after a message, and texts in place of others. */
export function changesOf(call) {
  const found = { before: new Map(), after: new Map(), texts: new Map() };
  let last = null;
  let blocks = [];
  for (const part of call.sent) {
    if (part.kind === "recalled") {
      blocks.push(part.text);
      continue;
    }
    if (part.kind === "edited") found.texts.set(part.first, part.text);
    if (blocks.length) found.before.set(part.first, blocks);
    blocks = [];
    last = part.last;
  }
  if (blocks.length && last !== null) found.after.set(last, blocks);
  return found;
}

/** Return the marks of a message at a call: kept, shortened, evicted, or not said yet. */
export function marksAt(call) {
  const kept = [];
  const edited = new Set();
  for (const part of call.sent) {
    if (part.kind === "edited") edited.add(part.first);
    if (part.first !== null) kept.push([part.first, part.last]);
  }
  return (number) => {
    if (number >= call.given) return "later";
    if (edited.has(number)) return "shortened";
    return kept.some(([first, last]) => first <= number && number <= last) ? "kept" : "evicted";
  };
}

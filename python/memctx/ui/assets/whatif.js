// What if: the same stored session with two sets of settings, side by side.

import { address } from "/api.js";
import { choice, count, field, fill, h, percent, plural, short, toast } from "/dom.js";
import { sessionChoice, sessions as newestSessions } from "/names.js";
import { chartLegend, chartOf, costOf, play, priceField } from "/replay.js";

const ROWS = [
  ["Calls", (each) => count(each.calls)],
  ["Recalled", (each) => `${count(each.recalled)} in ${count(each.recalls)} calls`, (each) => each.recalled, 1],
  ["Largest prompt", (each) => `${short(each.peak)} tokens`, (each) => each.peak, -1],
  ["Above the window", (each) => plural(each.oversized, "call"), (each) => each.oversized, -1],
  ["Tokens sent", (each) => short(each.sent), (each) => each.sent, -1],
  ["Left the context", (each) => `${count(each.trimmed_messages)} messages in ${count(each.trims)} trims`],
  ["Results shortened", (each) => count(each.pruned)],
  ["Read from the cache", (each) => percent(each.cached_share), (each) => each.cached_share, 1],
  ["Cache breaks", (each) => count(each.breaks), (each) => each.breaks, -1],
  ["Cost of input", (each, price) => `${costOf(each.cost, price)} (${(each.cost / (each.unedited_cost || 1)).toFixed(2)}× of unedited)`, (each) => each.cost, -1],
  ["Cost by truncation", (each, price) => costOf(each.truncated_cost, price)],
  ["Facts", (each) => count(each.facts)],
  ["Added per call", (each) => `${each.latency_p50.toFixed(1)} ms, 95% within ${each.latency_p95.toFixed(1)} ms`],
  ["Replayed in", (each) => `${each.seconds.toFixed(1)} s`],
];

/** Return the fields of one set; those left empty are as `set`, the settings of the store. */
function settingsForm(name, set, preset) {
  const choices = (own, all) => [["", set[own]], ...all.filter((each) => each !== set[own]).map((each) => [each, each])];
  return h("fieldset", { "data-name": name }, h("legend", {}, `Settings ${name}`),
    field("context_window", "Window, tokens", { type: "number", min: 1000, value: set.context_window }),
    field("recall.hard_cap_tokens", "Cap of recalled text", { type: "number", min: 500, placeholder: set["recall.hard_cap_tokens"] }),
    field("recall.min_score", "Threshold", { type: "number", min: 0, max: 1, step: "any", placeholder: set["recall.min_score"], value: preset["recall.min_score"] ?? "" }),
    field("recall.window", "Neighbors recalled", { type: "number", min: 0, max: 10, placeholder: set["recall.window"] }),
    choice("placement", "Placement", choices("placement", ["stable", "head", "tail"]), ""),
    choice("embedding_model", "Embedder", choices("embedding_model", ["memctx", "hash"]), ""),
    choice("pruning.mode", "Pruning", choices("pruning.mode", ["cache-ttl", "off", "adaptive", "aggressive"]), ""),
    field("trim.protected_recent", "Newest messages kept", { type: "number", min: 0, placeholder: set["trim.protected_recent"] }));
}

function settingsOf(set) {
  const found = {};
  for (const { name, value } of set.elements) if (name && value !== "") found[name] = value;
  return found;
}

function compared(runs, price) {
  const totals = runs.map((each) => each.totals);
  const rows = ROWS.map(([title, show, value, sign]) => {
    const words = totals.map((each) => show(each, price));
    const better = value && words[0] !== words[1] ? ((value(totals[1]) - value(totals[0])) * sign > 0 ? 1 : 0) : -1;
    return h("tr", {}, h("th", { scope: "row" }, title), words.map((each, at) =>
      h("td", { class: better === at ? "better" : "" }, each, better === at ? h("span", { class: "sr" }, " (better)") : null)));
  });
  return h("table", { class: "compared" }, h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "A"), h("th", { scope: "col" }, "B"))), h("tbody", {}, rows));
}

export async function showWhatIf(body, parameters, page, isCurrent) {
  const { settings } = await page.ready;
  const sessions = await newestSessions();
  const session = await sessionChoice("session", "Session", parameters.session ?? sessions[0]?.id);
  if (!isCurrent()) return;
  const result = h("div", { class: "result" });
  const status = h("p", { role: "status", class: "soft" });
  let shown = null;
  const sets = [settingsForm("A", settings, {}), settingsForm("B", settings, { "recall.min_score": 0.5 })];
  const form = h("form", { class: "whatif-form" },
    h("div", { class: "controls" }, session,
      field("messages", "First messages", { type: "number", min: 1, max: 50000, value: 2000, required: true })),
    h("div", { class: "sides" }, sets), h("div", { class: "controls" }, priceField(page, () => { if (shown) show(shown); }), h("button", { disabled: !sessions.length }, "Play both"), status));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const runs = [];
      for (const [at, set] of sets.entries()) {
        const played = await play({ session: form.elements.session.value, settings: settingsOf(set), messages: Number(form.elements.messages.value) },
          (done, total) => { status.textContent = `Playing ${"AB"[at]}: ${count(done)} of ${count(total)} calls…`; }, isCurrent);
        if (!played) return;
        runs.push(played);
      }
      if (!isCurrent()) return;
      status.textContent = "Both were played.";
      show(runs);
    } catch (error) {
      toast(error.message, { isError: true });
      status.textContent = error.message;
    }
    button.disabled = false;
  });

  function show(runs) {
    shown = runs;
    const toml = (run) => address("settings.toml", { settings: JSON.stringify(run.settings) });
    fill(result, h("h2", {}, "Side by side"), compared(runs, page.price),
      h("div", { class: "sides" }, runs.map((run, at) => h("figure", { class: "run-chart" }, run.calls.after.length ? chartOf(run) : null,
        h("figcaption", {}, `${"AB"[at]}: tokens of every call, ${run.played < run.messages ? `first ${count(run.played)} messages` : "the whole session"}`)))), chartLegend(),
      h("div", { class: "controls" }, runs.map((run, at) => h("a", { class: "button", href: toml(run), download: `memctx-${"ab"[at]}.toml` }, `Settings ${"AB"[at]} as TOML`)),
        h("a", { class: "button", href: address("comparison.html", { first: runs[0].id, second: runs[1].id }), download: "memctx-comparison.html" }, "Comparison as one HTML file")));
  }

  fill(body, h("h1", {}, "What if"),
    h("p", { class: "soft" }, "Plays a stored session twice in a scratch copy. The store is only read; nothing leaves this machine."),
    sessions.length ? form : h("p", { class: "empty" }, "Nothing is archived yet."), result);
}

// Search as you type: hits with highlighted passages and the breakdown of each score.

import { latest } from "/api.js";
import { choice, count, debounced, field, fill, h, legend, marked, percent, plural, said, time } from "/dom.js";
import { askWhy } from "/message.js";
import { sessionChoice, titles } from "/names.js";

const FEW = 12;
const MOST = 100; // Hits that the server gives at most.

/** Return the bar of a score: how sure it is that the question is answered, and how this message ranks beside the best. */
function barOf(hit, threshold) {
  if (hit.certainty === null) return h("meter", { min: 0, max: 1, value: hit.score, "aria-label": `score ${hit.score.toFixed(2)}` });
  const label = `Score ${hit.score.toFixed(2)}: ${percent(hit.certainty)} sure that the question is answered; `
    + `ranked at ${percent(hit.share)} of the best. Recalled from ${percent(threshold)} on.`;
  return h("div", { class: "relevance", role: "img", "aria-label": label, title: label },
    h("div", { class: "track" },
      h("i", { class: "certainty", style: { width: `${hit.certainty * 100}%` } }),
      h("b", { class: "threshold", style: { left: `${threshold * 100}%` } })),
    h("div", { class: "track thin" }, h("i", { class: "share", style: { width: `${hit.share * 100}%` } })));
}

function tree(node) {
  const value = Math.abs(node.value) < 10 ? node.value.toFixed(4) : String(node.value);
  if (!node.parts.length) return h("li", {}, h("code", {}, value), " ", said(node.name));
  return h("li", {}, h("code", {}, value), " ", said(node.name), h("ul", {}, node.parts.map(tree)));
}

function hitOf(hit, threshold, titleOf) {
  const place = hit.number === null ? null : `#/session?${new URLSearchParams({ id: hit.session, at: hit.number })}`;
  const open = () => { if (place) location.hash = place; };
  return h("article", { class: `item hit ${hit.role}`, tabindex: "0", "aria-label": `${hit.role}, score ${hit.score.toFixed(2)}`,
    onkeydown: (event) => { if (event.key === "Enter" && event.target === event.currentTarget) open(); } },
  h("header", {}, h("span", { class: "role" }, hit.role), hit.tool ? said(hit.tool, "span", { class: "soft" }) : null,
    said(titleOf(hit.session), "span", { class: "soft in-session", title: hit.session }), h("span", { class: "soft end" }, time(hit.time))),
  h("p", { class: "text" }, hit.is_cut[0] ? "… " : "", marked(hit.text, hit.marks), hit.is_cut[1] ? " …" : ""),
  h("div", { class: "score" }, h("strong", {}, hit.score.toFixed(2)), barOf(hit, threshold),
    place ? h("a", { href: place }, "Open in its session") : null,
    h("button", { type: "button", class: "plain", onclick: () => askWhy(hit) }, "Why not recalled?")),
  hit.explanation ? h("details", {}, h("summary", {}, "How the score is made"), h("ul", { class: "tree" }, tree(hit.explanation))) : null);
}

const moment = (text, isEnd) => (text ? new Date(`${text}T${isEnd ? "23:59:59.999" : "00:00:00"}`).getTime() : "");

export async function showSearch(body, parameters, page, isCurrent) {
  const titleOf = await titles();
  const session = await sessionChoice("session", "Session", parameters.session ?? "", [["", "any"]]);
  if (!isCurrent()) return;
  const ask = latest();
  const results = h("div", { class: "results" });
  const status = h("p", { class: "soft", role: "status" });
  const topics = h("datalist", { id: "topics" });
  const run = debounced(() => search(), 60);
  const form = h("form", { class: "search-form", onsubmit: (event) => { event.preventDefault(); search(); }, oninput: run },
    h("input", { type: "search", name: "query", class: "big", "data-search": "", placeholder: "Search every message and fact", "aria-label": "Search",
      autocomplete: "off", maxlength: 2000, value: parameters.query ?? "" }),
    h("details", { class: "filters", open: Boolean(parameters.session) || innerWidth > 860 }, h("summary", {}, "Filters"), h("div", { class: "controls" },
      session,
      choice("role", "Role", [["", "any"], ["user", "user"], ["assistant", "assistant"], ["tool", "tool"]], ""),
      field("topic", "Topic", { list: "topics", autocomplete: "off" }), topics,
      field("since", "From", { type: "date" }), field("until", "To", { type: "date" }),
      choice("kind", "Show", [["all", "messages and facts"], ["messages", "messages"], ["facts", "facts"]], "all"))));

  async function search(limit = FEW) {
    const given = Object.fromEntries(new FormData(form));
    const query = given.query.trim();
    if (!query) {
      fill(results, h("p", { class: "empty" }, "Type a question, or some words of it."));
      status.textContent = "";
      return;
    }
    const started = performance.now();
    try {
      const found = await ask("search", { query, session: given.session, role: given.role, topic: given.topic.trim(),
        since: moment(given.since, false), until: moment(given.until, true), limit });
      if (!found || !isCurrent()) return;
      const hits = given.kind === "facts" ? [] : found.hits;
      const facts = given.kind === "messages" ? [] : found.facts;
      fill(topics, ...found.topics.map((value) => h("option", { value })));
      const best = (all, isCut, noun) => `${isCut ? "the best " : ""}${plural(all.length, noun)}`;
      const isCut = hits.length === limit;
      status.textContent = `Shown: ${best(hits, isCut, "message")} and ${best(facts, facts.length < found.facts_found, "fact")}, `
        + `found in ${count(Math.round(performance.now() - started))} ms`;
      fill(results, 
        ...facts.map((fact) => h("a", { class: "item fact-hit", href: `#/facts?${new URLSearchParams({ id: fact.id })}` },
          h("span", { class: "badge" }, fact.type), " ", said(fact.content), h("strong", { class: "end" }, fact.score.toFixed(2)))),
        ...hits.map((hit) => hitOf(hit, found.threshold, titleOf)));
      if (isCut && limit < MOST) {
        results.append(h("button", { type: "button", class: "plain more", onclick: async () => {
          await search(MOST);
          const shown = results.querySelectorAll(".hit");
          if (document.activeElement === document.body) (shown[limit] ?? shown[limit - 1])?.focus();
        } }, "Show more"));
      }
      if (!hits.length && !facts.length) results.append(h("p", { class: "empty" }, "Nothing found."));
    } catch (error) {
      if (isCurrent()) fill(results, h("p", { class: "error", role: "alert" }, error.message));
    }
  }

  page.keys.y = () => document.activeElement?.closest?.(".hit")?.querySelector("button")?.click();
  fill(body, h("h1", { class: "sr" }, "Search"), form, h("div", { class: "found" }, status,
    legend([["certainty", "certain"], ["line", "threshold"], ["share", "rank beside the best"]]),
    h("button", { type: "button", class: "plain", onclick: () => askWhy(null) }, "Why was a text not recalled?")), results);
  form.elements.query.focus();
  await search();
}

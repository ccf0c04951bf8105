// Facts: current and superseded ones, histories, contradictions, edits with undo, and what a turn would show.

import { get, latest, post } from "/api.js";
import { choice, count, debounced, field, fill, h, percent, plural, said, time, toast } from "/dom.js";
import { sessionChoice, titles } from "/names.js";

const sessionLink = (id, at) => `#/session?${new URLSearchParams(at === undefined ? { id } : { id, at })}`;

/** Ask for a text in a dialog; resolves to null if it is left. */
function askText(title, label, value) {
  return new Promise((resolve) => {
    const area = h("textarea", { name: "content", rows: 3, required: true, maxlength: 10000 });
    area.value = value;
    let answer = null;
    const form = h("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); answer = area.value.trim() || null; dialog.close(); } },
      h("h2", { id: "text-title" }, title), h("label", {}, h("span", {}, label), area),
      h("div", { class: "controls" }, h("button", {}, "Save"), h("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Cancel")));
    const dialog = h("dialog", { "aria-labelledby": "text-title", onclose: () => { dialog.remove(); resolve(answer); } }, form);
    document.body.append(dialog);
    dialog.showModal();
    area.focus();
  });
}

const DONE = { add: "Added.", update: "Edited.", supersede: "Superseded.", forget: "Forgotten; its history is kept.", restore: "Stated again." };
const UNDONE = { update: "The earlier wording is back.", forget: "Forgotten again.", restore: "The earlier fact is stated again." };

/** Make one change; tell the outcome, and offer to undo it, as the server says how. Resolves to true if it was made. */
async function change(action, body, after, isUndo = false) {
  let made = null;
  try {
    made = await post(`facts/${action}`, body);
    const undo = isUndo ? null : made.undo;
    const words = (isUndo ? UNDONE : DONE)[action];
    const known = undo ? `${words} The new wording was known already.` : "Known already.";
    toast(made.is_known ? known : words, undo ? { label: "Undo", action: () => change(undo.action, undo, after, true) } : {});
  } catch (error) {
    toast(error.message, { isError: true });
    if (!error.status) return false; // The server is gone.
  }
  await after(made?.fact.id);
  return made !== null;
}

function editsOf(fact, after) {
  const known = { id: fact.id, revision: fact.revision };
  const button = (label, onclick, name = "plain") => h("button", { type: "button", class: name, onclick }, label);
  const reword = (action, title, label) => async () => {
    const content = await askText(title, label, fact.content);
    if (content && content !== fact.content) change(action, { ...known, content }, after);
  };
  const edits = fact.state === "forgotten" ? button("Restore", () => change("restore", { id: fact.id }, after)) : [
    button("Edit", reword("update", "Edit the fact", "New wording, under the same id")),
    button("Supersede", reword("supersede", "Supersede the fact", "New fact in its place")),
    button("Forget", () => change("forget", known, after), "danger"),
  ];
  return h("div", { class: "edits" }, edits);
}

/** Replace the items of a list. Open histories stay open; the focus stays at its fact, goes to that of `id`, or to the next one. */
function refill(list, id, ...children) {
  const before = [...list.querySelectorAll(".item")];
  const at = before.findIndex((item) => item.contains(document.activeElement));
  const isLost = at >= 0 || (id && document.activeElement === document.body); // The button of a toast is gone, too.
  const open = new Set(before.filter((item) => item.querySelector("details[open]")).map((item) => item.dataset.id));
  fill(list, ...children);
  const items = [...list.querySelectorAll(".item")];
  for (const item of items) if (open.has(item.dataset.id)) item.querySelector("details").open = true;
  if (!isLost) return;
  const of = (wanted) => items.find((item) => item.dataset.id === wanted);
  (of(id) ?? of(before[at]?.dataset.id) ?? items[Math.min(at, items.length - 1)] ?? document.getElementById("main")).focus();
}

function factOf(fact, { mayWrite, titleOf }, after) {
  const history = h("div", { class: "history" });
  const details = h("details", {}, h("summary", {}, "History and sources"), history);
  details.addEventListener("toggle", async () => {
    if (!details.open) return;
    try {
      fill(history, historyOf(await get("fact", { id: fact.id })));
    } catch (error) {
      fill(history, h("p", { class: "error" }, error.message));
    }
  });
  return h("article", { class: `item fact ${fact.state}`, tabindex: "0", "data-id": fact.id, "aria-label": `${fact.type}, ${fact.state}` },
    h("header", {}, h("span", { class: "badge" }, fact.type), fact.state === "active" ? null : h("span", { class: "badge state" }, fact.state),
      h("span", { class: "soft end" }, time(fact.time))),
    said(fact.content, "p", { class: "text" }),
    h("p", { class: "soft" }, fact.context ? [said(fact.context), " · "] : "", fact.session ? h("a", { href: sessionLink(fact.session), title: fact.session }, said(titleOf(fact.session))) : "no session"),
    mayWrite && fact.state !== "superseded" ? editsOf(fact, after) : null, details);
}

function historyOf(found) {
  return h("div", {},
    h("ol", {}, found.states.map((each) => h("li", { class: each.state }, h("span", { class: "badge" }, each.state), " ", said(each.content), " ",
      h("span", { class: "soft" }, time(each.time))))),
    found.sources.length ? h("ul", {}, found.sources.map((each) => h("li", {}, h("a", { href: `#/session?${new URLSearchParams({ id: each.session })}`,
      onclick: async (event) => {
        event.preventDefault();
        const at = await get("find", { id: each.id });
        location.hash = sessionLink(at.session, at.number);
      } }, `${each.role}: `), said(each.text)))) : h("p", { class: "soft" }, "No source message is recorded."),
    found.missing ? h("p", { class: "soft" }, `${plural(found.missing, "source")} no longer stored.`) : null);
}

function pairOf(pair, options, after) {
  const side = (label, fact) => h("div", {}, h("h3", {}, label), factOf(fact, options, after));
  return h("div", { class: "pair" }, h("p", { class: "soft" }, `Reason: the newer one ${pair.reason}.`), h("div", { class: "sides" }, side("Older", pair.older), side("Newer", pair.newer)));
}

/** Return a form that shows the block of a question, asked in the session that `chosen` returns. */
function previewForm(chosen) {
  const answer = h("div", { role: "status" });
  const form = h("form", { class: "stack", onsubmit: async (event) => {
    event.preventDefault();
    fill(answer, "Searching…");
    try {
      const found = await get("preview", { question: form.elements.question.value, session: chosen() });
      const sure = found.certainty === null ? "" : `${percent(found.certainty ?? 0)} certain that messages answer it; they are recalled from ${percent(found.threshold)} on. Facts that match are always shown.`;
      fill(answer, h("p", { class: "soft" }, sure, found.degraded ? ` ${found.degraded}` : ""), found.text
        ? h("div", {}, h("p", {}, `${plural(found.items.length, "item")}, ${count(found.tokens)} of ${count(found.room)} tokens:`), said(found.text, "pre", { class: "block", tabindex: "0", "aria-label": "Recalled block" }))
        : h("p", { class: "empty" }, "A turn would recall nothing."));
    } catch (error) {
      fill(answer, h("p", { class: "error", role: "alert" }, error.message));
    }
  } }, field("question", "Question that a user asks", { required: true, autocomplete: "off", maxlength: 2000 }),
  h("div", { class: "controls" }, h("button", {}, "Show the block")), answer);
  return h("section", { class: "preview", "aria-label": "What a turn would show" }, h("h2", {}, "What a turn would show"),
    h("p", { class: "soft" }, "Asked in the session selected above, after its window was emptied; without one, in a session that sees all others."), form);
}

async function addForm(session, types, after) {
  const sessions = await sessionChoice("session", "Session", session);
  const form = h("form", { class: "stack", onsubmit: async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    if (await change("add", given, after)) form.elements.content.value = "";
  } },
  h("label", {}, h("span", {}, "Fact"), h("textarea", { name: "content", rows: 2, required: true, maxlength: 10000 })),
  h("div", { class: "controls" }, choice("type", "Type", types.map((each) => [each, each]), "config"), sessions),
  h("div", { class: "controls" }, h("button", {}, "Add")));
  return h("details", { class: "add" }, h("summary", {}, "Add a fact"), form);
}

export async function showFacts(body, parameters, page, isCurrent) {
  const { may_write: mayWrite } = await page.ready;
  const options = { mayWrite, titleOf: await titles() };
  const session = parameters.session ?? "";
  const sessions = await sessionChoice("session", "Session", session, [["", "any"]]);
  if (!isCurrent()) return;
  const ask = latest();
  const list = h("div", { class: "facts-list" });
  const pairs = h("section", { class: "contradictions", "aria-label": "Contradictions" });
  const status = h("p", { class: "soft", role: "status" });
  const adding = h("div");
  const run = debounced(() => refresh(), 80);
  const form = h("form", { class: "search-form", oninput: run, onsubmit: (event) => { event.preventDefault(); refresh(); } },
    h("input", { type: "search", name: "query", class: "big", "data-search": "", placeholder: "Facts that answer a question", "aria-label": "Search facts", autocomplete: "off", maxlength: 2000 }),
    h("div", { class: "controls" }, choice("type", "Type", [["", "any"]], ""), sessions,
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "superseded", value: "yes" }), h("span", {}, "Include superseded and forgotten facts"))));

  async function refresh(id) {
    const given = Object.fromEntries(new FormData(form));
    const found = await ask("facts", { query: given.query.trim(), type: given.type, session: given.session, superseded: given.superseded });
    if (!found || !isCurrent()) return;
    const select = form.elements.type;
    if (select.options.length === 1) {
      select.append(...found.types.map((value) => h("option", { value }, value)));
      if (mayWrite) fill(adding, await addForm(session, found.types, reload));
    }
    status.textContent = `${plural(found.found, "fact")} shown, ${count(found.active)} active${found.found > found.facts.length ? `; the first ${count(found.facts.length)} are shown` : ""}`;
    refill(list, id, found.facts.map((fact) => factOf(fact, options, reload)), found.facts.length ? null : h("p", { class: "empty" }, "No facts."));
  }

  async function reload(id) {
    if (!isCurrent()) return;
    await refresh(id);
    const { pairs: found, compared } = await get("contradictions");
    if (!isCurrent()) return;
    refill(pairs, id, h("h2", {}, "Contradictions"), found.length ? h("p", { class: "soft" }, `Among the newest ${plural(compared, "fact")}:`)
      : h("p", { class: "soft" }, `None among the newest ${plural(compared, "fact")}.`), ...found.map((each) => pairOf(each, options, reload)));
  }

  fill(body, h("h1", { class: "sr" }, "Facts"), form, status, h("div", { class: "columns" }, h("div", {}, list), h("div", {}, adding, previewForm(() => form.elements.session.value), pairs)));
  await reload();
  if (parameters.id && isCurrent()) {
    const chosen = [...list.children].find((each) => each.dataset?.id === parameters.id);
    if (chosen) {
      chosen.querySelector("details").open = true;
      chosen.focus();
    } else list.prepend(h("article", { class: "item fact", tabindex: "0" }, h("h3", {}, "History"), historyOf(await get("fact", { id: parameters.id }))));
  }
}

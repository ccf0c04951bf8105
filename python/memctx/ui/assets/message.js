// One message: its head, its text by parts, and the dialog that explains why it is not recalled.

import { get } from "/api.js";
import { choice, count, field, fill, h, plural, said, time, toast } from "/dom.js";

const PART = 100000;

/** Return a button that adds the next part of a long message, and at last removes itself. */
function more(message, into) {
  let shown = [...message.text].length; // Code points, as the server counts; the length of a JavaScript string is another one.
  const left = () => `Show more (${count(shown)} of ${count(message.length)} characters)`;
  const button = h("button", { type: "button", class: "plain more" }, left());
  button.addEventListener("click", async (event) => {
    event.stopPropagation();
    button.disabled = true;
    try {
      const part = await get("message", { session: message.session, number: message.number, start: shown, count: PART });
      into.append(said(part.text));
      shown += [...part.text].length;
      button.textContent = left();
      if (!part.text || shown >= part.length) button.remove();
    } catch (error) {
      toast(error.message, { isError: true });
    }
    button.disabled = false;
  });
  return button;
}

const BLOCK = /(<recalled-context\b[\s\S]*?<\/recalled-context>)/;

/** Return text that was sent, with recalled blocks in it highlighted. */
export function sentText(text) {
  return text.split(BLOCK).filter(Boolean).map((part) =>
    (BLOCK.test(part) ? said(part, "pre", { class: "block" }) : said(part)));
}

/** Return a recalled block that was sent as a message of its own. */
export function blockOf(text) {
  return h("article", { class: "item recalled-block", tabindex: "0", "aria-label": "Recalled block, added by memory" },
    h("header", {}, h("span", { class: "role" }, "memory"), h("span", { class: "badge mark-recalled" }, "recalled block")),
    said(text, "pre", { class: "block" }));
}

/** Return a message as the session shows it; `marks` are names of what became of it, `changed` is what was sent of it. */
export function messageOf(message, { marks = [], isCurrent = false, changed = null, isOriginalShown = true } = {}) {
  const text = h("div", { class: "text" }, said(message.text));
  const original = isOriginalShown ? [text, message.length > [...message.text].length ? more(message, text) : null] : null;
  const sent = changed === null ? null
    : [original ? h("p", { class: "soft" }, "Sent as:") : null, h("div", { class: "text as-sent" }, sentText(changed))];
  const label = `${message.role}, message ${count(message.number + 1)}${marks.length ? `, ${marks.join(", ")}` : ""}`;
  return h("article", { class: ["item", "message", message.role, ...marks, isCurrent ? "current" : ""].join(" "), tabindex: "0",
    "data-number": message.number, "data-id": message.id, "aria-label": label },
  h("header", {},
    h("span", { class: "role" }, message.role), message.tool ? said(message.tool, "span", { class: "soft" }) : null,
    marks.map((mark) => h("span", { class: `mark-${mark} badge` }, mark)),
    h("span", { class: "soft end" }, `#${count(message.number + 1)} · ${plural(message.tokens, "token")} · `, h("time", {}, time(message.time))),
    h("button", { type: "button", class: "plain why", title: "Why was it not recalled? (y)", onclick: () => askWhy(message) }, "Why?")),
  original, sent);
}

function steps(found) {
  return h("ol", { class: "steps" }, found.steps.map((each) => h("li", { class: each.state },
    h("strong", {}, each.name), " ", said(each.words),
    each.needed === null || each.value === null ? null : h("meter", { min: 0, max: Math.max(each.needed, each.value), value: each.value,
      "aria-label": `${each.name}: ${each.value} of ${each.needed}` }))));
}

/** Ask for a question, and explain step by step whether a turn with it would recall the message. */
export function askWhy(message) {
  const answer = h("div", { role: "status" });
  const form = h("form", { class: "stack" },
    field("question", "Question that a user asks", { required: true, autocomplete: "off", maxlength: 2000 }),
    message ? null : h("label", {}, h("span", {}, "Text of the message"), h("textarea", { name: "text", rows: 3, required: true })),
    h("div", { class: "controls" },
      choice("asked", "Asked", [["emptied", "in its session, window emptied"], ["same", "later in its session"],
        ["other", "in another session"]], "emptied"),
      field("window", "Window, tokens", { type: "number", min: 1000, placeholder: "as set" }),
      field("threshold", "Threshold, 0 to 1", { type: "number", min: 0, max: 1, step: "any", placeholder: "as set" })),
    h("div", { class: "controls" }, h("button", {}, "Explain"), h("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Close")),
    answer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    fill(answer, "Searching…");
    try {
      const found = await get("why", { ...given, id: message?.id });
      fill(answer, h("p", { class: found.is_recalled ? "verdict yes" : "verdict no" },
        h("strong", {}, found.is_recalled ? "It is recalled. " : "It is not recalled. "), said(found.verdict)), steps(found));
    } catch (error) {
      fill(answer, h("p", { class: "error", role: "alert" }, error.message));
    }
  });
  const dialog = h("dialog", { class: "wide", "aria-labelledby": "why-title", onclose: () => dialog.remove() },
    h("h2", { id: "why-title" }, "Why was it not recalled?"),
    message ? h("blockquote", {}, said(message.text.length > 300 ? `${message.text.slice(0, 300)}…` : message.text)) : null, form);
  document.body.append(dialog);
  dialog.showModal();
  form.elements.question.focus();
}

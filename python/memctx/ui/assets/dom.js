// Elements without markup: every text goes in as a text node, so that nothing of a message is ever parsed.

const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "open", "selected", "tabIndex"]);

/** Return an element; attributes that are null or false are left out, `on…` are listeners, `style` is an object. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [each, to] of Object.entries(value)) element.style.setProperty(each, to);
    else if (PROPERTIES.has(key)) element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...present(children));
  return element;
}

const present = (children) => children.flat(9).filter((child) => child !== null && child !== undefined && child !== false);

/** Replace what an element holds; children that are null or false are left out. */
export function fill(element, ...children) {
  element.replaceChildren(...present(children));
}

const SVG = "http://www.w3.org/2000/svg";

/** Return an SVG element. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Return text of a message: isolated, so that its direction does not change the text around it. */
export function said(text, name = "span", attributes = {}) {
  return h(name, { dir: "auto", ...attributes, class: `said ${attributes.class ?? ""}`.trim() }, visible(text));
}

// Embeddings and overrides of text direction, and characters without width that hide text.
const HIDDEN = /[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]/g;

function visible(text) {
  return text.replace(HIDDEN, (found) => `⟨U+${found.charCodeAt(0).toString(16).toUpperCase()}⟩`);
}

/** Return a text with spans of it marked; they count code points, as the server does. */
export function marked(text, spans) {
  const points = [...text];
  const part = (start, end) => visible(points.slice(start, end).join(""));
  const parts = [];
  let done = 0;
  for (const [start, end] of spans) {
    if (start < done) continue;
    parts.push(part(done, start), h("mark", {}, part(start, end)));
    done = end;
  }
  parts.push(part(done));
  return h("span", { dir: "auto", class: "said" }, parts);
}

const whole = new Intl.NumberFormat("en-US");
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export const count = (number) => whole.format(number);
export const short = (number) => compact.format(number);
export const percent = (share) => `${Math.round(share * 100)}%`;
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

/** Return a time in the reader's zone; a question mark for one that no calendar has. */
export function time(milliseconds, format = moment) {
  if (milliseconds === null || milliseconds === undefined) return "";
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? "?" : format.format(date);
}

export const date = (milliseconds) => time(milliseconds, day);

export function bytes(size) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit ? size.toFixed(1) : size} ${units[unit]}`;
}

/** Show a message for a while, with a button if there is something to do about it; such a one is not dropped for later ones. */
export function toast(words, { action, label, isError = false } = {}) {
  const element = h("div", { class: ["toast", isError && "error", action && "offer"].filter(Boolean).join(" ") }, h("span", {}, words));
  const close = () => element.remove();
  if (action) {
    element.append(h("button", { type: "button", onclick: () => { close(); action(); } }, label));
  }
  element.append(h("button", { type: "button", class: "plain", "aria-label": "Dismiss", onclick: close }, "×"));
  const all = document.getElementById("toasts");
  const passing = all.querySelectorAll(".toast:not(.offer)");
  [...passing].slice(0, Math.max(all.children.length - 3, 0)).forEach((each) => each.remove());
  all.append(element);
  setTimeout(close, action ? 30000 : 8000);
}

/** Return a select element of pairs of value and label. */
export function choice(name, label, options, value, onchange) {
  return h("label", {}, h("span", {}, label),
    h("select", { name, onchange }, options.map(([each, words]) =>
      h("option", { value: each, selected: each === value }, words))));
}

/** Return a legend of pairs of class and words. */
export function legend(entries) {
  return h("p", { class: "legend" }, entries.map(([name, words]) => h("span", {}, h("i", { class: `key ${name}` }), words)));
}

/** Return a labeled input. */
export function field(name, label, attributes = {}) {
  return h("label", {}, h("span", {}, label), h("input", { name, ...attributes }));
}

/** Call a function when its last call lies some time back. */
export function debounced(run, milliseconds) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), milliseconds);
  };
}

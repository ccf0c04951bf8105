// The shell of the page: views by the part of the address behind #, keys, help.

import { get } from "/api.js";
import { fill, h, toast } from "/dom.js";
import { showOverview } from "/overview.js";
import { showSession } from "/session.js";
import { showSearch } from "/search.js";
import { showFacts } from "/facts.js";
import { showWhatIf } from "/whatif.js";

const VIEWS = {
  "": { title: "Overview", show: showOverview },
  search: { title: "Search", show: showSearch },
  facts: { title: "Facts", show: showFacts },
  whatif: { title: "What if", show: showWhatIf },
  session: { title: "Session", show: showSession, isHidden: true },
};
const KEYS = [
  ["/", "Search messages"],
  ["g o, g s, g f, g w", "Go to overview, search, facts, what if"],
  ["j, k or ↓, ↑", "Next and previous item of a list"],
  ["Enter", "Open the item"],
  ["← →", "Previous and next call, in a replayed session"],
  ["v", "The conversation before, after, or both, in a replayed session"],
  ["Home, End", "First and last message of a session"],
  ["y", "Why was this message not recalled?"],
  ["Esc", "Close, or leave a field"],
  ["?", "This help"],
];

const main = document.getElementById("main");
const help = document.getElementById("help");
const page = { keys: {}, leave: null, ready: get("page") };
let visits = 0;

/** Return the name and the parameters of the view in the address. */
function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { name: path in VIEWS ? path : "", parameters: Object.fromEntries(new URLSearchParams(query)) };
}

async function show() {
  const { name, parameters } = place();
  const visit = (visits += 1);
  page.leave?.();
  page.keys = {};
  page.leave = null;
  document.title = `${VIEWS[name].title} · memctx`;
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const body = h("div", { class: `view ${name || "overview"}` });
  fill(main, body);
  // Not at first: the keyboard then starts at the top of the page.
  if (visit > 1 && document.activeElement === document.body) main.focus();
  main.scrollTop = 0;
  try {
    await VIEWS[name].show(body, parameters, page, () => visit === visits);
  } catch (error) {
    if (visit === visits) fill(body, h("p", { class: "error", role: "alert" }, error.message));
  }
}

function showHelp() {
  fill(help, 
    h("h2", { id: "help-title" }, "Keyboard"),
    h("dl", { class: "keys" }, KEYS.map(([key, words]) => [h("dt", {}, key), h("dd", {}, words)])),
    h("button", { type: "button", onclick: () => help.close() }, "Close"),
  );
  help.showModal();
}

const isField = (element) => element?.matches?.("input, textarea, select, [contenteditable]");

/** Move the focus along the items of the view. */
function step(by) {
  const items = [...main.querySelectorAll(".item")].filter((item) => item.getClientRects().length);
  if (!items.length) return;
  const at = items.findIndex((item) => item === document.activeElement || item.contains(document.activeElement));
  const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + by, 0), items.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

let isGoing = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isField(document.activeElement)) {
    document.activeElement.blur();
    return;
  }
  if (isField(event.target) || document.querySelector("dialog[open]")) return;
  if (isGoing) {
    isGoing = false;
    const view = { o: "", s: "search", f: "facts", w: "whatif" }[event.key];
    if (view !== undefined) location.hash = `#/${view}`;
    return;
  }
  const own = page.keys[event.key];
  const common = {
    "/": () => (document.querySelector("[data-search]") ?? { focus: () => { location.hash = "#/search"; } }).focus(),
    "?": showHelp,
    g: () => { isGoing = true; setTimeout(() => { isGoing = false; }, 1500); },
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
  }[event.key];
  const run = own ?? common;
  if (run) {
    event.preventDefault();
    run(event);
  }
});

document.getElementById("nav").append(...Object.entries(VIEWS).filter(([, view]) => !view.isHidden).map(([name, view]) =>
  h("a", { href: `#/${name}`, "data-view": name }, view.title)));
document.getElementById("help-button").addEventListener("click", showHelp);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
window.addEventListener("hashchange", show);
window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  toast(event.reason.message, { isError: true });
});

page.ready.then(({ may_write: mayWrite, store }) => {
  const mode = document.getElementById("mode");
  mode.textContent = mayWrite ? "edits on" : "read-only";
  mode.title = store;
  mode.hidden = false;
}).catch(() => null); // The view shows the error.
show();

// The overview: sessions by host and project, a timeline, the health of the store.

import { get, latest, post } from "/api.js";
import { bytes, count, date, debounced, fill, h, percent, plural, said, short, svg, time, toast } from "/dom.js";

/** Return a bar chart of messages over time; a click on a bar calls `choose` with its first moment. */
export function timelineOf({ first, last, counts }, choose) {
  if (!counts.length) return null;
  const top = Math.max(...counts, 1);
  const width = (last - first) / counts.length;
  const label = `Messages from ${date(first)} to ${date(last)}, at most ${count(top)} in one of ${counts.length} periods`;
  const chart = svg("svg", { viewBox: `0 0 ${counts.length * 10} 60`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  counts.forEach((value, at) => {
    const height = value ? Math.max(2, (value / top) * 58) : 0;
    const bar = svg("rect", { x: at * 10 + 1, y: 60 - height, width: 8, height, class: "bar-mark" });
    const hit = svg("rect", { x: at * 10, y: 0, width: 10, height: 60, class: "bar-hit" });
    const title = svg("title");
    title.textContent = `${date(first + at * width)}: ${plural(value, "message")}`;
    hit.append(title);
    if (choose && value) hit.addEventListener("click", () => choose(first + at * width));
    chart.append(bar, hit);
  });
  return h("figure", { class: choose ? "timeline can-choose" : "timeline" }, chart,
    h("figcaption", {}, h("span", {}, date(first)), h("span", {}, date(last))));
}

const linkTo = (session) => `#/session?${new URLSearchParams({ id: session.id })}`;

function row(session) {
  return h("a", { class: "item row", href: linkTo(session) },
    said(session.title, "span", { class: "row-title" }),
    h("span", { class: "row-facts" },
      h("span", {}, plural(session.messages, "message")),
      h("span", {}, `${short(session.tokens)} tokens`),
      session.compactions ? h("span", {}, plural(session.compactions, "compaction")) : null,
      h("time", {}, time(session.last))));
}

/** Return sessions under the headings of their hosts and projects, in the order of the newest of each. */
function groups(sessions) {
  const found = new Map();
  for (const session of sessions) {
    const name = [session.host, session.folder].filter(Boolean).join(" · ") || "no host recorded";
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(session);
  }
  return [...found].map(([name, all]) => h("section", { class: "group" },
    h("h2", {}, said(name), h("span", { class: "soft" }, said(all[0].project || ""), all[0].project ? " · " : "", plural(all.length, "session"))), all.map(row)));
}

function tile(name, value, note = "") {
  return h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), h("dd", { class: "note" }, note));
}

function chore(name, ...words) {
  return [h("dt", {}, name), h("dd", {}, words.filter(Boolean).join(", "))];
}

/** Return how far the index on disk is, which finds messages that are not in memory. */
function indexed(index, evicted) {
  if (!evicted) return ["not needed, all messages are in memory"];
  if (!index || index.state === "absent") return ["not made yet; `memctx reindex` makes it"];
  return [index.state, `${percent(index.log_bytes ? index.indexed_bytes / index.log_bytes : 1)} of the messages`];
}

async function fillHealth(into, isCurrent) {
  let found;
  try {
    found = await get("health");
  } catch (error) {
    if (isCurrent()) fill(into, h("p", { class: "error", role: "alert" }, error.message));
    return;
  }
  if (!isCurrent()) return;
  const index = found.disk_index;
  const state = found.degraded ? "degraded" : found.is_ok ? "healthy" : "damaged";
  const { embedding } = found;
  fill(into,
    h("div", { class: "titled" }, h("h2", {}, "Store"), h("span", { class: `pill ${state}` }, state)),
    found.reasons.length ? h("ul", { class: "reasons" }, found.reasons.map((each) => h("li", {}, each))) : null,
    h("dl", { class: "tiles small" },
      tile("Messages in memory", count(found.segments), found.evicted ? `${count(found.evicted)} on disk only` : "all of them"),
      tile("Active facts", count(found.facts.active), `${count(found.facts.superseded)} superseded, ${count(found.facts.forgotten)} forgotten`),
      tile("On disk", bytes(found.disk.total), `messages ${bytes(found.disk.log)}, vectors ${bytes(found.disk.vectors)}, index ${bytes(found.disk.index)}`)),
    found.server?.fault ? h("p", { class: "error", role: "alert" }, `The server was not reached, what follows is as it was: ${found.server.fault}`) : null,
    h("h3", {}, "Maintenance"),
    h("dl", { class: "chores" },
      chore("Vectors", embedding.used ? `by ${embedding.used}` : "none", embedding.lacking ? `${count(embedding.lacking)} to make, in the background` : "all are made"),
      embedding.note ? chore("", embedding.note) : null,
      chore("Disk index", ...indexed(index, found.evicted)),
      found.server ? chore("Server", `namespace ${found.server.namespace}`, found.server.fault ? "not reached" : "in step") : null,
      chore("Damage", found.damaged ? `${plural(found.damaged, "line")} cannot be read` : "none found", found.repaired ? `${plural(found.repaired, "line")} repaired` : "")),
    h("button", { type: "button", onclick: verify }, "Verify the store"),
    h("div", { id: "verified", role: "status" }),
    h("p", { class: "soft path" }, found.path));
}

async function verify(event) {
  const button = event.currentTarget;
  const into = document.getElementById("verified");
  button.disabled = true;
  fill(into, "Reading everything…");
  try {
    const found = await post("verify");
    const read = `Read ${plural(found.segments, "message")}, ${plural(found.facts, "state")} of facts and ${plural(found.vectors, "vector")}. `;
    fill(into, read, found.found ? `${plural(found.found, "fault")}; \`memctx verify --repair\` moves them out of the way:` : "No damage found.",
      h("ul", {}, found.problems.map((each) => h("li", {}, `${each.file}, line ${each.line ?? "?"}: ${each.fault}`))));
  } catch (error) {
    fill(into);
    toast(error.message, { isError: true });
  }
  button.disabled = false;
}

export async function showOverview(body, parameters, page, isCurrent) {
  const ask = latest();
  const list = h("div", { class: "sessions" });
  const filter = h("input", { type: "search", placeholder: "Filter by title, host, project or id", "aria-label": "Filter sessions",
    oninput: debounced(refresh, 120) });
  const summary = h("span", { class: "soft", role: "status" });
  const health = h("section", { class: "health", "aria-label": "Health of the store" }, h("p", { class: "soft" }, "Opening the memory…"));
  const timeline = h("div");

  async function refresh() {
    const found = await ask("overview", { filter: filter.value.trim() });
    if (!found || !isCurrent()) return null;
    summary.textContent = `${plural(found.total, "session")}, ${plural(found.messages, "message")}, ${short(found.tokens)} tokens`
      + (found.found < found.total ? ` · ${count(found.found)} match` : "")
      + (found.found > found.sessions.length ? ` · the newest ${count(found.sessions.length)} are shown` : "");
    fill(list, ...groups(found.sessions));
    if (!found.total) list.append(h("p", { class: "empty" }, "Nothing is archived yet."));
    return found;
  }

  const found = await refresh();
  if (!found) return;
  fill(timeline, ...[timelineOf(found.timeline)].filter(Boolean));
  fill(body, h("div", { class: "titled" }, h("h1", {}, "Sessions"), summary), timeline,
    h("div", { class: "columns" }, h("div", {}, h("div", { class: "controls" }, filter), list), health));
  fillHealth(health, isCurrent);
}

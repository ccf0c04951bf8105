// Names of sessions, for the views that show them beside other things.

import { get } from "/api.js";
import { choice, count } from "/dom.js";

const FRESH = 20000; // Milliseconds for which the names are kept.
const LONGEST = 60;

let asked = null;
let askedAt = 0;

const shortened = (text) => ([...text].length > LONGEST ? `${[...text].slice(0, LONGEST - 1).join("")}…` : text);

/** Return the newest sessions, as the overview has them. */
export function sessions() {
  if (!asked || performance.now() - askedAt > FRESH) {
    askedAt = performance.now();
    asked = get("overview").then((found) => found.sessions);
    asked.catch(() => { asked = null; });
  }
  return asked;
}

/** Return a function from the id of a session to its title; the id itself for one that is not among the newest. */
export async function titles() {
  const known = new Map((await sessions()).map((each) => [each.id, each.title]));
  return (id) => shortened(known.get(id) ?? id);
}

/** Return a select element of sessions; `first` are choices before them. */
export async function sessionChoice(name, label, value, first = []) {
  const found = await sessions();
  const options = found.map((each) => [each.id, `${shortened(each.title)} (${count(each.messages)} messages)`]);
  if (value && !found.some((each) => each.id === value)) options.unshift([value, value]);
  return choice(name, label, [...first, ...options], value);
}

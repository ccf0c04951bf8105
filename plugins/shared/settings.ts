/** Settings of memctx by the names of an `openclaw.json`, as variables of the environment. */
import { OPENCLAW_NAMES, SETTINGS } from "./definitions.js";

const KNOWN = new Set(SETTINGS);
const GROUPS = new Set(SETTINGS.filter((path) => path.includes(".")).map((path) => path.split(".")[0]));

export interface Environment {
  env: Record<string, string>;
  /** Names that memctx does not have. */
  unknown: string[];
}

/**
 * Return the variables for settings: camelCase or dotted names, groups as objects.
 *
 * `knowledgeExtraction: true` is left out: it is what memctx does anyway, by rules where no model is named.
 */
export function toEnvironment(settings: Readonly<Record<string, unknown>>): Environment {
  const found: Environment = { env: {}, unknown: [] };
  for (const [given, value] of Object.entries(settings)) collect(given, value, found);
  return found;
}

function collect(given: string, value: unknown, found: Environment): void {
  const name = given.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const path = OPENCLAW_NAMES[name] ?? name;
  if (value === undefined || value === null) return;
  if (KNOWN.has(path)) {
    if (path === "knowledge_extraction" && value === true) return;
    const variable = `MEMCTX_${path.toUpperCase().replaceAll(".", "_")}`;
    found.env[variable] = typeof value === "string" ? value : JSON.stringify(value);
  } else if (GROUPS.has(path) && typeof value === "object" && !Array.isArray(value)) {
    for (const [inner, each] of Object.entries(value)) collect(`${given}.${inner}`, each, found);
  } else {
    found.unknown.push(given);
  }
}

#!/usr/bin/env node
/**
 * Prints an `openclaw.json` with memctx in the memory slot: `memctx-migrate-openclaw openclaw.json > new.json`.
 *
 * Current hosts refuse the block `agents.defaults.memoryContext`; its settings move to `plugins.entries.memctx.config`,
 * and so do those of the plugin `memory-context`.
 */
import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";

type Settings = Record<string, unknown>;

/** Return the settings with memctx in the memory slot; the given ones are not changed. */
export function migrate(given: Settings): Settings {
  const settings = structuredClone(given);
  const defaults = inner(inner(settings, "agents"), "defaults");
  const plugins = inner(settings, "plugins");
  const entries = inner(plugins, "entries");
  const former = inner(entries, "memory-context");
  const block = inner(defaults, "memoryContext");
  const own = inner(entries, "memctx");
  own["config"] = { ...inner(former, "config"), ...block, ...inner(own, "config") };
  // Without these the host does not run the hooks of a plugin that it does not bundle.
  own["hooks"] = { allowConversationAccess: true, allowPromptInjection: true, ...inner(own, "hooks") };
  own["enabled"] ??= former["enabled"] ?? true;
  delete entries["memory-context"];
  delete defaults["memoryContext"];
  entries["memctx"] = own;
  // It has tools of the same names, and stays loaded without the slot.
  entries["memory-core"] = { ...inner(entries, "memory-core"), enabled: false };
  plugins["entries"] = entries;
  plugins["slots"] = { ...inner(plugins, "slots"), memory: "memctx" };
  settings["plugins"] = plugins;
  return settings;
}

function inner(settings: Settings, name: string): Settings {
  const value = settings[name];
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Settings) : {};
}

function main(path: string | undefined): number {
  if (path === undefined) {
    process.stderr.write("usage: memctx-migrate-openclaw openclaw.json > new.json\n");
    return 2;
  }
  try {
    const settings = JSON.parse(readFileSync(path, "utf8")) as Settings;
    process.stdout.write(`${JSON.stringify(migrate(settings), null, 2)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`${path}: ${(error as Error).message}; expected JSON without comments\n`);
    return 1;
  }
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv[2]);
}

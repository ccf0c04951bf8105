/** A store, a project and a helper of its own for each test; `memctx` is the one on the PATH. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

import { toEnvironment } from "../shared/settings.js";

export const FACT = "We decided: the payment webhook of the shop listens on port 8443.";
export const QUESTION = "Which port has the payment webhook of the shop?";

export interface Place {
  folder: string;
  project: string;
  store: string;
  /** Settings of memctx beside the environment: a helper has those it was started with. */
  settings: Readonly<Record<string, unknown>>;
}

/** Point memctx at a folder of the test, and stop its helper with the test. */
export function makePlace(test: TestContext): Place {
  const folder = mkdtempSync(join(tmpdir(), "mx-"));
  chmodSync(folder, 0o700);
  const place = { folder, project: join(folder, "shop"), store: join(folder, "store"), settings: {} };
  mkdirSync(place.project);
  const before = { ...process.env };
  process.env["XDG_RUNTIME_DIR"] = folder;
  process.env["MEMCTX_STORAGE_PATH"] = place.store;
  delete process.env["MEMCTX_SERVE"];
  test.after(() => {
    try {
      stopHelper(toEnvironment(place.settings).env);
    } finally {
      process.env = before;
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return place;
}

export function stopHelper(env: Record<string, string> = {}): void {
  execFileSync("memctx", ["serve", "--stop", "--json"], { stdio: "ignore", env: { ...process.env, ...env } });
}

let time = Date.parse("2026-11-18T05:48:10Z");

export function user(text: string): object {
  time += 1_000;
  return { role: "user", content: [{ type: "text", text }], timestamp: time };
}

export function assistant(text: string): object {
  time += 1_000;
  const origin = { api: "openai-completions", provider: "fake", model: "m1", usage: {}, stopReason: "stop" };
  return { role: "assistant", content: [{ type: "text", text }], ...origin, timestamp: time };
}

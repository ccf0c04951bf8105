import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Client } from "../shared/client.js";
import { toEnvironment } from "../shared/settings.js";
import { FACT, makePlace, stopHelper, user } from "./setup.js";

const SPOKEN = { host: "pi", conversation: "c1" };

test("the client starts a helper, and another one when it has exited", async (context) => {
  const place = makePlace(context);
  const client = new Client({ log: assert.fail });
  const params = { ...SPOKEN, project: place.project, messages: [user(FACT)], format: "pi" };
  assert.deepEqual(await client.request("archive", params), { added: 1, duplicates: 0, skipped: 0, reasons: {} });
  const first = await client.request<{ pid: number; store: string }>("status", {});
  assert.equal(first?.store, place.store);
  stopHelper();
  const second = await client.request<{ pid: number }>("status", {});
  assert.notEqual(second?.pid, first?.pid);
});

test("many requests at once are answered, each its own", async (context) => {
  const place = makePlace(context);
  const client = new Client({ log: assert.fail });
  const texts = Array.from({ length: 20 }, (_, index) => `Parcel ${index} went to gate ${index + 100} of the yard`);
  const results = await Promise.all(
    texts.map((text, index) =>
      client.request<{ added: number }>("archive", {
        host: "pi",
        project: place.project,
        conversation: `c${index}`,
        messages: [user(text)],
        format: "pi",
      }, 30_000),
    ),
  );
  assert.deepEqual(results.map((each) => each?.added), texts.map(() => 1));
});

test("a request fails open, and the reason is logged once", async (context) => {
  const place = makePlace(context);
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const missing = new Client({ command: join(place.folder, "no-memctx"), log });
  assert.equal(await missing.request("status", {}), undefined);
  assert.match(logged[0] ?? "", /no-memctx/);

  const silent = createServer(() => {});
  const socket = join(place.folder, "silent.sock");
  await new Promise<void>((resolve) => silent.listen(socket, resolve));
  context.after(() => void silent.close());
  const script = join(place.folder, "memctx-silent");
  writeFileSync(script, `#!/bin/sh\necho '{"socket": "${socket}"}'\n`, { mode: 0o700 });
  logged.length = 0;
  const late = new Client({ command: script, log });
  for (let call = 0; call < 2; call++) assert.equal(await late.request("status", {}, 1_000), undefined);
  assert.deepEqual(logged, ["memctx: status: no answer in time"]);

  const client = new Client({ log });
  assert.equal(await client.request("no_such_method", {}), undefined);
  assert.match(logged.at(-1) ?? "", /no such method/);
});

test("settings of an openclaw.json become variables of memctx", () => {
  const block = {
    hardCapTokens: 4000,
    embeddingModel: "hash",
    redaction: true,
    knowledgeExtraction: true,
    autoRecallMinScore: 0.7,
    maxSegments: 20000,
    evictionDays: 90,
    crossSession: false,
    "recall.window": 2,
    recall: { minQueryChars: 3 },
    budget: 1,
  };
  assert.deepEqual(toEnvironment(block), {
    env: {
      MEMCTX_RECALL_HARD_CAP_TOKENS: "4000",
      MEMCTX_EMBEDDING_MODEL: "hash",
      MEMCTX_REDACTION: "true",
      MEMCTX_RECALL_MIN_SCORE: "0.7",
      MEMCTX_DISK_MAX_SEGMENTS: "20000",
      MEMCTX_DISK_EVICTION_DAYS: "90",
      MEMCTX_CROSS_SESSION: "false",
      MEMCTX_RECALL_WINDOW: "2",
      MEMCTX_RECALL_MIN_QUERY_CHARS: "3",
    },
    unknown: ["budget"],
  });
});

test("memctx takes the variables", (context) => {
  makePlace(context);
  const { env } = toEnvironment({ hardCapTokens: 4000, redaction: true, autoRecallMinScore: 0.7, maxSegments: 20000 });
  execFileSync("memctx", ["config", "check"], { env: { ...process.env, ...env }, stdio: "pipe" });
});

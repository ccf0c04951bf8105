import assert from "node:assert/strict";
import { test } from "node:test";

import memctx from "../pi/src/index.js";
import type { Context, Events, ExtensionAPI, Tool } from "../pi/src/host.js";
import { FACT, QUESTION, assistant, makePlace, user } from "./setup.js";

type Handler = (event: object, context: Context) => Promise<unknown>;

/** Pi as the extension sees it: one process, with one session. */
class Host {
  readonly #handlers = new Map<string, Handler>();
  readonly tools = new Map<string, Tool>();
  readonly context: Context;

  constructor(project: string, session: string) {
    this.context = { cwd: project, sessionManager: { getSessionId: () => session }, model: { contextWindow: 60_000 } };
    const api: ExtensionAPI = {
      on: (name, handler) => void this.#handlers.set(name, handler as unknown as Handler),
      registerTool: (tool) => void this.tools.set(tool.name, tool),
      getSessionName: () => "webhooks",
    };
    memctx(api);
  }

  async fire<Name extends keyof Events>(name: Name, event: Events[Name][0]): Promise<Events[Name][1]> {
    return (await this.#handlers.get(name)?.(event, this.context)) as Events[Name][1];
  }

  async prompt(text: string): Promise<string> {
    return (await this.fire("before_agent_start", { prompt: text }))?.message.content ?? "";
  }
}

const SUMMARY = { role: "compactionSummary", summary: "They talked about the shop.", tokensBefore: 9_000, timestamp: 1 };

test("a fact from before a compaction reaches the model after it, once", async (context) => {
  const host = new Host(makePlace(context).project, "s1");
  await host.fire("session_start", { reason: "startup" });
  const said = [user(FACT), assistant("Noted.")];
  assert.equal(await host.prompt(FACT), "");
  const sent = await host.fire("context", { messages: said.slice(0, 1) });
  assert.deepEqual(sent?.messages, said.slice(0, 1));
  await host.fire("agent_end", { messages: said });
  await host.fire("session_before_compact", { preparation: { messagesToSummarize: said } });
  await host.fire("session_compact", {});
  assert.equal(await host.prompt(QUESTION), "");
  const prepared = await host.fire("context", { messages: [SUMMARY, user(QUESTION)] });
  assert.deepEqual(prepared?.messages[0], SUMMARY);
  assert.match(JSON.stringify(prepared?.messages), /8443/);
});

test("a second session is told what the first decided, one in another project is not", async (context) => {
  const place = makePlace(context);
  const first = new Host(place.project, "s1");
  await first.prompt(FACT);
  const own = { role: "custom", customType: "memctx", content: "told by memory", display: false };
  await first.fire("agent_end", { messages: [user(FACT), own, assistant("Noted.")] });
  const told = await new Host(place.project, "s2").prompt("Good morning, let us go on.");
  assert.match(told, /listens on port 8443/);
  assert.match(told, /about "webhooks" \(Pi, /);
  assert.doesNotMatch(told, /told by memory/);
  assert.equal(await new Host(place.folder, "s3").prompt(QUESTION), "");
});

test("the tools search, store and get, for the project", async (context) => {
  const { project } = makePlace(context);
  const host = new Host(project, "s1");
  const call = async (name: string, given: unknown): Promise<Record<string, unknown>> => {
    const found = await host.tools.get(name)?.execute("1", given, undefined, undefined, host.context);
    assert.equal(found?.content[0]?.text, JSON.stringify(found?.details));
    return found?.details as Record<string, unknown>;
  };
  assert.equal((await call("memory_store", { content: FACT, type: "decision" }))["action"], "add");
  const found = await call("memory_search", { query: QUESTION });
  assert.match(JSON.stringify(found["facts"]), /8443/);
  const wrong = await call("memory_search", { text: QUESTION });
  assert.match(JSON.stringify(wrong["error"]), /no argument/);
});

test("Pi goes on without memctx", async (context) => {
  const { project, folder } = makePlace(context);
  const path = process.env["PATH"];
  process.env["PATH"] = folder;
  const written = context.mock.method(process.stderr, "write", () => true);
  const host = new Host(project, "s1");
  assert.equal(await host.prompt(FACT), "");
  assert.equal(await host.fire("context", { messages: [user(FACT)] }), undefined);
  await host.fire("agent_end", { messages: [user(FACT)] });
  await host.fire("session_compact", {});
  const found = await host.tools.get("memory_status")?.execute("1", {}, undefined, undefined, host.context);
  assert.match(found?.content[0]?.text ?? "", /memory does not answer/);
  written.mock.restore();
  assert.match(String(written.mock.calls[0]?.arguments[0]), /^memctx: hook: .*memctx/);
  process.env["PATH"] = path;
});

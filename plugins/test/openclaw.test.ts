import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import plugin from "../openclaw/src/index.js";
import { migrate } from "../openclaw/src/migrate.js";
import type { Events, HookContext, PluginApi, Tool } from "../openclaw/src/host.js";
import { TOOLS } from "../shared/definitions.js";
import { FACT, QUESTION, assistant, makePlace, user } from "./setup.js";

type Handler = (event: object, context: HookContext) => Promise<unknown>;

/** OpenClaw as the plugin sees it. */
class Host {
  readonly handlers = new Map<string, Handler>();
  readonly warnings: string[] = [];
  builder: ((given: { availableTools: ReadonlySet<string> }) => string[]) | undefined;
  makeTools: ((context: HookContext) => Tool[]) | undefined;

  constructor(config: Record<string, unknown> = {}) {
    const api: PluginApi = {
      pluginConfig: config,
      logger: { warn: (message) => void this.warnings.push(message) },
      on: (name, handler) => void this.handlers.set(name, handler as unknown as Handler),
      registerTool: (factory) => void (this.makeTools = factory),
      registerMemoryCapability: ({ promptBuilder }) => void (this.builder = promptBuilder),
    };
    plugin.register(api);
  }

  async fire<Name extends keyof Events>(
    name: Name,
    event: Events[Name][0],
    context: HookContext,
  ): Promise<Events[Name][1]> {
    return (await this.handlers.get(name)?.(event, context)) as Events[Name][1];
  }
}

function session(workspaceDir: string, own: string): HookContext & { sessionKey: string } {
  return { sessionKey: `agent:main:${own}:${workspaceDir}`, sessionId: own, workspaceDir, trigger: "user" };
}

test("a fact from before a compaction reaches the model after it, with every prompt", async (context) => {
  const host = new Host();
  const own = session(makePlace(context).project, "s1");
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: FACT }, own), {});
  const said = [user(FACT), assistant("Noted.")];
  const byKey = { sessionKey: own.sessionKey }; // all that a compaction is given
  await host.fire("before_compaction", { messages: said }, byKey);
  await host.fire("after_compaction", {}, byKey);
  for (let turn = 0; turn < 2; turn++) {
    const added = await host.fire("before_prompt_build", { prompt: QUESTION }, own);
    assert.match(added?.appendContext ?? "", /8443/);
  }
  assert.deepEqual(host.warnings, []);
});

test("a second session is told what the first decided in its system prompt, with every prompt", async (context) => {
  const place = makePlace(context);
  const host = new Host();
  const first = session(place.project, "s1");
  await host.fire("before_prompt_build", { prompt: FACT }, first);
  await host.fire("agent_end", { messages: [user(FACT), assistant("Noted.")] }, first);
  const second = session(place.project, "s2");
  for (let turn = 0; turn < 2; turn++) {
    const added = await host.fire("before_prompt_build", { prompt: "Good morning, let us go on." }, second);
    assert.match(added?.appendSystemContext ?? "", /listens on port 8443/);
  }
  const elsewhere = session(place.folder, "s3");
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: QUESTION }, elsewhere), {});
  const heartbeat = { ...second, trigger: "heartbeat" };
  assert.equal(await host.fire("before_prompt_build", { prompt: QUESTION }, heartbeat), undefined);
});

test("settings of the entry apply: sessions by themselves, unknown names", async (context) => {
  const place = makePlace(context);
  place.settings = { crossSession: false, embeddingModel: "hash", budget: 1 };
  const { project } = place;
  const host = new Host(place.settings);
  assert.deepEqual(host.warnings, ["memctx: settings without effect: budget"]);
  const first = session(project, "s1");
  await host.fire("before_prompt_build", { prompt: FACT }, first);
  await host.fire("agent_end", { messages: [user(FACT), assistant("Noted.")] }, first);
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: QUESTION }, session(project, "s2")), {});
  assert.equal(new Host({ enabled: false }).handlers.size, 0);
});

test("the tools of the manifest are offered and answer", async (context) => {
  const host = new Host();
  const manifest = JSON.parse(readFileSync(new URL("../../../plugins/openclaw/openclaw.plugin.json", import.meta.url), "utf8"));
  assert.deepEqual(manifest.contracts.tools, TOOLS.map((tool) => tool.name));
  assert.equal(host.builder?.({ availableTools: new Set(["memory_search"]) }).length, 1);
  assert.deepEqual(host.builder?.({ availableTools: new Set() }), []);
  const tools = host.makeTools?.(session(makePlace(context).project, "s1")) ?? [];
  assert.deepEqual(tools.map((tool) => tool.name), manifest.contracts.tools);
  const [search] = tools;
  const found = await search?.execute("1", { query: QUESTION });
  assert.deepEqual((found?.details as { messages: unknown[] }).messages, []);
  const [lost] = host.makeTools?.({}) ?? [];
  assert.match((await lost?.execute("1", { query: QUESTION }))?.content[0]?.text ?? "", /memory does not answer/);
});

test("OpenClaw goes on without memctx", async (context) => {
  const { project } = makePlace(context);
  const host = new Host({ command: "/no/memctx" });
  const own = session(project, "s1");
  assert.deepEqual(await host.fire("before_prompt_build", { prompt: FACT }, own), {});
  await host.fire("before_compaction", { messages: [user(FACT)] }, { sessionKey: "unknown" });
  await host.fire("agent_end", { messages: [user(FACT)] }, own);
  assert.match(host.warnings[0] ?? "", /\/no\/memctx/);
});

test("an openclaw.json with a memoryContext block is migrated", (context) => {
  const { folder } = makePlace(context);
  const old = {
    agents: { defaults: { workspace: "/ws", memoryContext: { enabled: true, hardCapTokens: 4000 } } },
    plugins: { slots: { memory: "memory-context" }, entries: { "memory-context": { config: { maxSegments: 5 } } } },
  };
  const expected = {
    agents: { defaults: { workspace: "/ws" } },
    plugins: {
      slots: { memory: "memctx" },
      entries: {
        memctx: {
          config: { maxSegments: 5, enabled: true, hardCapTokens: 4000 },
          hooks: { allowConversationAccess: true, allowPromptInjection: true },
          enabled: true,
        },
        "memory-core": { enabled: false },
      },
    },
  };
  assert.deepEqual(migrate(old), expected);
  assert.deepEqual(migrate(expected), expected);
  const path = join(folder, "openclaw.json");
  writeFileSync(path, JSON.stringify(old));
  const script = fileURLToPath(new URL("../openclaw/src/migrate.js", import.meta.url));
  const printed = execFileSync(process.execPath, [script, path], { encoding: "utf8" });
  assert.deepEqual(JSON.parse(printed), expected);
});

/** Memory for OpenClaw: the memory slot, recall for each prompt, an archive before compactions, and the memory tools. */
import { Client } from "../../shared/client.js";
import { callHook, selectSpoken, type Conversation } from "../../shared/conversation.js";
import { TOOLS } from "../../shared/definitions.js";
import { toEnvironment } from "../../shared/settings.js";
import { callTool } from "../../shared/tools.js";
import type { HookContext, PluginApi, PluginEntry, PromptResult } from "./host.js";

const ARCHIVE_MS = 25_000;
/** Sessions whose folder and first text are kept; the newest. */
const MAX_SESSIONS = 500;
const HINT =
  "Memory keeps what left the context and what earlier conversations decided. " +
  "Use memory_search before you ask the user for something again, and memory_get for the whole text.";

interface Session {
  conversation: Conversation;
  /** The text of its start, once there is one: facts of the workspace, and how its last conversation ended. */
  start: string | undefined;
}

class Sessions {
  readonly #byKey = new Map<string, Session>();

  /** Return the session of a context; one without a folder is known from an earlier event, or not at all. */
  find({ sessionKey, sessionId, workspaceDir }: HookContext): Session | undefined {
    const key = sessionKey ?? sessionId;
    if (key === undefined) return undefined;
    const known = this.#byKey.get(key);
    const own = sessionId ?? known?.conversation.conversation;
    const project = workspaceDir ?? known?.conversation.project;
    if (own === undefined || project === undefined) return undefined;
    if (known?.conversation.conversation === own && known.conversation.project === project) return known;
    const session = { conversation: { host: "openclaw", project, conversation: own }, start: undefined };
    this.#byKey.set(key, session);
    for (const oldest of this.#byKey.keys()) {
      if (this.#byKey.size <= MAX_SESSIONS) break;
      this.#byKey.delete(oldest);
    }
    return session;
  }
}

// OpenClaw registers a plugin several times; what it knows of sessions, and has said, is one.
const sessions = new Sessions();
const warned = new Set<string>();

function register(api: PluginApi): void {
  const { enabled, command, ...settings } = api.pluginConfig ?? {};
  if (enabled === false) return;
  const warn = (message: string): void => {
    if (!warned.has(message)) api.logger.warn(message);
    warned.add(message);
  };
  const { env, unknown } = toEnvironment(settings);
  if (unknown.length > 0) warn(`memctx: settings without effect: ${unknown.join(", ")}`);
  const client = new Client({ command: typeof command === "string" ? command : undefined, env, log: warn });

  async function archive(event: string, given: unknown[] | undefined, context: HookContext): Promise<void> {
    const session = sessions.find(context);
    const messages = selectSpoken(given);
    if (session === undefined || messages.length === 0) return;
    await callHook(client, session.conversation, event, { messages }, ARCHIVE_MS);
  }

  // OpenClaw keeps no added text: the start is repeated in the system prompt, recall is for this prompt alone.
  api.on("before_prompt_build", async (event, context): Promise<PromptResult | undefined> => {
    const session = sessions.find(context);
    const prompt = event.currentUserMessage ?? event.prompt;
    if (session === undefined || !prompt || context.trigger === "heartbeat") return undefined;
    session.start ??= await callHook(client, session.conversation, "session_start");
    const recalled = await callHook(client, session.conversation, "before_prompt_build", { prompt });
    return {
      ...(session.start ? { appendSystemContext: session.start } : {}),
      ...(recalled ? { appendContext: recalled } : {}),
    };
  });

  api.on("before_compaction", async ({ messages }, context) => archive("before_compaction", messages, context));

  api.on("after_compaction", async (_event, context) => {
    const session = sessions.find(context);
    if (session !== undefined) await callHook(client, session.conversation, "after_compaction");
  });

  api.on("agent_end", async ({ messages }, context) => archive("agent_end", messages, context));

  api.on("before_reset", async ({ messages }, context) => archive("before_reset", messages, context));

  api.registerMemoryCapability({
    promptBuilder: ({ availableTools }) => (availableTools.has("memory_search") ? [HINT] : []),
  });

  api.registerTool(
    (context) =>
      TOOLS.map((tool) => ({
        ...tool,
        execute: (_id, given) => callTool(client, sessions.find(context)?.conversation, tool.name, given),
      })),
    { names: TOOLS.map((tool) => tool.name) },
  );
}

const entry: PluginEntry = {
  id: "memctx",
  name: "memctx",
  description: "Conversation memory: recalls what compactions dropped and what earlier sessions decided.",
  kind: "memory",
  register,
};

export default entry;

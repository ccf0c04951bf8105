/** Memory for Pi: recall before each model call, an archive of what compactions drop, and the memory tools. */
import { Client } from "../../shared/client.js";
import { callHook, selectSpoken, type Conversation } from "../../shared/conversation.js";
import { TOOLS } from "../../shared/definitions.js";
import { callTool } from "../../shared/tools.js";
import type { Context, ExtensionAPI } from "./host.js";

const ARCHIVE_MS = 25_000;
/** Text that memctx adds for a prompt stays in the session under this type. */
const CUSTOM_TYPE = "memctx";

export default function memctx(pi: ExtensionAPI): void {
  const client = new Client({ log: (message) => process.stderr.write(`${message}\n`) });
  // `session_compact` may come when the context is no longer valid.
  let current: Conversation | undefined;

  function conversationOf(context: Context): Conversation {
    current = { host: "pi", project: context.cwd, conversation: context.sessionManager.getSessionId() };
    return current;
  }

  async function archive(event: string, messages: readonly object[], context: Context): Promise<void> {
    const spoken = selectSpoken(messages);
    const fields = { messages: spoken, title: pi.getSessionName?.() ?? "" };
    await callHook(client, conversationOf(context), event, fields, ARCHIVE_MS);
  }

  pi.on("session_start", async (_event, context) => {
    conversationOf(context);
    void client.start();
  });

  // Facts of the project, how its last conversation ended, and what earlier ones say about the prompt. It stays.
  pi.on("before_agent_start", async ({ prompt }, context) => {
    if (!prompt) return undefined;
    const content = await callHook(client, conversationOf(context), "before_agent_start", { prompt });
    return content ? { message: { customType: CUSTOM_TYPE, content, display: false } } : undefined;
  });

  // The conversation itself: what a compaction dropped and the model needs now. It is in this request alone.
  pi.on("context", async ({ messages }, context) => {
    const window = context.model?.contextWindow;
    const params = { ...conversationOf(context), messages, format: "pi", ...(window ? { window } : {}) };
    const found = await client.request<{ messages: object[] }>("prepare", params);
    return found === undefined || found.messages.length === 0 ? undefined : { messages: found.messages };
  });

  pi.on("session_before_compact", async ({ preparation }, context) => {
    const dropped = [...preparation.messagesToSummarize, ...(preparation.turnPrefixMessages ?? [])];
    await archive("session_before_compact", dropped, context);
  });

  pi.on("session_compact", async () => {
    if (current !== undefined) await callHook(client, current, "session_compact");
  });

  pi.on("agent_end", async ({ messages }, context) => archive("agent_end", messages, context));

  for (const tool of TOOLS) {
    pi.registerTool({
      ...tool,
      execute: (_id, given, _signal, _onUpdate, context) => callTool(client, conversationOf(context), tool.name, given),
    });
  }
}

/** The memory tools for a host, answered by `memctx serve`. */
import type { Client } from "./client.js";
import type { Conversation } from "./conversation.js";

export interface ToolDefinition {
  name: string;
  label: string;
  description: string;
  /** JSON schema of the arguments. */
  parameters: Readonly<Record<string, unknown>>;
}

/** Answer of a tool in the form of Pi, which OpenClaw has too. */
export interface ToolAnswer {
  content: { type: "text"; text: string }[];
  details: unknown;
}

const TIMEOUT_MS = 20_000;
const UNAVAILABLE = {
  error: {
    code: "unavailable",
    message: "memory does not answer",
    hint: "Go on without memory, and tell the user that `memctx doctor` shows the state of the store.",
  },
};

/** Answer a call; an error is an answer for the model to read, also that there is no conversation to answer for. */
export async function callTool(
  client: Client,
  conversation: Conversation | undefined,
  name: string,
  given: unknown,
): Promise<ToolAnswer> {
  const params = { ...conversation, scope: "project", name, arguments: given ?? {} };
  const found =
    conversation && (await client.request<{ data: unknown }>("tool", params, TIMEOUT_MS));
  const details = found?.data ?? UNAVAILABLE;
  return { content: [{ type: "text", text: JSON.stringify(details) }], details };
}

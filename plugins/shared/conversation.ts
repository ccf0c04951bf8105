/** A conversation with a host, its hooks, and its messages, which are in Pi's format in both hosts. */
import type { Client } from "./client.js";

export interface Conversation {
  host: string;
  /** The folder that it is about. */
  project: string;
  /** The host's own id. */
  conversation: string;
}

/** Roles of what was said and done; summaries and what plugins added are not archived. */
const ROLES = new Set(["user", "assistant", "toolResult", "bashExecution"]);

/** Call a hook of memctx and return the text for the model: empty if there is none, undefined if memory failed. */
export async function callHook(
  client: Client,
  { host, project, conversation }: Conversation,
  event: string,
  fields: object = {},
  timeoutMs = 10_000,
): Promise<string | undefined> {
  const payload = { session_id: conversation, cwd: project, ...fields };
  const found = await client.request<{ stdout: string }>("hook", { host, event, payload }, timeoutMs);
  if (found === undefined) return undefined;
  if (found.stdout === "") return "";
  try {
    const { context } = JSON.parse(found.stdout) as { context?: unknown };
    return typeof context === "string" ? context : "";
  } catch {
    return undefined;
  }
}

/** Return the messages to archive. */
export function selectSpoken(messages: readonly unknown[] | undefined): object[] {
  const objects = (messages ?? []).filter((each): each is object => typeof each === "object" && each !== null);
  return objects.filter((each) => ROLES.has(String((each as { role?: unknown }).role)));
}

/** What the extension uses of Pi, after the types of `@mariozechner/pi-coding-agent` 0.73 and its successor 1.5. */
import type { ToolAnswer } from "../../shared/tools.js";

export interface Context {
  cwd: string;
  sessionManager: { getSessionId(): string };
  model?: { contextWindow?: number } | undefined;
}

/** Events by name: what a handler is given, and what it may return. */
export interface Events {
  session_start: [event: { reason?: string }, result: void];
  before_agent_start: [
    event: { prompt?: string },
    result: { message: { customType: string; content: string; display: boolean } } | undefined,
  ];
  context: [event: { messages: object[] }, result: { messages: object[] } | undefined];
  session_before_compact: [
    event: { preparation: { messagesToSummarize: object[]; turnPrefixMessages?: object[] } },
    result: void,
  ];
  session_compact: [event: object, result: void];
  agent_end: [event: { messages: object[] }, result: void];
}

export interface Tool {
  name: string;
  label: string;
  description: string;
  parameters: Readonly<Record<string, unknown>>;
  execute(id: string, given: unknown, signal: unknown, onUpdate: unknown, context: Context): Promise<ToolAnswer>;
}

export interface ExtensionAPI {
  on<Name extends keyof Events>(
    name: Name,
    handler: (event: Events[Name][0], context: Context) => Promise<Events[Name][1]>,
  ): void;
  registerTool(tool: Tool): void;
  getSessionName?(): string | undefined;
}

/** What the plugin uses of OpenClaw, after the types of `openclaw` 2026.9.6. */
import type { ToolAnswer } from "../../shared/tools.js";

/** Context of a hook; compactions have the key of the session alone. */
export interface HookContext {
  sessionKey?: string;
  sessionId?: string;
  workspaceDir?: string;
  trigger?: string;
}

export interface PromptResult {
  appendContext?: string;
  appendSystemContext?: string;
}

/** Events by name: what a handler is given, and what it may return. */
export interface Events {
  before_prompt_build: [event: { prompt: string; currentUserMessage?: string }, result: PromptResult | undefined];
  before_compaction: [event: { messages?: unknown[] }, result: void];
  after_compaction: [event: object, result: void];
  agent_end: [event: { messages: unknown[] }, result: void];
  before_reset: [event: { messages?: unknown[] }, result: void];
}

export interface Tool {
  name: string;
  label: string;
  description: string;
  parameters: Readonly<Record<string, unknown>>;
  execute(id: string, given: unknown): Promise<ToolAnswer>;
}

export interface PluginApi {
  pluginConfig?: Readonly<Record<string, unknown>>;
  logger: { warn(message: string): void };
  on<Name extends keyof Events>(
    name: Name,
    handler: (event: Events[Name][0], context: HookContext) => Promise<Events[Name][1]>,
  ): void;
  registerTool(factory: (context: HookContext) => Tool[], options: { names: string[] }): void;
  registerMemoryCapability(capability: {
    promptBuilder(given: { availableTools: ReadonlySet<string> }): string[];
  }): void;
}

export interface PluginEntry {
  id: string;
  name: string;
  description: string;
  kind: "memory";
  register(api: PluginApi): void;
}

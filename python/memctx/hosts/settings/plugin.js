// memctx: memory for opencode. Written by `memctx install opencode`, removed by `memctx uninstall opencode`.
import { spawn } from "node:child_process";

const COMMAND = __COMMAND__;
const TIMEOUT = 10000;

// Calls that opencode may not wait for.
const pending = new Set();

function track(call) {
  const tracked = call.finally(() => pending.delete(tracked));
  pending.add(tracked);
  return tracked;
}

// Answers are JSON or nothing; whatever fails, opencode goes on without memory.
function hook(event, payload) {
  return new Promise((resolve) => {
    try {
      const child = spawn(COMMAND[0], [...COMMAND.slice(1), "hook", event, "--host", "opencode"], {
        stdio: ["pipe", "pipe", "ignore"],
      });
      const timer = setTimeout(() => { child.kill(); resolve({}); }, TIMEOUT);
      let written = "";
      child.stdout.on("data", (data) => { written += data; });
      child.stdin.on("error", () => {});
      child.on("error", () => { clearTimeout(timer); resolve({}); });
      child.on("close", () => {
        clearTimeout(timer);
        try { resolve(written ? JSON.parse(written) : {}); } catch { resolve({}); }
      });
      child.stdin.end(JSON.stringify(payload));
    } catch { resolve({}); }
  });
}

export const Memctx = async ({ client, directory, worktree }) => {
  const folder = worktree && worktree !== "/" ? worktree : directory;
  const about = async (sessionID) => {
    try { return (await client.session.get({ path: { id: sessionID } })).data?.title ?? ""; } catch { return ""; }
  };
  const archive = (event, sessionID) => track((async () => {
    try {
      const messages = (await client.session.messages({ path: { id: sessionID } })).data ?? [];
      await hook(event, { sessionID, directory: folder, messages, title: await about(sessionID) });
    } catch {}
  })());
  return {
    "chat.message": async (input, output) => {
      try {
        const own = output.parts.filter((part) => part.type === "text" && !part.synthetic);
        const prompt = own.map((part) => part.text).join("\n");
        const { context } = await hook("chat.message", { sessionID: input.sessionID, directory: folder, prompt });
        if (!context) return;
        const last = output.parts.map((part) => part.id).sort().at(-1) ?? "prt_";
        // Parts are sent in the order of their ids.
        output.parts.push({
          id: `${last}memctx`, sessionID: input.sessionID, messageID: output.message.id,
          type: "text", text: context, synthetic: true,
        });
      } catch {}
    },
    "experimental.session.compacting": async ({ sessionID }) => archive("experimental.session.compacting", sessionID),
    dispose: async () => { await Promise.all(pending); },
    event: async ({ event }) => {
      const sessionID = event?.properties?.sessionID;
      if (!sessionID) return;
      if (event.type === "session.idle") await archive("session.idle", sessionID);
      if (event.type === "session.compacted") await track(hook("session.compacted", { sessionID, directory: folder }));
    },
  };
};

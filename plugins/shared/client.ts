/**
 * Client of `memctx serve`: JSON lines over the Unix socket of the helper, which is started where none answers.
 *
 * Requests fail open: whatever is wrong with memory, the result is undefined and the host goes on without it.
 */
import { execFile } from "node:child_process";
import { connect } from "node:net";

import { PROTOCOL } from "./definitions.js";

/** Most characters of a request; the helper takes 64 MB. */
const MAX_REQUEST = 48 * 1024 * 1024;
/** Milliseconds before a helper that could not be started is tried again. */
const RETRY_MS = 30_000;
const START_MS = 15_000;

export interface ClientOptions {
  /** The command of memctx, by default the one on the PATH. */
  command?: string | undefined;
  /** Variables for memctx beside those of this process: its settings. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Receives one line for each new kind of failure. */
  log?: ((message: string) => void) | undefined;
}

interface Response {
  version?: unknown;
  result?: unknown;
  error?: { code: string; message: string };
}

/** No process listens on the socket: it has exited, or another build has another socket. */
class NoHelper extends Error {}

export class Client {
  readonly #options: ClientOptions;
  readonly #logged = new Set<string>();
  #socket: Promise<string> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ClientOptions = {}) {
    this.#options = options;
  }

  /** Return the result of a method, or undefined if there is none in time. */
  async request<Result>(method: string, params: object, timeoutMs = 10_000): Promise<Result | undefined> {
    const deadline = performance.now() + timeoutMs;
    try {
      const line = JSON.stringify({ version: PROTOCOL, id: 1, method, params });
      if (line.length > MAX_REQUEST) throw new Error(`a request of ${line.length} characters is too long`);
      const response = await this.#exchange(line, deadline);
      if (response.error !== undefined) throw new Error(response.error.message);
      return response.result as Result;
    } catch (error) {
      this.#log(`${method}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }

  /** Start the helper, or find the one that runs, so that the first request does not wait for it. */
  async start(): Promise<void> {
    try {
      await this.#find();
    } catch (error) {
      this.#log(`start: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #exchange(line: string, deadline: number): Promise<Response> {
    try {
      return await exchange(await within(this.#find(), deadline), line, deadline);
    } catch (error) {
      if (!(error instanceof NoHelper)) throw error;
      this.#socket = undefined;
      return await exchange(await within(this.#find(), deadline), line, deadline);
    }
  }

  /** Return the socket, whose name depends on the store, the build and the settings of memctx. */
  #find(): Promise<string> {
    if (this.#socket === undefined) {
      if (performance.now() - this.#failedAt < RETRY_MS) {
        return Promise.reject(new Error("memctx serve did not start a short while ago"));
      }
      const found = findSocket(this.#options);
      this.#socket = found;
      found.catch(() => {
        this.#failedAt = performance.now();
        this.#socket = undefined;
      });
    }
    return this.#socket;
  }

  #log(message: string): void {
    if (this.#logged.has(message) || this.#logged.size > 100) return;
    this.#logged.add(message);
    this.#options.log?.(`memctx: ${message}`);
  }
}

function findSocket({ command = "memctx", env = {} }: ClientOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...process.env, ...env }, timeout: START_MS };
    execFile(command, ["serve", "--background", "--json"], options, (error, stdout, stderr) => {
      if (error !== null) {
        reject(new Error(stderr.trim().split("\n").at(-1) || error.message));
        return;
      }
      try {
        const { socket } = JSON.parse(stdout) as { socket?: unknown };
        if (typeof socket !== "string") throw new Error("it printed no socket");
        resolve(socket);
      } catch (reason) {
        reject(new Error(`${command} serve --background --json: ${String(reason)}`));
      }
    });
  });
}

function exchange(path: string, line: string, deadline: number): Promise<Response> {
  return new Promise((resolve, reject) => {
    const connection = connect(path);
    const chunks: Buffer[] = [];
    const end = (error: Error | undefined, response?: Response): void => {
      clearTimeout(timer);
      connection.destroy();
      if (response === undefined) reject(error ?? new Error("the connection ended"));
      else resolve(response);
    };
    const timer = setTimeout(() => end(new Error("no answer in time")), Math.max(deadline - performance.now(), 1));
    connection.on("connect", () => connection.write(`${line}\n`));
    connection.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunk.at(-1) !== 0x0a) return;
      try {
        const response = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Response;
        if (response.version !== PROTOCOL) end(new Error(`the helper speaks version ${String(response.version)}`));
        else end(undefined, response);
      } catch (error) {
        end(error as Error);
      }
    });
    connection.on("error", (error: NodeJS.ErrnoException) => {
      const isAbsent = error.code === "ENOENT" || error.code === "ECONNREFUSED";
      end(isAbsent ? new NoHelper(error.message) : error);
    });
    connection.on("close", () => end(undefined));
  });
}

async function within<Value>(value: Promise<Value>, deadline: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("memctx serve did not start in time")), Math.max(deadline - performance.now(), 1));
  });
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Requests to the server that the page came from.

/** An answer that is an error, with its status. */
export class Failure extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const GONE = "The server has stopped. Run `memctx ui` again and open the address it prints.";

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, GONE);
  }
  const text = await response.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Failure(response.status, text || response.statusText);
  }
  if (!response.ok) throw new Failure(response.status, body.error ?? response.statusText);
  return body;
}

/** Return the address of an answer; parameters that are empty are left out. */
export function address(name, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const query = new URLSearchParams(given).toString();
  return `/api/${name}${query ? `?${query}` : ""}`;
}

export const get = (name, parameters, signal) => request(address(name, parameters), { signal });

export const post = (name, body = {}) => request(`/api/${name}`, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-Memctx-Page": "1" },
  body: JSON.stringify(body),
});

/** Return a function that asks, and drops the answers to all but its last question. */
export function latest() {
  let controller;
  return async (name, parameters) => {
    controller?.abort();
    controller = new AbortController();
    const own = controller;
    try {
      const found = await get(name, parameters, own.signal);
      return own === controller ? found : null;
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  };
}

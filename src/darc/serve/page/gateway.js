/** Talking to the gateway that this page came from. */

import { errorSentence } from "./problems.js";

/** An error whose message is a sentence for the reader. */
export class GatewayError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

const KEY_NEEDED = "The gateway wants an API key that it knows: enter it, then ask.";

/** The response to a call; every failure is a `GatewayError`. */
async function fetchChecked(path, key, options = {}) {
  const headers = { ...options.headers };
  if (key) headers.authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new GatewayError("The gateway cannot be reached: is it still running?");
  }
  if (response.ok) return response;
  if (response.status === 401) throw new GatewayError(KEY_NEEDED, 401);
  const body = await response.json().catch(() => null);
  throw new GatewayError(errorSentence(body, response.status), response.status);
}

/** The options of a call that sends JSON. */
function postOptions(body, signal) {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  };
}

/** The JSON at a path, or the response to a body that is sent there. */
export async function callGateway(path, key = "", body = undefined, signal = undefined) {
  const options = body === undefined ? {} : postOptions(body, signal);
  const response = await fetchChecked(path, key, options);
  return response.json();
}

/** One server-sent event as {name, data}; null for a comment. */
function parseEvent(block) {
  const lines = block.split("\n").filter((line) => !line.startsWith(":"));
  const valuesOf = (field) => {
    const prefix = `${field}: `;
    return lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  };
  const data = valuesOf("data").join("\n");
  if (!data) return null;
  return { name: valuesOf("event")[0] ?? "message", data: JSON.parse(data) };
}

/** The events of a stream of server-sent events. */
export async function* readEvents(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

/** Send a chat completion; yields its events start, candidate and decision. */
export async function* askPlayground(body, key, signal) {
  const response = await fetchChecked("/v1/playground", key, postOptions(body, signal));
  let isDecided = false;
  for await (const event of readEvents(response.body)) {
    if (event.name === "error") {
      throw new GatewayError(errorSentence(event.data, event.data.status ?? 500));
    }
    if (event.name === "decision") isDecided = true;
    yield event;
  }
  if (!isDecided) throw new GatewayError("The gateway ended before it had decided.");
}

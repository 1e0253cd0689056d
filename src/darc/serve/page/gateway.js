/** Talking to the gateway this page came from. */

import { sentence } from "./problems.js";

/** An error whose message is a sentence for the reader. */
export class Refusal extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

const UNKNOWN_KEY = "The gateway wants an API key that it knows: enter it, then ask.";

async function fetched(path, key, options = {}) {
  const headers = { ...options.headers, ...(key ? { authorization: `Bearer ${key}` } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (problem) {
    if (problem.name === "AbortError") throw problem;
    throw new Refusal("The gateway cannot be reached: is it still running?");
  }
  if (response.ok) return response;
  if (response.status === 401) throw new Refusal(UNKNOWN_KEY, 401);
  const body = await response.json().catch(() => null);
  throw new Refusal(sentence(body, response.status), response.status);
}

/** A JSON document of the gateway, or its answer to one. */
export async function call(path, key = "", body = undefined, signal = undefined) {
  const posted = {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
  };
  const response = await fetched(path, key, body === undefined ? {} : posted);
  return response.json();
}

/** The events of a stream of server-sent events, as {name, data}. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n").filter((line) => !line.startsWith(":"));
      const own = (field) => lines.filter((line) => line.startsWith(`${field}: `));
      const of = (field) => own(field).map((line) => line.slice(field.length + 2));
      const data = of("data").join("\n");
      if (data) yield { name: of("event")[0] ?? "message", data: JSON.parse(data) };
    }
  }
}

/** Ask, and hear of every step: start, candidate, decision. Raises a `Refusal` for an error. */
export async function* ask(request, key, signal) {
  const response = await fetched("/v1/playground", key, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  let whole = false;
  for await (const event of events(response.body)) {
    if (event.name === "error") throw new Refusal(sentence(event.data, event.data.status ?? 500));
    whole ||= event.name === "decision";
    yield event;
  }
  if (!whole) throw new Refusal("The gateway ended before it had decided.");
}

/** Errors of the interface as sentences, each with what to do about it. */

const BY_CODE = {
  upstream_unavailable: "Wait a minute, then ask again; if it goes on, look at the backend’s own log.",
  upstream_malformed: "Check that darc serve --backend has the address of an OpenAI-compatible server.",
  upstream_broke_off: "Ask again; if it goes on, look at the backend’s own log.",
  upstream_too_large: "Ask for shorter answers, or start darc serve with a larger --max-answer.",
  part_failed: "Check that the server of the raters or scorers runs (darc check URL), then ask again.",
  over_limit: "Ask for fewer answers, or raise the limits of calls and tokens of darc serve.",
  max_work: "Ask for fewer or shorter answers.",
};
const BY_STATUS = {
  400: "Change what it names, or try another model.",
  401: "Enter a key that the backend takes under “Model, sampling and key”, or start darc serve with one.",
  403: "Enter a key that the backend takes under “Model, sampling and key”, or start darc serve with one.",
  404: "Check the name of the model under “Model, sampling and key”.",
  429: "Wait a little, then ask again.",
};
const BROKEN = "Ask again; if it goes on, look at the log of the backend.";
/** Codes of errors whose messages say what to do. */
const COMPLETE = ["upstream_unreachable", "upstream_timeout", "upstream_redirects", "invalid_value", "invalid_darc"];

const endSentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** What to do about an error, empty where its message says so. */
function advice({ code }, status) {
  if (COMPLETE.includes(code)) return "";
  const known = BY_CODE[code] ?? BY_STATUS[status];
  if (known) return known;
  return status >= 500 ? BROKEN : "";
}

/** What an error of the gateway says, and what to do about it. */
export function errorSentence(body, status) {
  const error = body?.error;
  if (!error?.message) return `The gateway answered with status ${status}. Look at its log.`;
  const message = endSentence(error.message[0].toUpperCase() + error.message.slice(1));
  return [message, advice(error, status)].filter(Boolean).join(" ");
}

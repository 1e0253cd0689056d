/** A decision for others: the answer to paste, or a file that this page opens again. */

import { element } from "./elements.js";

const FORMAT = "darc playground";

/** Copy a text; returns a sentence that says so. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    throw new Error("The browser does not allow copying here: mark the answer and copy it by hand.");
  }
  return "The answer is copied.";
}

/** Save a request and the gateway's result as a file. */
export function saveFile(request, result) {
  const content = JSON.stringify({ form: FORMAT, asked: request, said: result }, null, 1);
  const href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  element("a", { href, download: `darc-${result.prompt_id}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

/** Read the request and the result in a file that `saveFile` wrote. */
export async function readSavedFile(file) {
  const content = await file.text().then(JSON.parse).catch(() => ({}));
  if (content.form !== FORMAT || !content.said?.texts) throw new Error("This page did not save that file.");
  return { request: content.asked, result: content.said };
}

/** A decision for others: the answer to paste, or a file that this page opens again. */

import { element } from "./elements.js";

const FORM = "darc playground";

/** Copy a text; what came of it, in words. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    throw new Error("The browser does not allow copying here: mark the answer and copy it by hand.");
  }
  return "The answer is copied.";
}

/** Save what was asked and what the gateway said as a file. */
export function save(asked, said) {
  const content = JSON.stringify({ form: FORM, asked, said }, null, 1);
  const href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
  element("a", { href, download: `darc-${said.prompt_id}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

/** What such a file says. */
export async function opened(file) {
  const found = await file.text().then(JSON.parse).catch(() => ({}));
  if (found.form !== FORM || !found.said?.texts) throw new Error("This page did not save that file.");
  return found;
}

/** What the reader fills in: the prompt, what came before it, and answers of their own. */

import { byId, element } from "./elements.js";

const EXAMPLES = [
  "Should I tell a friend that I dislike their new partner?",
  "Write a short apology to a customer whose parcel was lost.",
  "Explain in five sentences why vaccines are given more than once.",
];

/** A row with a button that removes it. */
function removableRow(...parts) {
  const remove = element("button", { type: "button", click: () => row.remove() }, "Remove");
  const row = element("div", { class: "turn" }, ...parts, remove);
  return row;
}

/** A row for an earlier turn of the conversation; user and assistant take turns. */
function turnRow() {
  const options = ["user", "assistant"].map((role) => element("option", {}, role));
  const roles = element("select", { "aria-label": "Who said it" }, options);
  roles.selectedIndex = byId("turns").children.length % 2;
  return removableRow(roles, element("textarea", { rows: 2, "aria-label": "Earlier turn" }));
}

/** A row for an answer of the reader's own. */
const answerRow = () => removableRow(element("textarea", { rows: 3, "aria-label": "My answer" }));

/** The answers that the reader has brought. */
export function ownAnswers() {
  const boxes = [...byId("answers").querySelectorAll("textarea")];
  return boxes.map((box) => box.value).filter((text) => text.trim());
}

/** The number in a box, undefined if it is empty. */
function numberIn(id) {
  const input = byId(id);
  return input.value === "" ? undefined : input.valueAsNumber;
}

/** The messages of the conversation, the prompt last. */
function conversation() {
  const system = { role: "system", content: byId("system").value };
  const turns = [...byId("turns").querySelectorAll(".turn")].map((row) => ({
    role: row.querySelector("select").value,
    content: row.querySelector("textarea").value,
  }));
  const earlier = [system, ...turns].filter((message) => message.content.trim());
  return [...earlier, { role: "user", content: byId("prompt").value }];
}

/** The body of a chat completion whose answer is chosen by a method. */
export function chatBody(method) {
  return {
    model: byId("model").value.trim() || undefined,
    messages: conversation(),
    temperature: numberIn("temperature"),
    max_tokens: numberIn("max_tokens"),
    seed: numberIn("seed"),
    darc: {
      k: numberIn("k"),
      n_aug: byId("rewrites").hidden ? undefined : numberIn("n_aug"),
      ...method,
    },
  };
}

/** Offer examples, and rows for turns and answers. */
export function prepareForm() {
  const fillPrompt = (text) => {
    byId("prompt").value = text;
    byId("prompt").focus();
  };
  const examples = EXAMPLES.map((text) =>
    element("button", { type: "button", class: "example", click: () => fillPrompt(text) }, text),
  );
  byId("examples").append(...examples);
  byId("add-turn").addEventListener("click", () => byId("turns").append(turnRow()));
  byId("add-answer").addEventListener("click", () => byId("answers").append(answerRow()));
  byId("answers").append(answerRow(), answerRow());
}

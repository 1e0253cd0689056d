/** What the reader fills in: the prompt, what came before it, and answers of their own. */

import { byId, element } from "./elements.js";

const EXAMPLES = [
  "Should I tell a friend that I dislike their new partner?",
  "Write a short apology to a customer whose parcel was lost.",
  "Explain in five sentences why vaccines are given more than once.",
];

function removable(kind, ...parts) {
  const remove = element("button", { type: "button", click: () => row.remove() }, "Remove");
  const row = element("div", { class: kind }, ...parts, remove);
  return row;
}

function turn() {
  const roles = ["user", "assistant"].map((role) => element("option", {}, role));
  const before = byId("turns").children.length;
  const role = element("select", { "aria-label": "Who said it" }, roles);
  role.selectedIndex = before % 2;
  return removable("turn", role, element("textarea", { rows: 2, "aria-label": "Earlier turn" }));
}

const answer = () => removable("turn", element("textarea", { rows: 3, "aria-label": "My answer" }));

/** The answers that the reader has brought. */
export const ownAnswers = () =>
  [...byId("answers").querySelectorAll("textarea")].map((box) => box.value).filter((text) => text.trim());

/** The body of a chat completion. */
export function request(method) {
  const number = (id) => (byId(id).value === "" ? undefined : byId(id).valueAsNumber);
  const system = { role: "system", content: byId("system").value };
  const earlier = [...byId("turns").querySelectorAll(".turn")].map((row) => ({
    role: row.querySelector("select").value, content: row.querySelector("textarea").value,
  }));
  const before = [system, ...earlier].filter((each) => each.content.trim());
  return {
    model: byId("model").value.trim() || undefined,
    messages: [...before, { role: "user", content: byId("prompt").value }],
    temperature: number("temperature"),
    max_tokens: number("max_tokens"),
    seed: number("seed"),
    darc: { k: number("k"), n_aug: byId("rewrites").hidden ? undefined : number("n_aug"), ...method },
  };
}

/** Offer examples, and places for turns and answers. */
export function prepare() {
  const fill = (text) => {
    byId("prompt").value = text;
    byId("prompt").focus();
  };
  const examples = EXAMPLES.map((text) =>
    element("button", { type: "button", class: "example", click: () => fill(text) }, text),
  );
  byId("examples").append(...examples);
  byId("add-turn").addEventListener("click", () => byId("turns").append(turn()));
  byId("add-answer").addEventListener("click", () => byId("answers").append(answer()));
  byId("answers").append(answer(), answer());
}

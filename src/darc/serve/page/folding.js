/** Long answers that are folded until the reader wants all of them. */

import { element } from "./elements.js";
import { renderMarkdown } from "./markdown.js";

/** The height of a box above which it is folded, in pixels. */
const MAX_HEIGHT = 420;

/** Show an answer in a box, folded if it is long. */
export function showAnswerText(box, text) {
  box.replaceChildren(...renderMarkdown(text));
  box.nextElementSibling?.remove();
  box.classList.remove("folded");
  if (box.scrollHeight <= MAX_HEIGHT) return;
  box.classList.add("folded");
  const toggle = () => {
    const isFolded = box.classList.toggle("folded");
    button.textContent = isFolded ? "Show all of it" : "Show less";
  };
  const button = element("button", { type: "button", click: toggle }, "Show all of it");
  box.after(button);
}

/** What the gateway said of one request: to be decided on again, and to be shown. */

import { element } from "./elements.js";
import { markdown } from "./markdown.js";

const TALL = 420;
/** A decision with its candidates by their places. */
export function read(answer) {
  const rows = new Map(answer.candidates.map((each) => [each.index, each]));
  return { ...answer, of: (index) => rows.get(index) };
}

/** What the gateway decides on again: the scores that it gave, and all that describes them. */
export function pool(said, answers, method) {
  const active = [...said.scorers.keys()].filter((place) => said.scorers[place].active);
  const scorers = active.map((place) => said.scorers[place]);
  return {
    scores: active.map((place) => said.scores[place]),
    scorers: scorers.map(({ name, location, scale, bounds }) => ({ name, location, scale, bounds })),
    raters: said.raters,
    sample: said.raters ? "rater" : "rewrite",
    names: said.scores[0].map((_, index) => answers.name(index)),
    side: said.side,
    prompt_id: said.prompt_id,
    min_samples: said.min_samples,
    darc: {
      beta: said.parameters.beta, gamma: said.parameters.gamma, normalize: said.parameters.normalize,
      n_aug: said.n_aug, include_original: said.include_original, ...method,
    },
  };
}

/** Show an answer, folded where it is long. */
export function fill(box, text) {
  box.replaceChildren(...markdown(text));
  box.nextElementSibling?.remove();
  box.classList.remove("folded");
  if (box.scrollHeight <= TALL) return;
  box.classList.add("folded");
  const unfold = () => {
    const folded = box.classList.toggle("folded");
    button.textContent = folded ? "Show all of it" : "Show less";
  };
  const button = element("button", { type: "button", click: unfold }, "Show all of it");
  box.after(button);
}

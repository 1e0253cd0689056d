/** Caution: how much of the average to give up for an answer that divides people less. */

import { element } from "./elements.js";

const LEVELS = [["none", 0], ["low", 0.5], ["medium", 1], ["high", 2]];
const ABOUT =
  "How much of the average rating to give up for an answer that fewer people are unhappy with.";

/** The number of a caution that may be given by its name. */
export function cautionNumber(caution) {
  const level = LEVELS.find(([name]) => name === caution);
  return level ? level[1] : Number(caution);
}

/** The name of a caution, or its number where it has no name. */
function cautionName(value) {
  const level = LEVELS.find(([, number]) => number === value);
  return level ? level[0] : String(value);
}

/** The place of the named level that is nearest to a value. */
function nearest(value) {
  const distances = LEVELS.map(([, number]) => Math.abs(number - value));
  return distances.indexOf(Math.min(...distances));
}

/** A slider over the named levels, and a box for any number from 0 up. */
export class Caution {
  constructor(container, changed) {
    this.changed = changed;
    this.slider = element("input", {
      type: "range", id: "caution", min: 0, max: LEVELS.length - 1, step: 1, "aria-describedby": "caution-about",
      input: () => this.move(LEVELS[Number(this.slider.value)][1]),
    });
    this.box = element("input", {
      type: "number", id: "caution-number", min: 0, step: "any", "aria-label": "Caution, as a number",
      input: () => this.typed(),
    });
    this.words = LEVELS.map(([name, value]) => element("span", { click: () => this.move(value) }, name));
    this.current = element("output", { for: "caution caution-number" });
    container.append(
      element("p", { class: "caution-head" }, element("label", { for: "caution" }, "Caution: "), this.current, this.box),
      this.slider,
      element("div", { class: "caution-words", "aria-hidden": "true" }, this.words),
      element("p", { id: "caution-about", class: "pale" }, ABOUT),
    );
    this.set(1);
  }

  /** Show a value; `write` says whether the box is to show it too. */
  set(value, write = true) {
    this.value = value;
    const place = nearest(value);
    const name = cautionName(value);
    this.slider.value = place;
    this.slider.setAttribute("aria-valuetext", name);
    this.current.textContent = name;
    if (write) this.box.value = String(value);
    for (const [i, word] of this.words.entries()) {
      word.classList.toggle("current", i === place && LEVELS[i][1] === value);
    }
  }

  move(value) {
    this.set(value);
    this.changed();
  }

  typed() {
    const value = this.box.valueAsNumber;
    if (!(value >= 0)) return;
    this.set(value, false);
    this.changed();
  }
}

/** The marks of the picture of ratings, where those that would touch go, and what they mean. */

import { element, shape } from "./elements.js";

/** A dot, or a triangle that points down for one that is unhappy. */
export function mark(x, y, radius, low) {
  if (!low) return shape("circle", { class: "happy", cx: x, cy: y, r: radius });
  const half = radius + 1;
  const top = y - radius;
  return shape("path", { class: "low", d: `M${x - half} ${top}h${2 * half}l${-half} ${2 * half}z` });
}

/** The level of each dot, given by rising places: dots that would touch have different levels. */
export function levelsOf(places, size) {
  const last = [];
  return places.map((place) => {
    const free = last.findIndex((other) => place - other >= size);
    const level = free < 0 ? last.length : free;
    last[level] = place;
    return level;
  });
}

/** How far above or below the middle of its row a level lies: in turns, the first in the middle. */
export const offsetOf = (level, size) => (level % 2 ? -1 : 1) * Math.ceil(level / 2) * size;

/** What the marks and lines of the picture mean. */
export function dotsLegend(decision, rated) {
  const picture = (...parts) => shape("svg", { width: 22, height: 20, "aria-hidden": "true" }, ...parts);
  const bar = shape("rect", { class: "mean", x: 9, y: 2, width: 4, height: 16, rx: 2 });
  const line = shape("path", { class: "threshold", d: "M11 1V19" });
  const entries = [[picture(mark(11, 10, 5, false)), rated ? "a rater" : "a wording"]];
  if (decision.people) {
    const known = decision.people.unhappy_below !== null;
    const words = known ? "an unhappy rater" : "a rater who rates it clearly lower";
    entries.push([picture(mark(11, 10, 5, true)), words], [picture(line), "threshold"]);
  }
  entries.push([picture(bar), "mean"]);
  return entries.map(([sample, text]) => element("li", {}, sample, text));
}

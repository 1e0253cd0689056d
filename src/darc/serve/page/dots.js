/** The picture of a decision: a row per answer, a dot per rater or rewrite, and the means. */

import { capitalized, titleOf } from "./answers.js";
import { element, shape } from "./elements.js";
import { levelsOf, mark, offsetOf } from "./marks.js";
import { exact, ticks } from "./numbers.js";
import { limitOf, summary } from "./opinions.js";

const LABEL_WIDTH = 320;
const NARROW = 640;
const MARGIN = 14;
const MIN_HEIGHT = 40;
/** With more dots per answer they are smaller. */
const MANY_DOTS = 24;
const ROOM_FOR_LIMIT = 150;
const UNHAPPY = { known: "unhappy", unknown: "clearly lower" };

/** The scale of the picture: its ends, and where a value lies on a strip. */
function scaleOf(decision, opinions, width) {
  const values = opinions.flatMap(({ samples }) => samples.map(({ value }) => value));
  let [low, high] = decision.people?.scale ?? [Math.min(...values), Math.max(...values)];
  if (low === high) {
    low -= 1;
    high += 1;
  }
  const at = (value) => MARGIN + ((value - low) / (high - low)) * (width - 2 * MARGIN);
  return { low, high, at };
}

/** The rows of answers in a box; `opened(index)` is called for an answer that is picked. */
export class Dots {
  constructor(container, opened) {
    this.container = container;
    this.opened = opened;
    this.decision = null;
    this.opinions = [];
    this.current = null;
    this.width = 0;
    new ResizeObserver(() => this.redraw()).observe(container);
  }

  draw(decision, opinions) {
    this.decision = decision;
    this.opinions = opinions;
    this.width = 0;
    this.redraw();
  }

  redraw() {
    const width = this.container.clientWidth;
    if (!this.decision || !width || width === this.width) return;
    this.width = width;
    const focused = this.container.contains(document.activeElement) ? document.activeElement.dataset : null;
    const narrow = width < NARROW;
    this.strip = narrow ? width : width - LABEL_WIDTH;
    this.scale = scaleOf(this.decision, this.opinions, this.strip);
    this.current = this.firstDot();
    this.tip = element("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.container.classList.toggle("narrow", narrow);
    const rows = this.opinions.map((opinion) => this.row(opinion));
    this.container.replaceChildren(this.head(), ...rows, this.axis(), this.tip);
    for (const [i, row] of rows.entries()) {
      // Beside its label a strip is as high, so that the line of the threshold has no gaps.
      const height = narrow ? MIN_HEIGHT : Math.max(MIN_HEIGHT, row.clientHeight);
      row.append(this.ratings(this.opinions[i], height));
    }
    if (focused?.sample !== undefined) this.dot(focused.index, focused.sample)?.focus();
    else if (focused?.index !== undefined) this.container.querySelector(`button[data-index="${focused.index}"]`)?.focus();
  }

  /** The dot that the keyboard comes to first: the lowest of the chosen answer. */
  firstDot() {
    const rated = this.opinions.find(({ samples }) => samples.length);
    return rated ? `${rated.index} ${rated.samples[0].place}` : null;
  }

  /** The words above the rows: what the line of the threshold means. */
  head() {
    const limit = limitOf(this.decision);
    if (limit === null) return "";
    const known = this.decision.people.unhappy_below !== null;
    const words = `${known ? UNHAPPY.known : UNHAPPY.unknown} below ${exact(limit)}`;
    const x = this.scale.at(limit);
    const before = x > ROOM_FOR_LIMIT;
    const place = before ? { x: x - 6, "text-anchor": "end" } : { x: x + 6, "text-anchor": "start" };
    const text = shape("text", { class: "limit-name", y: 15, ...place }, words);
    return this.frame("dot-head", 20, shape("path", { class: "threshold", d: `M${x} 4V20` }), text);
  }

  /** The scale below the rows. */
  axis() {
    const { low, high, at } = this.scale;
    const marks = ticks(low, high, this.strip / 62).flatMap(({ value, text }) => [
      shape("path", { class: "axis", d: `M${at(value)} 0v5` }),
      shape("text", { class: "tick", x: at(value), y: 19, "text-anchor": "middle" }, text),
    ]);
    const line = shape("path", { class: "axis", d: `M${at(low)} 0H${at(high)}` });
    return this.frame("dot-axis", 24, line, ...marks);
  }

  /** A row of the picture that is not an answer. */
  frame(kind, height, ...parts) {
    const size = { width: this.strip, height, viewBox: `0 0 ${this.strip} ${height}`, "aria-hidden": "true" };
    return element("div", { class: `dot-row ${kind}` }, element("span"), shape("svg", size, ...parts));
  }

  /** The row of an answer with its name; its ratings come as soon as its height is known. */
  row(opinion) {
    const roles = [opinion.chosen ? "is-chosen" : "", opinion.leads ? "is-leader" : ""];
    return element(
      "div",
      { class: ["dot-row", "answer-row", ...roles].join(" ").trim(), "data-index": opinion.index },
      this.label(opinion),
    );
  }

  label(opinion) {
    const { answer, chosen, leads, index } = opinion;
    const copies = answer.copies > 1 ? `written ${answer.copies} times` : null;
    const parts = [
      element("b", {}, titleOf(answer)),
      chosen ? element("span", { class: "role-chosen" }, "◆ chosen") : null,
      leads ? element("span", { class: "role-leads" }, "□ highest average") : null,
      copies ? element("span", { class: "times" }, copies) : null,
    ];
    return element(
      "button",
      { type: "button", class: "dot-label", "data-index": index, click: () => this.opened(index) },
      element("span", { class: "head" }, parts),
      element("span", { class: "first-words" }, answer.text.trim() || "(empty)"),
      element("span", { class: "pale" }, capitalized(summary(opinion, this.decision))),
    );
  }

  /** The strip of an answer: threshold, mean and dots. */
  ratings(opinion, minHeight) {
    const { samples, mean, early, answer } = opinion;
    const radius = samples.length > MANY_DOTS ? 3.5 : 5;
    const size = 2 * radius + 2.5;
    const places = samples.map(({ value }) => this.scale.at(value));
    const levels = levelsOf(places, size);
    const height = Math.max(minHeight, (Math.max(0, ...levels) + 1) * size + 14);
    const middle = height / 2;
    const parts = [shape("path", { class: "grid", d: `M${MARGIN} ${middle}H${this.strip - MARGIN}` })];
    const limit = limitOf(this.decision);
    if (limit !== null) {
      parts.push(shape("path", { class: "threshold", d: `M${this.scale.at(limit)} 0V${height}` }));
    }
    if (mean !== null && !early) {
      const bar = { x: this.scale.at(mean) - 2, y: 3, width: 4, height: height - 6, rx: 2 };
      parts.push(shape("rect", { class: "mean", ...bar }));
    }
    const dots = samples.map((sample, i) =>
      this.point(opinion, sample, places[i], middle + offsetOf(levels[i], size), radius),
    );
    const frame = { width: this.strip, height, viewBox: `0 0 ${this.strip} ${height}` };
    const label = `${titleOf(answer)}: ${summary(opinion, this.decision)}`;
    return shape("svg", { ...frame, role: "group", "aria-label": label }, ...parts, dots);
  }

  point(opinion, sample, x, y, radius) {
    const { index } = opinion;
    const words = this.words(opinion, sample);
    const listeners = {
      focus: (event) => this.say(event.currentTarget, words),
      blur: () => this.hush(),
      pointerenter: (event) => this.say(event.currentTarget, words),
      pointerleave: () => this.hush(),
      click: () => this.opened(index),
      keydown: (event) => this.pressed(event, index, sample.place),
    };
    const attributes = {
      class: sample.low ? "dot is-low" : "dot", role: "button", "data-index": index, "data-sample": sample.place,
      tabindex: this.current === `${index} ${sample.place}` ? 0 : -1, "aria-label": words,
    };
    const target = shape("circle", { class: "target", cx: x, cy: y, r: radius + 2 });
    return shape("g", { ...attributes, ...listeners }, target, mark(x, y, radius, sample.low));
  }

  /** What a dot says: who, how much, and whether that is unhappy. */
  words({ answer }, { name, value, low }) {
    const people = this.decision.people;
    const feeling = people?.unhappy_below === null ? UNHAPPY.unknown : UNHAPPY.known;
    return `${titleOf(answer)}, ${name}: ${exact(value)}${low ? `, ${feeling}` : ""}`;
  }

  /** Show the words of a dot beside it, and where the same rater's other dots are. */
  say(dot, words) {
    for (const other of this.container.querySelectorAll(".dot")) {
      other.classList.toggle("same", other.dataset.sample === dot.dataset.sample);
    }
    const box = this.container.getBoundingClientRect();
    const place = dot.getBoundingClientRect();
    this.tip.textContent = words;
    this.tip.hidden = false;
    const room = this.container.clientWidth - this.tip.offsetWidth;
    const left = place.left + place.width / 2 - box.left - this.tip.offsetWidth / 2;
    this.tip.style.left = `${Math.max(0, Math.min(room, left))}px`;
    this.tip.style.top = `${place.top - box.top - this.tip.offsetHeight - 4}px`;
  }

  hush() {
    this.tip.hidden = true;
    for (const other of this.container.querySelectorAll(".dot.same")) other.classList.remove("same");
  }

  dot(index, place) {
    return this.container.querySelector(`.dot[data-index="${index}"][data-sample="${place}"]`);
  }

  /** Left and right go along an answer's ratings, up and down to the same rater's of the next answer. */
  pressed(event, index, place) {
    const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const across = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.opened(index);
    } else if (along || across) {
      event.preventDefault();
      this.move(along ? this.beside(index, place, along) : this.beyond(index, place, across));
    }
  }

  beside(index, place, step) {
    const { samples } = this.opinions.find((opinion) => opinion.index === index);
    const next = samples.findIndex((sample) => sample.place === place) + step;
    return this.dot(index, samples[(next + samples.length) % samples.length].place);
  }

  beyond(index, place, step) {
    const rows = this.opinions.filter(({ samples }) => samples.some((sample) => sample.place === place));
    const next = rows.findIndex((opinion) => opinion.index === index) + step;
    return this.dot(rows[(next + rows.length) % rows.length].index, place);
  }

  move(dot) {
    this.container.querySelector('.dot[tabindex="0"]')?.setAttribute("tabindex", -1);
    dot.setAttribute("tabindex", 0);
    dot.focus();
  }
}

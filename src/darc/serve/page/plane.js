/** The sigma-value plane: candidates, the frontier, what the rule allows, and the choice. */

import { titleOf } from "./answers.js";
import { element, shape } from "./elements.js";
import { frontier, labels, scaled } from "./geometry.js";
import { short, ticks } from "./numbers.js";

const MARGIN = { left: 56, right: 18, top: 14, bottom: 46 };
const BY_PREMIUM = ["tau", "penalty"];
const AXES = { sigma: "disagreement (sigma)", risk_premium: "risk premium" };
const LEVELS = ["entropic", "penalty"];

/** Which measure of risk lies along the plane for a rule: the one that it compares. */
export const riskOf = (rule) => (BY_PREMIUM.includes(rule) ? "risk_premium" : "sigma");

/** What the rule compares with: the floor of epsilon's band, or the cap of tau. */
function limitOf({ rule, parameters, facts, candidates, flags }) {
  if (rule === "epsilon") {
    const best = Math.max(...candidates.filter((each) => each.feasible).map((each) => each.value));
    return { floor: best - parameters.epsilon };
  }
  return rule === "tau" && !flags.includes("infeasible") ? { cap: facts.threshold } : {};
}

const diamond = (x, y, r) => `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`;
const square = (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;

/** The mark of a candidate: a diamond for the choice, in a square for Best-of-K, else a dot. */
function mark(x, y, { chosen, leads, feasible }) {
  const parts = [shape("circle", { class: "target", cx: x, cy: y, r: 14 })];
  if (leads) parts.push(shape("path", { class: "leader", d: square(x, y, 11) }));
  if (chosen) parts.push(shape("path", { class: "chosen", d: diamond(x, y, 9) }));
  const kind = feasible ? "feasible" : "infeasible";
  if (!chosen) parts.push(shape("circle", { class: kind, cx: x, cy: y, r: 5.5 }));
  return parts;
}

/** The picture of a decision in a box; `opened(index)` is called for a candidate that is chosen. */
export class Plane {
  constructor(container, caption, opened) {
    Object.assign(this, { container, caption, opened, decision: null, current: null });
    new ResizeObserver(() => this.redraw()).observe(container);
  }

  /** Draw the different answers; those that were ruled out early have no numbers to be drawn by. */
  draw(decision, opinions) {
    const whole = opinions.filter(({ early }) => !early);
    this.decision = decision;
    this.answers = new Map(whole.map(({ index, answer }) => [index, answer]));
    this.leader = opinions.find(({ leads }) => leads)?.index;
    this.width = 0;
    this.redraw();
  }

  redraw() {
    const width = this.container.clientWidth;
    if (!this.decision || !width || width === this.width) return;
    this.width = width;
    const held = this.container.contains(document.activeElement);
    const { decision } = this;
    const risk = riskOf(decision.rule);
    const seen = decision.candidates
      .map((each) => ({ ...each, risk: each[risk] }))
      .filter((each) => this.answers.has(each.index) && each.risk !== null && each.value !== null)
      .sort((a, b) => a.risk - b.risk || a.index - b.index);
    if (!seen.length) {
      const text = "No answer has a sigma: that takes two samples, so ask for rewrites.";
      this.container.replaceChildren(element("p", { class: "pale" }, text));
      this.caption.textContent = "";
      return;
    }
    const height = Math.round(Math.min(430, Math.max(270, width * 0.62)));
    const x = scaled(seen.map((each) => each.risk), MARGIN.left, width - MARGIN.right);
    const y = scaled(seen.map((each) => each.value), height - MARGIN.bottom, MARGIN.top);
    const places = seen.map((each) => ({
      ...each,
      x: x.at(each.risk),
      y: y.at(each.value),
      number: this.answers.get(each.index).number,
      big: [decision.index, this.leader].includes(each.index),
    }));
    this.order = seen.map((each) => each.index);
    if (!held || !this.order.includes(this.current)) this.current = decision.index;
    if (!this.order.includes(this.current)) [this.current] = this.order;
    const label = `Answers by ${AXES[risk]} and value; arrow keys move between them`;
    const size = { width, height, viewBox: `0 0 ${width} ${height}` };
    const svg = shape(
      "svg", { ...size, role: "group", "aria-label": label },
      this.region(x, y, width, height, risk),
      this.axes(x, y, width, height, risk),
      this.edge(seen, x, y, width, risk),
      labels(places, width),
      places.sort((a, b) => a.big - b.big).map((each) => this.point(each)),
    );
    this.container.replaceChildren(svg);
    this.say(this.current);
    if (held) this.container.querySelector(`[data-index="${this.current}"]`)?.focus();
  }

  axes(x, y, width, height, risk) {
    const [bottom, right] = [height - MARGIN.bottom, width - MARGIN.right];
    const parts = [];
    const label = (kind, across, up, anchor, text, more = {}) => {
      const place = { class: kind, x: across, y: up, "text-anchor": anchor, ...more };
      parts.push(shape("text", place, text));
    };
    for (const { value, text } of ticks(y.start, y.end, height / 70)) {
      const place = y.at(value);
      parts.push(shape("path", { class: "grid", d: `M${MARGIN.left} ${place}H${right}` }));
      label("tick", MARGIN.left - 7, place + 4, "end", text);
    }
    for (const { value, text } of ticks(x.start, x.end, width / 110)) {
      const place = x.at(value);
      parts.push(shape("path", { class: "grid", d: `M${place} ${MARGIN.top}V${bottom}` }));
      label("tick", place, bottom + 17, "middle", text);
    }
    const middle = (MARGIN.top + bottom) / 2;
    parts.push(shape("path", { class: "axis", d: `M${MARGIN.left} ${MARGIN.top}V${bottom}H${right}` }));
    label("title", right, height - 8, "end", `${AXES[risk]} →`);
    label("title", 13, middle, "middle", "value →", { transform: `rotate(-90 13 ${middle})` });
    return parts;
  }

  /** What the rule allows: the band of epsilon, the side of tau's cap, the line of the winner. */
  region(x, y, width, height, risk) {
    const { decision } = this;
    const { floor, cap } = limitOf(decision);
    const { left, top } = MARGIN;
    const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
    const within = (value, low, high) => Math.min(high, Math.max(low, value));
    const area = (end, depth) =>
      shape("rect", { class: "region", x: left, y: top, width: end - left, height: depth - top });
    const limit = (d, more = {}) => shape("path", { class: "limit", d, ...more });
    if (floor !== undefined) {
      const line = within(y.at(floor), top, bottom);
      return [area(right, line), limit(`M${left} ${line}H${right}`)];
    }
    if (cap !== undefined) {
      const line = within(x.at(cap), left, right);
      return [area(line, bottom), limit(`M${line} ${top}V${bottom}`)];
    }
    const best = decision.of(decision.index);
    if (!LEVELS.includes(decision.rule) || best[risk] === null) return [];
    const slope = decision.rule === "penalty" ? decision.parameters.lam : 0;
    const at = (where) => y.at(best.value + slope * (where - best[risk]));
    const line = `M${left} ${at(x.start)}L${right} ${at(x.end)}`;
    return [
      shape("clipPath", { id: "inside" }, area(right, bottom)),
      limit(line, { "clip-path": "url(#inside)" }),
    ];
  }

  edge(seen, x, y, width, risk) {
    const [[across, up], ...rest] = frontier(seen, risk).map((each) => [x.at(each[risk]), y.at(each.value)]);
    const steps = rest.map(([right, above]) => `H${right}V${above}`).join("");
    const line = `M${across} ${up}${steps}H${width - MARGIN.right}`;
    return shape("path", { class: "frontier", d: line });
  }

  point({ index, x, y }) {
    const { decision } = this;
    const [chosen, leads] = [index === decision.index, index === this.leader];
    return shape(
      "g",
      {
        class: "point", role: "button", tabindex: index === this.current ? 0 : -1,
        "data-index": index, "aria-label": this.words(index),
        focus: () => this.say(index), pointerenter: () => this.say(index),
        click: () => this.opened(index), keydown: (event) => this.pressed(event, index),
      },
      mark(x, y, { chosen, leads, feasible: decision.of(index).feasible }),
    );
  }

  words(index) {
    const { value, mean, sigma, risk_premium: premium } = this.decision.of(index);
    const roles = [
      index === this.decision.index ? "chosen" : "", index === this.leader ? "highest average" : "",
    ].filter(Boolean);
    const name = `${titleOf(this.answers.get(index))}${roles.length ? ` (${roles.join(", ")})` : ""}`;
    const numbers = Object.entries({ value, mean, sigma, "risk premium": premium });
    return `${name}: ${numbers.map(([each, number]) => `${each} ${short(number)}`).join(", ")}`;
  }

  say(index) {
    this.caption.textContent = this.words(index);
  }

  pressed(event, index) {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.opened(index);
    } else if (step) {
      event.preventDefault();
      const place = (this.order.indexOf(index) + step + this.order.length) % this.order.length;
      this.current = this.order[place];
      for (const each of this.container.querySelectorAll(".point")) {
        each.setAttribute("tabindex", Number(each.dataset.index) === this.current ? 0 : -1);
      }
      this.container.querySelector(`[data-index="${this.current}"]`).focus();
    }
  }
}

/** What the marks and lines of a decision's picture mean. */
export function legend(decision) {
  const size = { width: 26, height: 24, "aria-hidden": "true" };
  const sample = (...parts) => shape("svg", size, ...parts);
  const line = (kind) => sample(shape("path", { class: kind, d: "M1 12H25" }));
  const dot = (state) => sample(...mark(13, 12, state).slice(1));
  const { floor, cap } = limitOf(decision);
  const entries = [
    [dot({ chosen: true }), "chosen"],
    [sample(shape("path", { class: "leader", d: square(13, 12, 10) })), "highest average (Best-of-K)"],
    [dot({ feasible: true }), "feasible"],
  ];
  if (decision.candidates.some((each) => !each.feasible)) entries.push([dot({}), "not feasible"]);
  if (floor !== undefined) entries.push([line("limit"), "best value minus epsilon"]);
  if (cap !== undefined) entries.push([line("limit"), "cap on the risk premium"]);
  if (LEVELS.includes(decision.rule)) entries.push([line("limit"), "as good as the chosen one"]);
  entries.push([line("frontier"), "frontier"]);
  return entries.map(([picture, text]) => element("li", {}, picture, text));
}

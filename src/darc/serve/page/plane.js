/** The sigma-value plane: candidates, the frontier, what the rule allows, and the choice. */

import { titleOf } from "./answers.js";
import { element, shape } from "./elements.js";
import { findFrontier, makeScale, placeLabels } from "./geometry.js";
import { short, ticks } from "./numbers.js";

const MARGIN = { left: 56, right: 18, top: 14, bottom: 46 };
/** Rules that compare risk premiums. */
const PREMIUM_RULES = ["tau", "penalty"];
const AXES = { sigma: "disagreement (sigma)", risk_premium: "risk premium" };
/** Rules whose choice lies on a line of candidates that are as good. */
const LEVEL_RULES = ["entropic", "penalty"];

/** Which measure of risk lies along the plane for a rule: the one that it compares. */
export const riskOf = (rule) => (PREMIUM_RULES.includes(rule) ? "risk_premium" : "sigma");

/** What the rule compares with: the floor of epsilon's band, or the cap of tau. */
function limitOf({ rule, parameters, facts, candidates, flags }) {
  if (rule === "epsilon") {
    const best = Math.max(...candidates.filter(({ feasible }) => feasible).map(({ value }) => value));
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
    this.container = container;
    this.caption = caption;
    this.opened = opened;
    this.decision = null;
    this.current = null;
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
    const hasFocus = this.container.contains(document.activeElement);
    const { decision } = this;
    const risk = riskOf(decision.rule);
    const shown = decision.candidates
      .map((candidate) => ({ ...candidate, risk: candidate[risk] }))
      .filter(({ index, risk: own, value }) => this.answers.has(index) && own !== null && value !== null)
      .sort((a, b) => a.risk - b.risk || a.index - b.index);
    if (!shown.length) {
      const text = "No answer has a sigma: that takes two samples, so ask for rewrites.";
      this.container.replaceChildren(element("p", { class: "pale" }, text));
      this.caption.textContent = "";
      return;
    }
    const height = Math.round(Math.min(430, Math.max(270, width * 0.62)));
    const x = makeScale(shown.map((candidate) => candidate.risk), MARGIN.left, width - MARGIN.right);
    const y = makeScale(shown.map((candidate) => candidate.value), height - MARGIN.bottom, MARGIN.top);
    const places = shown.map((candidate) => ({
      ...candidate,
      x: x.at(candidate.risk),
      y: y.at(candidate.value),
      number: this.answers.get(candidate.index).number,
      big: [decision.index, this.leader].includes(candidate.index),
    }));
    this.order = shown.map((candidate) => candidate.index);
    if (!hasFocus || !this.order.includes(this.current)) this.current = decision.index;
    if (!this.order.includes(this.current)) this.current = this.order[0];
    const label = `Answers by ${AXES[risk]} and value; arrow keys move between them`;
    const size = { width, height, viewBox: `0 0 ${width} ${height}` };
    const svg = shape(
      "svg", { ...size, role: "group", "aria-label": label },
      this.region(x, y, width, height, risk),
      this.axes(x, y, width, height, risk),
      this.frontierLine(shown, x, y, width, risk),
      placeLabels(places, width),
      places.sort((a, b) => a.big - b.big).map((place) => this.point(place)),
    );
    this.container.replaceChildren(svg);
    this.say(this.current);
    if (hasFocus) this.container.querySelector(`[data-index="${this.current}"]`)?.focus();
  }

  axes(x, y, width, height, risk) {
    const bottom = height - MARGIN.bottom;
    const right = width - MARGIN.right;
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
    const right = width - MARGIN.right;
    const bottom = height - MARGIN.bottom;
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
    if (!LEVEL_RULES.includes(decision.rule) || best[risk] === null) return [];
    const slope = decision.rule === "penalty" ? decision.parameters.lam : 0;
    const at = (where) => y.at(best.value + slope * (where - best[risk]));
    const line = `M${left} ${at(x.start)}L${right} ${at(x.end)}`;
    return [
      shape("clipPath", { id: "inside" }, area(right, bottom)),
      limit(line, { "clip-path": "url(#inside)" }),
    ];
  }

  /** The line through the candidates that no other beats in both. */
  frontierLine(shown, x, y, width, risk) {
    const corners = findFrontier(shown, risk).map((candidate) => [x.at(candidate[risk]), y.at(candidate.value)]);
    const [[across, up], ...rest] = corners;
    const steps = rest.map(([right, above]) => `H${right}V${above}`).join("");
    const line = `M${across} ${up}${steps}H${width - MARGIN.right}`;
    return shape("path", { class: "frontier", d: line });
  }

  point({ index, x, y }) {
    const { decision } = this;
    const chosen = index === decision.index;
    const leads = index === this.leader;
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
    return `${name}: ${numbers.map(([label, number]) => `${label} ${short(number)}`).join(", ")}`;
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
      for (const point of this.container.querySelectorAll(".point")) {
        point.setAttribute("tabindex", Number(point.dataset.index) === this.current ? 0 : -1);
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
  if (decision.candidates.some(({ feasible }) => !feasible)) entries.push([dot({}), "not feasible"]);
  if (floor !== undefined) entries.push([line("limit"), "best value minus epsilon"]);
  if (cap !== undefined) entries.push([line("limit"), "cap on the risk premium"]);
  if (LEVEL_RULES.includes(decision.rule)) entries.push([line("limit"), "as good as the chosen one"]);
  entries.push([line("frontier"), "frontier"]);
  return entries.map(([picture, text]) => element("li", {}, picture, text));
}

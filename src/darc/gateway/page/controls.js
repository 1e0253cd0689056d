/** The rule and its parameters, as a list and sliders. */

import { QUANTILE } from "./decide.js";
import { element } from "./elements.js";
import { rounded, roundUp } from "./numbers.js";

const POSITIONS = 200;
const CHOICES = {
  epsilon: ["epsilon", "The lowest sigma among those near the best value.", ["beta", "epsilon"]],
  tau: ["tau", "The best value under a cap on the risk premium.", ["beta", "tau"]],
  quantile: ["tau by quantile", "The cap is a quantile of the premiums.", ["beta", "quantile"]],
  entropic: ["entropic", "The largest value.", ["beta"]],
  penalty: ["penalty", "The largest value less lambda times the risk premium.", ["beta", "lam"]],
  mean: ["mean (Best-of-K)", "The largest mean, whatever the risk.", []],
};
const PARAMETERS = {
  beta: ["beta", "how much low scores weigh", { low: 0.01, high: 100, logarithmic: true }, 1],
  epsilon: ["epsilon", "how far below the best value is still near", { low: 0, high: 1 }, 0.25],
  tau: ["tau", "the largest risk premium allowed", { low: 0, high: 1 }, 0.25],
  quantile: ["quantile", "the share of candidates under the cap", { low: 0, high: 1 }, QUANTILE],
  lam: ["lambda", "how much the risk premium costs", { low: 0, high: 10 }, 1],
};

const used = (choice) => CHOICES[choice]?.[2] ?? [];

class Slider {
  constructor(key, changed) {
    this.key = key;
    const [name, about, range, usual] = PARAMETERS[key];
    this.range = { ...range };
    const moved = () => this.say(this.at(Number(this.slider.value)), changed);
    const typed = () => {
      const value = this.box.valueAsNumber;
      if (value >= 0) this.say(value, changed, false);
    };
    this.slider = element("input", {
      type: "range", id: key, min: 0, max: POSITIONS, step: 1, input: moved,
      "aria-describedby": `${key}-about`,
    });
    this.box = element("input", {
      type: "number", id: `${key}-number`, min: 0, step: "any", input: typed,
      "aria-label": `${name}, exactly`,
    });
    this.element = element(
      "div",
      { class: "slider" },
      element("label", { for: key }, name),
      this.box,
      this.slider,
      element("span", { class: "pale", id: `${key}-about` }, about),
    );
    this.set(usual);
  }

  at(position) {
    const { low, high, logarithmic } = this.range;
    const share = position / POSITIONS;
    return rounded(logarithmic ? low * (high / low) ** share : low + share * (high - low));
  }

  place(value) {
    const { low, high, logarithmic } = this.range;
    const share = logarithmic
      ? Math.log(value / low) / Math.log(high / low)
      : (value - low) / (high - low);
    return Math.round(POSITIONS * Math.min(1, Math.max(0, share)));
  }

  say(value, changed, write = true) {
    this.set(value, write);
    changed(this.key);
  }

  set(value, write = true) {
    this.value = value;
    if (write) this.box.value = Number.isFinite(value) ? String(rounded(value)) : "";
    this.slider.value = this.place(value);
    this.slider.setAttribute("aria-valuetext", String(value));
  }
}

/** The controls; `changed` is called after every move of the reader's. */
export class Controls {
  constructor(container, changed) {
    this.touched = new Set();
    this.foreign = null;
    this.fixed = { gamma: 1 };
    const told = (key) => {
      this.touched.add(key);
      this.show();
      changed();
    };
    this.list = element(
      "select",
      { id: "rule", "aria-describedby": "rule-about", change: () => told("rule") },
      Object.entries(CHOICES).map(([value, [text]]) => element("option", { value }, text)),
    );
    const keys = Object.keys(PARAMETERS);
    this.sliders = Object.fromEntries(keys.map((key) => [key, new Slider(key, told)]));
    this.about = element("span", { class: "pale", id: "rule-about" });
    container.append(
      element("label", { for: "rule" }, "Rule"),
      this.list,
      this.about,
      ...Object.values(this.sliders).map((each) => each.element),
    );
    this.show();
  }

  show() {
    const shown = used(this.list.value);
    const foreign = "The gateway alone decides by it: its choice stays.";
    this.about.textContent = CHOICES[this.list.value]?.[1] ?? foreign;
    for (const [key, slider] of Object.entries(this.sliders)) {
      slider.element.hidden = !shown.includes(key);
    }
  }

  /** The method that the controls say. */
  method() {
    const shown = used(this.list.value);
    const values = Object.fromEntries(shown.map((key) => [key, this.sliders[key].value]));
    const rule = this.list.value === "quantile" ? "tau" : this.list.value;
    return { beta: this.sliders.beta.value, ...this.fixed, ...values, rule };
  }

  /** What a request says of the method: nothing until the reader has set or seen something. */
  request() {
    if (this.list.value === this.foreign || !this.touched.size) return {};
    const { rule, objective, ...rest } = this.method();
    const kept = used(this.list.value).filter((key) => key !== "beta" || this.touched.has(key));
    const chosen = Object.fromEntries(kept.map((key) => [key, rest[key]]));
    const other = rule === "tau" && objective === "mean" ? { objective } : {};
    return { rule, ...chosen, ...other };
  }

  /** Show the gateway's defaults, as far as they are known before it decides. */
  begin(rule, beta) {
    this.choose(rule === "tau" ? "quantile" : rule);
    this.sliders.beta.set(beta);
    this.show();
  }

  /** Choose a rule, which is added to the list where only the gateway knows it. */
  choose(name) {
    if (!(name in CHOICES) && this.foreign !== name) {
      this.foreign = name;
      this.list.append(element("option", { value: name }, `${name}: as the gateway decides`));
    }
    this.list.value = name;
  }

  /** Show the method that the gateway decided by. */
  set(method) {
    const capped = method.rule === "tau" && (method.tau ?? null) === null;
    this.choose(capped ? "quantile" : method.rule);
    for (const [key, slider] of Object.entries(this.sliders)) {
      if ((method[key] ?? null) !== null) slider.set(method[key]);
    }
    this.fixed = { gamma: method.gamma ?? 1, objective: method.objective ?? "value" };
    this.touched.add("rule").add("beta");
    this.show();
  }

  /** Give the sliders in the units of the scores a range that fits a pool. */
  fit(spread, premium, cap) {
    const widen = (key, reach) => {
      const slider = this.sliders[key];
      slider.range.high = roundUp(Math.max(reach, slider.value, 1e-6));
      slider.set(slider.value);
    };
    widen("epsilon", spread);
    const unset = !this.touched.has("tau") && this.list.value !== "tau";
    if (unset && cap >= 0) this.sliders.tau.set(rounded(cap));
    widen("tau", premium);
  }
}

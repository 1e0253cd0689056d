/** The rules that the gateway has, each with its parameters as sliders, lists and boxes. */

import { element } from "./elements.js";
import { rounded, roundUp } from "./numbers.js";

const POSITIONS = 200;
const BETA = { default: 1, minimum: 0, low: 0.01, high: 100, logarithmic: true };
const NAMES = { mean: "mean (Best-of-K)", lam: "lambda" };
const ABOUT = {
  beta: "how much low scores weigh",
  epsilon: "how far below the best value is still near",
  tau: "the largest risk premium allowed",
  quantile: "the share of candidates under the cap",
  lam: "how much disagreement costs",
};

/** The rules of an OpenAPI document: name, words, needs, and fields by name. */
export function rulesOf({ components: { schemas } }) {
  const forms = Object.values(schemas).filter((each) => each["x-parameters"] && !each["x-scores"]);
  return forms.map((form) => {
    const own = form["x-parameters"].map((name) => [name, form.properties[name]]);
    const fields = [...(form["x-by-value"] ? [["beta", BETA]] : []), ...own];
    return {
      name: form.properties.rule.const,
      about: form.description,
      needs: form["x-needs"],
      exclusive: form.not?.required ?? [],
      fields: Object.fromEntries(fields.map(([name, field]) => [name, plain(field)])),
    };
  });
}

/** A field with its type and bounds, whether or not it may be null. */
function plain(field) {
  const kind = field.anyOf?.find((each) => each.type !== "null") ?? field;
  const choices = kind.enum ?? (kind.const === undefined ? null : [kind.const]);
  return { ...kind, choices, default: field.default ?? null };
}

/** What sets one number. */
class Slider {
  constructor(name, field, changed) {
    const highest = field.maximum ?? Math.min(field.exclusiveMaximum ?? Infinity, 1e9);
    const far = highest < 1e6 ? highest : roundUp(Math.max(1, 5 * (field.default ?? 0)));
    Object.assign(this, { low: field.low ?? 0, high: field.high ?? far, limit: highest });
    this.logarithmic = field.logarithmic ?? false;
    const say = (value, write) => {
      this.set(value, write);
      changed(name);
    };
    this.slider = element("input", {
      type: "range", id: name, min: 0, max: POSITIONS, step: 1, "aria-describedby": `${name}-about`,
      input: () => say(this.at(Number(this.slider.value)), true),
    });
    this.box = element("input", {
      type: "number", id: `${name}-number`, min: 0, step: "any", placeholder: "not set",
      "aria-label": `${name}, exactly`,
      input: () => say(Number.isNaN(this.box.valueAsNumber) ? null : this.box.valueAsNumber, false),
    });
    this.element = [this.box, this.slider];
    this.set(field.default);
  }

  at(position) {
    const share = position / POSITIONS;
    const { low, high } = this;
    return rounded(this.logarithmic ? low * (high / low) ** share : low + share * (high - low));
  }

  set(value, write = true) {
    this.value = value;
    const { low, high } = this;
    const share = this.logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    if (write) this.box.value = value === null ? "" : String(rounded(value));
    this.slider.value = Math.round(POSITIONS * Math.min(1, Math.max(0, value === null ? 0 : share)));
    this.slider.setAttribute("aria-valuetext", value === null ? "not set" : String(value));
  }

  /** Reach as far as a pool of candidates makes sense of. */
  fit(reach) {
    this.high = Math.min(this.limit, roundUp(Math.max(reach, this.value ?? 0, 1e-6)));
    this.set(this.value);
  }
}

/** What sets one of some values. */
class Choices {
  constructor(name, field, changed) {
    const options = (field.choices ?? [true, false]).map((each) => element("option", {}, String(each)));
    this.values = field.choices ?? [true, false];
    this.list = element("select", { id: name, change: () => changed(name) }, options);
    this.element = [this.list];
    this.set(field.default);
  }

  get value() {
    return this.values[this.list.selectedIndex];
  }

  set(value) {
    this.list.selectedIndex = Math.max(0, this.values.indexOf(value));
  }
}

/** The controls; `changed` is called after every move of the reader's. */
export class Controls {
  constructor(container, changed) {
    Object.assign(this, { touched: false, rules: new Map(), fields: {} });
    this.changed = (name) => {
      const { exclusive } = this.rules.get(this.list.value);
      const others = exclusive.includes(name) ? exclusive.filter((each) => each !== name) : [];
      for (const other of others) this.fields[other].set(null);
      this.touched = true;
      changed();
    };
    this.list = element("select", {
      id: "rule", "aria-describedby": "rule-about",
      change: () => {
        this.show();
        this.changed("rule");
      },
    });
    this.about = element("span", { class: "pale", id: "rule-about" });
    this.own = element("div");
    container.append(element("label", { for: "rule" }, "Rule"), this.list, this.about, this.own);
  }

  /** Offer rules, and show the one that decides by default. */
  begin(rules, name, beta) {
    this.rules = new Map(rules.map((each) => [each.name, each]));
    BETA.default = beta;
    const options = rules.map((each) => element("option", { value: each.name }, NAMES[each.name] ?? each.name));
    this.list.replaceChildren(...options);
    this.list.value = name;
    this.show();
  }

  /** Rules whose side inputs are not there cannot be asked for. */
  allow(side) {
    for (const option of this.list.options) {
      option.disabled = !this.rules.get(option.value).needs.every((name) => name in side);
    }
  }

  show() {
    const rule = this.rules.get(this.list.value);
    this.about.textContent = rule?.about ?? "";
    this.fields = {};
    const rows = Object.entries(rule?.fields ?? {}).map(([name, field]) => {
      const Kind = field.choices || field.type === "boolean" ? Choices : Slider;
      const made = new Kind(name, field, this.changed);
      this.fields[name] = made;
      const label = element("label", { for: name }, NAMES[name] ?? name);
      const about = element("span", { class: "pale", id: `${name}-about` }, ABOUT[name] ?? "");
      return element("div", { class: "slider" }, label, made.element, about);
    });
    this.own.replaceChildren(...rows);
    for (const [name, reach] of Object.entries(this.reach ?? {})) this.fields[name]?.fit?.(reach);
  }

  /** The method that the controls say. */
  method() {
    const set = Object.entries(this.fields).filter(([, field]) => field.value !== null);
    return { rule: this.list.value, ...Object.fromEntries(set.map(([name, { value }]) => [name, value])) };
  }

  /** What a request says of the method: nothing until the reader has set or seen something. */
  request() {
    return this.touched ? this.method() : {};
  }

  /** Show the method that the gateway decided by; `reach` has how far sliders go for its pool. */
  set(rule, parameters, reach) {
    this.reach = reach;
    if (!this.rules.has(rule)) return;
    this.list.value = rule;
    this.show();
    for (const [name, field] of Object.entries(this.fields)) {
      if (typeof parameters[name] !== "string" || field instanceof Choices) field.set(parameters[name] ?? null);
    }
    for (const [name, far] of Object.entries(reach)) this.fields[name]?.fit?.(far);
    this.touched = true;
  }
}

/** The rules that the gateway has, each with its parameters as sliders, lists and boxes. */

import { Caution, cautionNumber } from "./caution.js";
import { byId, element } from "./elements.js";
import { Choices, Floor, Slider } from "./fields.js";

const BETA = { minimum: 0, low: 0.01, high: 100, logarithmic: true };
const NAMES = { mean: "mean (Best-of-K)", caution: "the Caution baseline", lam: "lambda" };
const WORDING_NOTE =
  "Rewrites measure sensitivity to wording; use the rule epsilon for the paper’s rule, or calibrate against ratings.";
const ABOUT = {
  beta: "how much low scores weigh",
  epsilon: "how far below the best value is still near",
  tau: "the largest risk premium allowed",
  quantile: "the share of candidates under the cap",
  lam: "how much disagreement costs",
};

/** The rules in an OpenAPI document: name, description, needed side inputs and fields by name. */
export function readRules(apiDocument) {
  const beta = { ...BETA, default: apiDocument.components.schemas.DarcOptions.properties.beta.default };
  return apiDocument.info["x-rules"].map((rule) => {
    const fields = {};
    if (rule.depends_on_beta) fields.beta = simplifyField(beta);
    for (const [name, schema] of Object.entries(rule.parameters)) fields[name] = simplifyField(schema);
    return { name: rule.name, about: rule.summary, needs: rule.needs, exclusive: rule.exclusive, fields };
  });
}

/** A field with its type and bounds, whether or not it may be null. */
function simplifyField(schema) {
  const kind = schema.anyOf?.find((alternative) => alternative.type !== "null") ?? schema;
  const choices = kind.enum ?? (kind.const === undefined ? null : [kind.const]);
  return { ...kind, choices, default: schema.default ?? null };
}

/** What stands in place of the caution where another rule decides. */
const noCautionSentence = (name) => `The rule ${NAMES[name] ?? name} decides, which takes no caution.`;

/** The controls; `changed` is called after every change by the reader. */
export class Controls {
  constructor(container, changed) {
    this.touched = false;
    this.rules = new Map();
    this.fields = {};
    this.rated = false;
    this.defaultFloor = null;
    this.notify = changed;
    this.caution = new Caution(byId("caution-control"), () => this.change("caution"));
    this.list = element("select", {
      id: "rule", "aria-describedby": "rule-about",
      change: () => {
        this.show();
        this.change("rule");
      },
    });
    this.about = element("span", { class: "pale", id: "rule-about" });
    this.own = element("div");
    this.floor = new Floor(() => this.change("no_rating_below"));
    container.append(
      element("label", { for: "rule" }, "Rule"), this.list, this.about, this.own, this.floor.element,
    );
  }

  /** Note a change by the reader; of parameters that exclude each other the last one stays. */
  change(name) {
    const { exclusive } = this.rules.get(this.list.value);
    if (exclusive.includes(name)) {
      for (const other of exclusive) {
        if (other !== name) this.fields[other].set(null);
      }
    }
    this.touched = true;
    this.notify();
  }

  /** Offer rules, and show the one that decides by default. */
  begin(rules, { rule, no_rating_below: floor }) {
    this.rules = new Map(rules.map((offered) => [offered.name, offered]));
    const options = rules.map(({ name }) => element("option", { value: name }, NAMES[name] ?? name));
    this.list.replaceChildren(...options);
    const name = rule.default.split(":")[0];
    this.list.value = name;
    this.caution.set(cautionNumber(this.rules.get(name)?.fields.caution?.default ?? 1));
    this.defaultFloor = floor?.default ?? null;
    this.floor.set(this.defaultFloor);
    this.show();
  }

  /** Say whether the samples are ratings: caution and a lowest rating make sense of those only. */
  describe(rated) {
    this.rated = rated;
    this.showCaution();
  }

  /** Disable the rules that need side inputs which are missing. */
  allow(side) {
    for (const option of this.list.options) {
      option.disabled = !this.rules.get(option.value).needs.every((name) => name in side);
    }
  }

  /** Whether the rule takes a caution and the samples give it a meaning. */
  get cautious() {
    const rule = this.rules.get(this.list.value);
    return this.rated && rule !== undefined && "caution" in rule.fields;
  }

  /** Show the control of caution, or why there is none. */
  showCaution() {
    const rule = this.rules.get(this.list.value);
    const takesCaution = rule === undefined || "caution" in rule.fields;
    byId("caution-control").hidden = !this.cautious;
    byId("no-caution").hidden = this.cautious;
    byId("no-caution").textContent = takesCaution ? WORDING_NOTE : noCautionSentence(rule.name);
    this.floor.element.hidden = !this.rated;
  }

  show() {
    const rule = this.rules.get(this.list.value);
    this.about.textContent = rule?.about ?? "";
    this.fields = {};
    const others = Object.entries(rule?.fields ?? {}).filter(([name]) => name !== "caution");
    this.own.replaceChildren(...others.map(([name, field]) => this.row(name, field)));
    for (const [name, reach] of Object.entries(this.reach ?? {})) this.fields[name]?.fit?.(reach);
    this.showCaution();
  }

  /** A parameter of the rule: its name, what sets it, and what it means. */
  row(name, field) {
    const Kind = field.choices || field.type === "boolean" ? Choices : Slider;
    const control = new Kind(name, field, (changed) => this.change(changed));
    this.fields[name] = control;
    const label = element("label", { for: name }, NAMES[name] ?? name);
    const about = element("span", { class: "pale", id: `${name}-about` }, ABOUT[name] ?? "");
    return element("div", { class: "slider" }, label, control.element, about);
  }

  /** The method that the controls are set to. */
  method() {
    const method = { rule: this.list.value };
    for (const [name, field] of Object.entries(this.fields)) {
      if (field.value !== null) method[name] = field.value;
    }
    if (this.cautious) method.caution = this.caution.value;
    if (this.rated && this.floor.value !== null) method.no_rating_below = this.floor.value;
    return method;
  }

  /** The method for a request: empty until the reader has set or seen something. */
  requestedMethod() {
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
    if ((parameters.caution ?? null) !== null) this.caution.set(cautionNumber(parameters.caution));
    for (const [name, far] of Object.entries(reach)) this.fields[name]?.fit?.(far);
    this.touched = true;
  }
}

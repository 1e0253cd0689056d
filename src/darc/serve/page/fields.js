/** What sets the parameters of rules: sliders with boxes, lists, and a lowest rating. */

import { element } from "./elements.js";
import { rounded, roundUp } from "./numbers.js";

const POSITIONS = 200;

/** What sets one number. */
export class Slider {
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
export class Choices {
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

/** The lowest rating that any chosen answer may have, empty for no limit. */
export class Floor {
  constructor(changed) {
    this.box = element("input", {
      type: "number", id: "no_rating_below", step: "any", placeholder: "no limit", input: changed,
    });
    this.element = element("label", { class: "small floor" }, "No rating below", this.box);
  }

  get value() {
    return Number.isNaN(this.box.valueAsNumber) ? null : this.box.valueAsNumber;
  }

  set(value) {
    this.box.value = value === null ? "" : String(value);
  }
}

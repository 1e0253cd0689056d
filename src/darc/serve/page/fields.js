/** Controls of the parameters of rules: sliders with boxes, lists, and a lowest rating. */

import { element } from "./elements.js";
import { rounded, roundUp } from "./numbers.js";

const POSITIONS = 200;

/** The number in a box, null if there is none. */
const numberIn = (box) => (Number.isNaN(box.valueAsNumber) ? null : box.valueAsNumber);

/** A slider and a box that set one number. */
export class Slider {
  constructor(name, field, changed) {
    const limit = field.maximum ?? Math.min(field.exclusiveMaximum ?? Infinity, 1e9);
    const usualReach = roundUp(Math.max(1, 5 * (field.default ?? 0)));
    const defaultHigh = limit < 1e6 ? limit : usualReach;
    this.low = field.low ?? 0;
    this.high = field.high ?? defaultHigh;
    this.limit = limit;
    this.logarithmic = field.logarithmic ?? false;
    const change = (value, writeBox) => {
      this.set(value, writeBox);
      changed(name);
    };
    this.slider = element("input", {
      type: "range", id: name, min: 0, max: POSITIONS, step: 1, "aria-describedby": `${name}-about`,
      input: () => change(this.valueAt(Number(this.slider.value)), true),
    });
    this.box = element("input", {
      type: "number", id: `${name}-number`, min: 0, step: "any", placeholder: "not set",
      "aria-label": `${name}, exactly`,
      input: () => change(numberIn(this.box), false),
    });
    this.element = [this.box, this.slider];
    this.set(field.default);
  }

  /** The value at a position of the slider. */
  valueAt(position) {
    const share = position / POSITIONS;
    const { low, high } = this;
    if (this.logarithmic) return rounded(low * (high / low) ** share);
    return rounded(low + share * (high - low));
  }

  /** The position of a value on the slider, within its ends. */
  positionOf(value) {
    if (value === null) return 0;
    const { low, high } = this;
    const share = this.logarithmic
      ? Math.log(value / low) / Math.log(high / low)
      : (value - low) / (high - low);
    return Math.round(POSITIONS * Math.min(1, Math.max(0, share)));
  }

  /** Show a value, null for none; `writeBox` says whether the box is to show it too. */
  set(value, writeBox = true) {
    this.value = value;
    if (writeBox) this.box.value = value === null ? "" : String(rounded(value));
    this.slider.value = this.positionOf(value);
    this.slider.setAttribute("aria-valuetext", value === null ? "not set" : String(value));
  }

  /** Make the slider reach as far as makes sense for a pool of candidates. */
  fit(reach) {
    this.high = Math.min(this.limit, roundUp(Math.max(reach, this.value ?? 0, 1e-6)));
    this.set(this.value);
  }
}

/** A list that sets one of some values. */
export class Choices {
  constructor(name, field, changed) {
    this.values = field.choices ?? [true, false];
    const options = this.values.map((value) => element("option", {}, String(value)));
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
    return numberIn(this.box);
  }

  set(value) {
    this.box.value = value === null ? "" : String(value);
  }
}

/** The list of candidates: numbers in a line, and everything else when it is opened. */

import { changes } from "./changes.js";
import { element } from "./elements.js";
import { counted, short } from "./numbers.js";
import { whyNot } from "./words.js";

const NUMBERS = {
  value: "value", mean: "mean", sigma: "sigma", premium: "premium", count: "samples",
};

function marked(original, text) {
  return changes(original, text).map((part) =>
    part.changed ? element("mark", {}, part.text) : part.text,
  );
}

/** A text with what each scorer said of it, as it said it. */
function sample(title, body, scorers, scores) {
  const said = scorers.map((scorer, m) =>
    element("span", {}, `${scorer.name} ${short(scores[m])}${scorer.active ? "" : " (left out)"}`),
  );
  const scoreline = element("span", { class: "scores" }, said);
  return element(
    "li",
    {},
    element("p", { class: "head" }, element("b", {}, title), scoreline),
    element("p", { class: "text" }, body),
  );
}

function samples({ text, variants }, scorers, scores) {
  const of = (i) => scorers.map((_, m) => scores[m][i] ?? null);
  const rewrites = variants.map((each, i) => {
    const title = `Rewrite ${i + 1} (${each.family})`;
    return sample(title, marked(text, each.text), scorers, of(i + 1));
  });
  return element(
    "ol", { class: "samples" }, sample("Original", text, scorers, of(0)), rewrites,
  );
}

/** What each rater of a panel said of a text. */
function grades({ text }, raters, scorers, scores) {
  const rows = raters.map((name, i) => sample(name, "", scorers, scorers.map((_, m) => scores[m][i])));
  return [element("p", { class: "text" }, text), element("ol", { class: "samples" }, rows)];
}

function refused({ text, rejected }) {
  if (!rejected.length) return [element("p", { class: "pale" }, "No rewrite was rejected.")];
  const rows = rejected.map((each) =>
    element(
      "li",
      {},
      element("b", {}, `Rejected (${each.family}): ${each.reason}`),
      element("p", { class: "text" }, marked(text, each.text)),
    ),
  );
  const title = element("h3", {}, counted(rejected.length, "rejected rewrite"));
  return [title, element("ul", { class: "samples" }, rows)];
}

/** One candidate, from its arrival on. */
class Row {
  constructor({ index, text }) {
    Object.assign(this, { index, text, filled: false, details: null });
    this.name = element("b", {}, `Candidate ${index}`);
    this.chosen = element("span", { class: "role-chosen", hidden: true }, "◆ chosen");
    this.leads = element("span", { class: "role-leads", hidden: true }, "□ Best-of-K");
    this.cells = {};
    const pairs = Object.entries(NUMBERS).map(([key, name]) => {
      this.cells[key] = element("span", { class: "number" });
      return element("span", { class: "pair" }, `${name} `, this.cells[key]);
    });
    this.numbers = element("span", { class: "numbers", hidden: true }, pairs);
    this.why = element("span", { class: "why" });
    this.body = element("div", { class: "body" }, element("p", { class: "text" }, text));
    this.element = element(
      "details",
      { class: "candidate", "data-index": index, toggle: () => this.fill() },
      element(
        "summary",
        {},
        element("span", { class: "head" }, this.name, this.chosen, this.leads, this.why),
        this.numbers,
        element("span", { class: "excerpt pale" }, text.trim() || "(empty)"),
      ),
      this.body,
    );
  }

  explain(details) {
    this.details = details;
    this.filled = false;
    this.fill();
  }

  fill() {
    if (!this.element.open || this.filled || !this.details) return;
    this.filled = true;
    const { own, scorers, scores, raters } = this.details;
    const parts = raters
      ? grades(own, raters, scorers, scores)
      : [samples(own, scorers, scores), ...refused(own)];
    this.body.replaceChildren(...parts);
  }

  show(decision) {
    const own = decision.candidates[this.index];
    this.numbers.hidden = false;
    for (const [key, cell] of Object.entries(this.cells)) {
      cell.textContent = key === "count" ? own.count : short(own[key]);
    }
    const chosen = this.index === decision.index;
    this.element.classList.toggle("is-chosen", chosen);
    this.chosen.hidden = !chosen;
    this.leads.hidden = this.index !== decision.bestOfK;
    this.why.textContent = whyNot(decision, this.index);
  }
}

/** The candidates, in the order of their arrival and then of their values. */
export class Candidates {
  constructor(container) {
    this.container = container;
    this.clear();
  }

  clear() {
    this.rows = new Map();
    this.container.replaceChildren();
  }

  add(candidate) {
    const row = new Row(candidate);
    this.rows.set(candidate.index, row);
    this.container.append(row.element);
  }

  /** Take over what the gateway says of the texts; where some were lost, places have changed. */
  explain(said) {
    const texts = said.texts ?? [];
    const same = texts.every((own) => this.rows.get(own.index)?.text === own.text);
    if (!same || (texts.length && texts.length !== this.rows.size)) this.clear();
    for (const own of texts) {
      if (!this.rows.has(own.index)) this.add(own);
      const scores = said.scores.map((scorer) => scorer[own.index]);
      const { scorers, raters } = said;
      this.rows.get(own.index).explain({ own, scorers, scores, raters });
    }
  }

  text(index) {
    return this.rows.get(index)?.text ?? "";
  }

  show(decision) {
    const worth = (row) => decision.candidates[row.index].value;
    const rank = (row) => (Number.isNaN(worth(row)) ? -Infinity : worth(row));
    const order = [...this.rows.values()].sort((a, b) => rank(b) - rank(a) || a.index - b.index);
    for (const row of order) row.show(decision);
    if (order.some((row, i) => this.container.children[i] !== row.element)) {
      this.container.append(...order.map((row) => row.element));
    }
  }

  open(index) {
    const row = this.rows.get(index);
    if (!row) return;
    row.element.open = true;
    const summary = row.element.querySelector("summary");
    summary.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "start" });
  }
}

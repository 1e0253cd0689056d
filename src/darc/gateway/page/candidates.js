/** The list of candidates: numbers in a line, and everything else when it is opened. */

import { changes } from "./changes.js";
import { element } from "./elements.js";
import { markdown } from "./markdown.js";
import { counted, meanOf, short } from "./numbers.js";

const NUMBERS = {
  value: "value", mean: "mean", sigma: "sigma", risk_premium: "premium", samples: "samples",
};

const marked = (original, text) =>
  changes(original, text).map((part) => (part.changed ? element("mark", {}, part.text) : part.text));

/** A text with what each scorer said of it, as it said it. */
function sample(title, body, scorers, scores) {
  const said = scorers.map((scorer, m) =>
    element("span", {}, `${scorer.name} ${short(scores[m])}${scorer.active ? "" : " (left out)"}`),
  );
  const head = element("p", { class: "head" }, element("b", {}, title), element("span", { class: "scores" }, said));
  return element("li", {}, head, element("p", { class: "text" }, body));
}

/** The answer, its rewrites or its raters, and the rewrites that were refused. */
function details({ text, variants, rejected }, { scorers, scores, raters }, index) {
  const of = (i) => scorers.map((_, m) => scores[m][index][i] ?? null);
  const rows = raters
    ? raters.map((name, i) => sample(name, "", scorers, of(i)))
    : [
        sample("Original", "as above", scorers, of(0)),
        ...variants.map((each, i) =>
          sample(`Rewrite ${i + 1} (${each.family})`, marked(text, each.text), scorers, of(i + 1)),
        ),
      ];
  const refused = rejected.map((each) =>
    element(
      "li", {}, element("b", {}, `Rejected (${each.family}): ${each.reason}`),
      element("p", { class: "text" }, marked(text, each.text)),
    ),
  );
  const answer = element("div", { class: "markdown" }, markdown(text));
  const parts = [answer, element("ol", { class: "samples" }, rows)];
  if (!refused.length) return parts;
  const title = element("h3", {}, counted(refused.length, "rejected rewrite"));
  return [...parts, title, element("ul", { class: "samples" }, refused)];
}

/** Why a candidate is not the choice, in a few words. */
function whyNot(own, best) {
  if (own === best) return "";
  if (!own || own.mean === null) return "no score";
  if (!own.feasible) return "outside of what the rule allows";
  const name = own.value < best.value ? "value" : own.sigma > best.sigma ? "sigma" : "mean";
  return `${name} ${short(own[name])} against ${short(best[name])}`;
}

/** One candidate, from its arrival on. */
class Row {
  constructor({ index, text }) {
    Object.assign(this, { index, text, made: null });
    this.chosen = element("span", { class: "role-chosen", hidden: true }, "◆ chosen");
    this.leads = element("span", { class: "role-leads", hidden: true }, "□ Best-of-K");
    this.cells = {};
    const pairs = Object.entries(NUMBERS).map(([key, name]) => {
      this.cells[key] = element("span", { class: "number" });
      return element("span", { class: "pair" }, `${name} `, this.cells[key]);
    });
    this.named = element("span", { class: "numbers" });
    this.numbers = element("span", { class: "numbers", hidden: true }, pairs);
    this.why = element("span", { class: "why" });
    this.body = element("div", { class: "body" }, element("div", { class: "markdown" }, markdown(text)));
    const name = element("b", {}, `Candidate ${index}`);
    this.element = element(
      "details",
      { class: "candidate", "data-index": index, toggle: () => this.fill() },
      element(
        "summary",
        {},
        element("span", { class: "head" }, name, this.chosen, this.leads, this.why),
        this.numbers,
        this.named,
        element("span", { class: "excerpt pale" }, text.trim() || "(empty)"),
      ),
      this.body,
    );
  }

  /** Take over what the gateway says of the text. */
  explain(own, said) {
    this.made = () => details(own, said, own.index);
    const means = said.scorers.map(({ name }, m) => [name, meanOf(said.scores[m][own.index])]);
    const pairs = means.map(([name, mean]) =>
      element("span", { class: "pair" }, `${name} `, element("span", { class: "number" }, short(mean))),
    );
    this.named.replaceChildren(...(pairs.length > 1 ? pairs : []));
    this.fill();
  }

  fill() {
    if (!this.element.open || !this.made) return;
    this.body.replaceChildren(...this.made());
    this.made = null;
  }

  show(decision) {
    const own = decision.of(this.index);
    this.numbers.hidden = false;
    for (const [key, cell] of Object.entries(this.cells)) {
      cell.textContent = key === "samples" ? (own?.samples ?? 0) : short(own?.[key]);
    }
    const chosen = this.index === decision.index;
    this.element.classList.toggle("is-chosen", chosen);
    this.chosen.hidden = !chosen;
    this.leads.hidden = this.index !== decision.best_of_k;
    this.why.textContent = whyNot(own, decision.of(decision.index));
  }
}

/** The candidates, in the order of their arrival and then of their values, the choice first. */
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
    if (!same || texts.length !== this.rows.size) this.clear();
    for (const own of texts) {
      if (!this.rows.has(own.index)) this.add(own);
      this.rows.get(own.index).explain(own, said);
    }
  }

  text(index) {
    return this.rows.get(index)?.text ?? "";
  }

  show(decision) {
    const rank = (row) => (row.index === decision.index ? Infinity : (decision.of(row.index)?.value ?? -Infinity));
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
    row.element.querySelector("summary").focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "start" });
  }
}

/** The list of answers: what people think of each in a line, and everything else when it is opened. */

import { Answers, titleOf } from "./answers.js";
import { changes } from "./changes.js";
import { element } from "./elements.js";
import { markdown } from "./markdown.js";
import { counted, meanOf, short } from "./numbers.js";
import { summary } from "./opinions.js";

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
function details({ text, variants, rejected }, { scorers, scores, raters }, index, line) {
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
  const parts = [answer, ...line, element("ol", { class: "samples" }, rows)];
  if (!refused.length) return parts;
  const title = element("h3", {}, counted(refused.length, "rejected rewrite"));
  return [...parts, title, element("ul", { class: "samples" }, refused)];
}

/** The numbers of an answer in a line; none are known of one that was ruled out early. */
function numbers({ early, statistics, index }) {
  if (early) return element("p", { class: "pale" }, "It was ruled out early, so its numbers are not known.");
  const pairs = Object.entries(NUMBERS).map(([key, name]) => {
    const value = key === "samples" ? String(statistics?.samples ?? 0) : short(statistics?.[key]);
    return element("span", { class: "pair" }, `${name} `, element("span", { class: "number" }, value));
  });
  const place = element("span", { class: "pair" }, "index ", element("span", { class: "number" }, String(index)));
  return element("p", { class: "numbers" }, pairs, place);
}

/** Whether the rule does not allow an answer; to auto that only says that another is better. */
function isOutside({ chosen, early, statistics }, { rule }) {
  return rule !== "auto" && !chosen && !early && statistics?.feasible === false;
}

/** One answer, from its arrival on. */
class Row {
  constructor(answer) {
    this.answer = answer;
    this.said = null;
    this.opinion = null;
    this.chosen = element("span", { class: "role-chosen", hidden: true }, "◆ chosen");
    this.leads = element("span", { class: "role-leads", hidden: true }, "□ highest average");
    this.times = element("span", { class: "times pale", hidden: true });
    this.why = element("span", { class: "why" });
    this.means = element("span", { class: "means" });
    this.body = element("div", { class: "body" }, element("div", { class: "markdown" }, markdown(answer.text)));
    const name = element("b", {}, titleOf(answer));
    this.element = element(
      "details",
      { class: "candidate", "data-index": answer.index, toggle: () => this.fill() },
      element(
        "summary",
        {},
        element("span", { class: "head" }, name, this.chosen, this.leads, this.times, this.why),
        this.means,
        element("span", { class: "excerpt pale" }, answer.text.trim() || "(empty)"),
      ),
      this.body,
    );
    this.count();
  }

  /** Say how many times it was written, where that is more than once. */
  count() {
    const { copies } = this.answer;
    this.times.hidden = copies < 2;
    this.times.textContent = `written ${copies} times`;
  }

  /** Take over the samples that the gateway tells of. */
  explain(said) {
    this.said = said;
    this.fill();
  }

  /** Fill what is seen when it is open. */
  fill() {
    if (!this.element.open || !this.said) return;
    const index = this.opinion?.index ?? this.answer.index;
    const text = this.said.texts.find((each) => each.index === index);
    const line = this.opinion ? [numbers(this.opinion)] : [];
    this.body.replaceChildren(...details(text, this.said, index, line));
  }

  show(opinion, decision, means) {
    this.opinion = opinion;
    this.element.dataset.index = opinion.index;
    this.element.classList.toggle("is-chosen", opinion.chosen);
    this.chosen.hidden = !opinion.chosen;
    this.leads.hidden = !opinion.leads;
    const words = means.length > 1 ? [] : [summary(opinion, decision)];
    if (isOutside(opinion, decision)) words.push(`outside of what the rule ${decision.rule} allows`);
    this.why.textContent = words.join("; ");
    const pairs = means.map(([name, mean]) =>
      element("span", { class: "pair" }, `${name} `, element("span", { class: "number" }, short(mean))),
    );
    this.means.replaceChildren(...(means.length > 1 ? pairs : []));
    this.fill();
  }
}

/** The different answers, in the order of their arrival and then as opinions order them. */
export class Candidates {
  constructor(container) {
    this.container = container;
    this.clear();
  }

  clear() {
    this.answers = new Answers();
    this.rows = new Map();
    this.container.replaceChildren();
  }

  add(candidate) {
    const answer = this.answers.add(candidate);
    if (this.rows.has(answer)) {
      this.rows.get(answer).count();
      return;
    }
    const row = new Row(answer);
    this.rows.set(answer, row);
    this.container.append(row.element);
  }

  /** Take over the gateway's texts, which may have other places than they arrived in. */
  explain(said) {
    this.clear();
    for (const text of said.texts ?? []) this.add(text);
    for (const row of this.rows.values()) row.explain(said);
  }

  text(index) {
    return this.answers.of(index)?.text ?? "";
  }

  show(opinions, decision, said) {
    const scorers = [...said.scorers.entries()].filter(([, { active }]) => active);
    for (const opinion of opinions) {
      const means = scorers.map(([place, { name }]) => [name, meanOf(said.scores[place][opinion.index] ?? [])]);
      this.rows.get(opinion.answer).show(opinion, decision, means);
    }
    const order = opinions.map(({ answer }) => this.rows.get(answer).element);
    if (order.some((row, i) => this.container.children[i] !== row)) this.container.append(...order);
  }

  open(index) {
    const row = this.rows.get(this.answers.of(index));
    if (!row) return;
    row.element.open = true;
    row.element.querySelector("summary").focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "start" });
  }
}

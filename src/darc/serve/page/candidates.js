/** The list of answers: what people think of each in a line, and everything else when it is opened. */

import { Answers, titleOf } from "./answers.js";
import { findChanges } from "./changes.js";
import { element } from "./elements.js";
import { renderMarkdown } from "./markdown.js";
import { counted, meanOf, short } from "./numbers.js";
import { summary } from "./opinions.js";

const NUMBERS = {
  value: "value", mean: "mean", sigma: "sigma", risk_premium: "premium", samples: "samples",
};

/** A rewrite with the words marked that it changed. */
function markChanges(original, text) {
  return findChanges(original, text).map((part) => (part.changed ? element("mark", {}, part.text) : part.text));
}

/** A sample of an answer, with the score of each scorer. */
function sampleRow(title, body, scorers, scores) {
  const scoreTexts = scorers.map((scorer, place) => {
    const note = scorer.active ? "" : " (left out)";
    return element("span", {}, `${scorer.name} ${short(scores[place])}${note}`);
  });
  const scoreList = element("span", { class: "scores" }, scoreTexts);
  const head = element("p", { class: "head" }, element("b", {}, title), scoreList);
  return element("li", {}, head, element("p", { class: "text" }, body));
}

/** The samples of an answer: one per rater, or the original and one per rewrite. */
function sampleRows({ text, variants }, { scorers, scores, raters }, index) {
  const scoresOf = (sample) => scorers.map((_, place) => scores[place][index][sample] ?? null);
  if (raters) return raters.map((name, sample) => sampleRow(name, "", scorers, scoresOf(sample)));
  const rewrites = variants.map((variant, i) => {
    const title = `Rewrite ${i + 1} (${variant.family})`;
    return sampleRow(title, markChanges(text, variant.text), scorers, scoresOf(i + 1));
  });
  return [sampleRow("Original", "as above", scorers, scoresOf(0)), ...rewrites];
}

/** A rewrite that was rejected, and why. */
function rejectionRow(original, { family, reason, text }) {
  const title = element("b", {}, `Rejected (${family}): ${reason}`);
  return element("li", {}, title, element("p", { class: "text" }, markChanges(original, text)));
}

/** What an open answer shows: its text, a line of numbers, its samples and rejected rewrites. */
function answerDetails(text, result, index, numbers) {
  const rejections = text.rejected.map((rejection) => rejectionRow(text.text, rejection));
  const parts = [
    element("div", { class: "markdown" }, renderMarkdown(text.text)),
    ...numbers,
    element("ol", { class: "samples" }, sampleRows(text, result, index)),
  ];
  if (!rejections.length) return parts;
  const title = element("h3", {}, counted(rejections.length, "rejected rewrite"));
  return [...parts, title, element("ul", { class: "samples" }, rejections)];
}

/** The numbers of an answer in a line; none are known of one that was ruled out early. */
function numbersLine({ early, statistics, index }) {
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
    this.result = null;
    this.opinion = null;
    this.chosen = element("span", { class: "role-chosen", hidden: true }, "◆ chosen");
    this.leads = element("span", { class: "role-leads", hidden: true }, "□ highest average");
    this.times = element("span", { class: "times pale", hidden: true });
    this.why = element("span", { class: "why" });
    this.means = element("span", { class: "means" });
    this.body = element("div", { class: "body" }, element("div", { class: "markdown" }, renderMarkdown(answer.text)));
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

  /** Take over what the gateway says about the answer. */
  explain(result) {
    this.result = result;
    this.fill();
  }

  /** Fill what is seen when it is open. */
  fill() {
    if (!this.element.open || !this.result) return;
    const index = this.opinion?.index ?? this.answer.index;
    const text = this.result.texts.find((candidate) => candidate.index === index);
    const line = this.opinion ? [numbersLine(this.opinion)] : [];
    this.body.replaceChildren(...answerDetails(text, this.result, index, line));
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
  explain(result) {
    this.clear();
    for (const text of result.texts ?? []) this.add(text);
    for (const row of this.rows.values()) row.explain(result);
  }

  text(index) {
    return this.answers.of(index)?.text ?? "";
  }

  show(opinions, decision, result) {
    const scorers = [...result.scorers.entries()].filter(([, { active }]) => active);
    for (const opinion of opinions) {
      const means = scorers.map(([place, { name }]) => [name, meanOf(result.scores[place][opinion.index] ?? [])]);
      this.rows.get(opinion.answer).show(opinion, decision, means);
    }
    const order = opinions.map(({ answer }) => this.rows.get(answer).element);
    if (order.some((row, i) => this.container.children[i] !== row)) this.container.append(...order);
  }

  open(index) {
    const row = this.rows.get(this.answers.of(index));
    if (!row) return;
    row.element.open = true;
    row.fill();
    row.element.querySelector("summary").focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "start" });
  }
}

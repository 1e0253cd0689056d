/** The answer that was chosen, why, who is unhappy with it, and what it cost. */

import { capitalized, titleOf } from "./answers.js";
import { fill } from "./decision.js";
import { byId, element } from "./elements.js";
import { counted, duration } from "./numbers.js";
import { unhappyWords } from "./opinions.js";

const HELD = "held";

const sentence = (note) => `${capitalized(note)}.`;

/** The notes of a decision by their flags: those of the request that this decision does not repeat, then its own. */
function notesOf(decision, said) {
  const ofRequest = said.flags.map((flag, i) => ({ flag, note: said.notes?.[i] }));
  const others = ofRequest.filter(({ flag }) => !decision.flags.includes(flag) && !said.decided?.includes(flag));
  const ofDecision = decision.flags.map((flag, i) => ({ flag, note: decision.notes[i] }));
  return [...others, ...ofDecision].filter(({ note }) => note);
}

/** The explanation without the notes that are shown by themselves. */
function reasonOf(decision) {
  let text = decision.explanation;
  for (const note of decision.notes) text = text.replace(sentence(note), "");
  return capitalized(text.trim());
}

/** Who is unhappy with the choice, and with the answer that has the highest average. */
function unhappyLines(decision, list) {
  if (!decision.people) return [];
  const shown = list.filter(({ chosen, leads }) => chosen || leads);
  return shown.map((opinion) => {
    const roles = [opinion.chosen ? "chosen" : "", opinion.leads ? "highest average" : ""].filter(Boolean);
    const name = element("b", {}, `${titleOf(opinion.answer)} (${roles.join(", ")}): `);
    return element("li", { class: opinion.chosen ? "of-chosen" : "of-leader" }, name, unhappyWords(opinion, decision.people));
  });
}

/** Show the answer and why it was chosen. */
export function showChoice(decision, list, answers, said) {
  const chosen = list.find((opinion) => opinion.chosen);
  const leader = list.find((opinion) => opinion.leads);
  const differs = leader !== undefined && leader !== chosen;
  byId("answer-title").textContent = `Chosen: ${titleOf(chosen.answer)}`;
  byId("leader").hidden = !differs;
  byId("pair").classList.toggle("two", differs);
  fill(byId("text"), chosen.answer.text);
  if (differs) {
    byId("leader-title").textContent = `Highest average (Best-of-K): ${titleOf(leader.answer)}`;
    fill(byId("other"), leader.answer.text);
  }
  const returned = answers.of(said.index);
  const elsewhere = returned === chosen.answer ? "" : ` The gateway itself returned ${titleOf(returned)}.`;
  byId("reason").textContent = reasonOf(decision) + elsewhere;
  byId("unhappy").replaceChildren(...unhappyLines(decision, list));
  byId("held").hidden = !decision.flags.includes(HELD);
  const notes = notesOf(decision, said).filter(({ flag }) => flag !== HELD);
  byId("flags").replaceChildren(...notes.map(({ note }) => element("li", {}, sentence(note))));
  byId("answer").dataset.index = decision.index;
}

/** Show the answer where nothing was compared. */
export function showFirst(said) {
  byId("leader").hidden = true;
  byId("held").hidden = true;
  byId("pair").classList.remove("two");
  byId("answer-title").textContent = "Answer";
  fill(byId("text"), said.completion?.choices[0].message.content ?? said.answer ?? "");
  byId("reason").textContent = said.explanation || "One answer was asked for, so nothing was chosen.";
  byId("unhappy").replaceChildren();
  byId("flags").replaceChildren();
  byId("answer").dataset.index = said.index;
}

/** Who graded, such as "8 raters graded the answers". */
export const graded = (said) => `${counted(said.panel.raters.length, "rater")} graded the answers`;

/** What a request cost: calls, tokens, and the time of each stage. */
export function costWords(said) {
  const stages = Object.entries(said.milliseconds).filter(([name]) => name !== "total");
  const times = stages.map(([name, ms]) => `${name} ${duration(ms)}`).join(", ");
  const usage = said.completion?.usage?.total_tokens;
  const tokens = usage ? `, ${counted(usage, "token")}` : "";
  const work = said.panel ? counted(said.scored, "grade") : `${counted(said.scored, "text")} scored`;
  return `${work}${tokens}; ${times}.`;
}

/** The answer that was chosen, why, who is unhappy with it, and what it cost. */

import { capitalized, titleOf } from "./answers.js";
import { byId, element } from "./elements.js";
import { showAnswerText } from "./folding.js";
import { counted, duration } from "./numbers.js";
import { unhappyWords } from "./opinions.js";

const HELD = "held";
const BELOW_PROMISE = "below_promise";

const noteSentence = (note) => `${capitalized(note)}.`;

/** The notes of a decision by their flags: those of the request that this decision does not repeat, then its own. */
function notesOf(decision, result) {
  const ofRequest = result.flags.map((flag, i) => ({ flag, note: result.notes?.[i] }));
  const others = ofRequest.filter(({ flag }) => !decision.flags.includes(flag) && !result.decided?.includes(flag));
  const ofDecision = decision.flags.map((flag, i) => ({ flag, note: decision.notes[i] }));
  return [...others, ...ofDecision].filter(({ note }) => note);
}

/** The explanation without the notes that are shown by themselves. */
function reasonOf(decision) {
  let text = decision.explanation;
  for (const note of decision.notes) text = text.replace(noteSentence(note), "");
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

/** How sure the choice is, and what its average is expected to be; empty where that is not known. */
function sureSentence({ certainty }) {
  if (!certainty) return "";
  const [mean, low, high] = [certainty.expected_mean, certainty.low, certainty.high].map((x) => x.toPrecision(3));
  const regret = certainty.expected_regret.toFixed(2);
  const distance = regret === "0.00" ? "" : `, ${regret} below the best answer`;
  const average = `With many more raters it is expected to average ${mean} (${low} to ${high})${distance}.`;
  return `How sure: ${certainty.words}. ${average}`;
}

/** Show the answer and why it was chosen. */
export function showChoice(decision, list, answers, result) {
  const chosen = list.find((opinion) => opinion.chosen);
  const leader = list.find((opinion) => opinion.leads);
  const differs = leader !== undefined && leader !== chosen;
  byId("answer-title").textContent = `Chosen: ${titleOf(chosen.answer)}`;
  byId("leader").hidden = !differs;
  byId("pair").classList.toggle("two", differs);
  showAnswerText(byId("text"), chosen.answer.text);
  if (differs) {
    byId("leader-title").textContent = `Highest average (Best-of-K): ${titleOf(leader.answer)}`;
    showAnswerText(byId("other"), leader.answer.text);
  }
  const returned = answers.of(result.index);
  const elsewhere = returned === chosen.answer ? "" : ` The gateway itself returned ${titleOf(returned)}.`;
  byId("reason").textContent = reasonOf(decision) + elsewhere;
  byId("sure").textContent = sureSentence(decision);
  byId("unhappy").replaceChildren(...unhappyLines(decision, list));
  const unsure = decision.flags.includes(BELOW_PROMISE);
  byId("held").hidden = unsure || !decision.flags.includes(HELD);
  const notes = notesOf(decision, result).filter(({ flag }) => flag !== HELD);
  byId("flags").replaceChildren(...notes.map(({ note }) => element("li", {}, noteSentence(note))));
  byId("answer").dataset.index = decision.index;
}

/** Show the answer where nothing was compared. */
export function showUncompared(result) {
  byId("leader").hidden = true;
  byId("held").hidden = true;
  byId("pair").classList.remove("two");
  byId("answer-title").textContent = "Answer";
  showAnswerText(byId("text"), result.completion?.choices[0].message.content ?? result.answer ?? "");
  byId("reason").textContent = result.explanation || "One answer was asked for, so nothing was chosen.";
  byId("unhappy").replaceChildren();
  byId("sure").textContent = "";
  byId("flags").replaceChildren();
  byId("answer").dataset.index = result.index;
}

/** Who graded, such as "8 raters graded the answers". */
export const graderSentence = (result) => `${counted(result.panel.raters.length, "rater")} graded the answers`;

/** What a request cost: calls, tokens, and the time of each stage. */
export function costSentence(result) {
  const stages = Object.entries(result.milliseconds).filter(([name]) => name !== "total");
  const times = stages.map(([name, ms]) => `${name} ${duration(ms)}`).join(", ");
  const usage = result.completion?.usage?.total_tokens;
  const tokens = usage ? `, ${counted(usage, "token")}` : "";
  const scored = result.panel ? counted(result.scored, "grade") : `${counted(result.scored, "text")} scored`;
  return `${scored}${tokens}; ${times}.`;
}

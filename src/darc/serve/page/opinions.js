/** What is known of each different answer: its ratings, who is unhappy with it, and its role. */

import { brief, counted, meanOf } from "./numbers.js";

/** The limit below which a rating counts as low, null where the scores are not opinions. */
export const limitOf = ({ people }) => people?.unhappy_below ?? people?.clearly_lower_below ?? null;

/** The place of the candidate with the highest average; of those that tie, the chosen one. */
export const leaderOf = (decision) => decision.people?.best_mean ?? decision.best_of_k;

/** Whether the samples are ratings of people, or of a panel that stands for them. */
export const isRated = (result) => Boolean(result?.raters);

/** What a sample is called: the rater's name, or which wording of the answer it is. */
function sampleName(result, place) {
  if (result.raters) return result.raters[place];
  return place === 0 ? "the original wording" : `rewrite ${place}`;
}

/** The samples of a candidate that are known, the lowest first. */
function samplesOf(result, scorer, index, limit) {
  const scores = result.scores[scorer][index] ?? [];
  const samples = scores.map((value, place) => ({
    value, place, name: sampleName(result, place), low: limit !== null && value < limit,
  }));
  return samples.filter(({ value }) => value !== null).sort((a, b) => a.value - b.value || a.place - b.place);
}

/** Which of the candidates with one text stands for them all. */
function representative(answer, decision) {
  const roles = [decision.index, leaderOf(decision)];
  return roles.find((index) => answer.indices.includes(index)) ?? answer.index;
}

/** One answer as the page shows it. */
function opinionOf(answer, decision, result, scorer) {
  const index = representative(answer, decision);
  const people = decision.people?.answers.find((other) => other.index === index);
  const samples = samplesOf(result, scorer, index, limitOf(decision));
  const row = result.candidates.find((candidate) => candidate.index === index);
  return {
    answer,
    index,
    samples,
    mean: people?.mean ?? meanOf(samples.map(({ value }) => value)),
    unhappy: people?.unhappy ?? 0,
    names: people?.unhappy_raters ?? [],
    chosen: index === decision.index,
    leads: index === leaderOf(decision),
    early: row?.bounded ?? false,
    statistics: decision.of(index),
  };
}

/** Where an answer stands in lists: the choice first, then by means, those ruled out early last. */
function rank({ chosen, early, statistics }) {
  if (chosen) return Infinity;
  if (early) return -Infinity;
  return statistics?.mean ?? -Infinity;
}

/** The different answers with all that is known of them. */
export function opinionsOf(answers, decision, result, scorer) {
  const list = answers.list.map((answer) => opinionOf(answer, decision, result, scorer));
  return list.sort((a, b) => (rank(a) === rank(b) ? a.index - b.index : rank(b) - rank(a)));
}

/** Words in a row, such as "hurried, sceptic and elsewhere". */
export function joinWords(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** How many are unhappy with an answer and who, such as "3 of 8 unhappy: hurried, sceptic and expert". */
export function unhappyWords({ samples, unhappy, names }, people) {
  const known = people.unhappy_below !== null;
  if (unhappy === 0) return known ? "nobody unhappy" : "nobody rates it clearly lower";
  const feeling = known ? "unhappy" : "rate it clearly lower";
  if (unhappy === samples.length && unhappy > 1) return `all ${unhappy} ${feeling}`;
  const who = names.length ? `: ${joinWords(names)}` : "";
  return `${unhappy} of ${samples.length} ${feeling}${who}`;
}

/** What an answer's line says: its mean, and who is unhappy with it. */
export function summary(opinion, decision) {
  const { samples, mean, early } = opinion;
  const noun = decision.people ? "rating" : "score";
  if (early) return `ruled out early, after ${counted(samples.length, noun)}`;
  if (!samples.length) return "no score";
  if (decision.people) return `mean ${brief(mean)}, ${unhappyWords(opinion, decision.people)}`;
  return `mean ${brief(mean)} over ${counted(samples.length, "wording")}`;
}

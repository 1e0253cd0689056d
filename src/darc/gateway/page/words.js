/** Decisions in words. */

import { counted, level, short } from "./numbers.js";

export const FLAGS = {
  infeasible: "No eligible candidate met the cap on the risk premium, so it was not applied.",
  no_sigma: "With one sample each there is no sigma: the rule did without it.",
  shrunk: "Candidates with fewer samples were drawn towards the average.",
  few_samples: "Candidates with too few samples were left out.",
  constant_scorer: "A scorer gave every candidate the same score and counts as 0 for all.",
  small_sample: "Beta times sigma is large for so few samples: the true risk is likely larger.",
  not_rewritten: "Answers of a prescribed form are not rewritten: each was scored once.",
  fewer_candidates: "Some candidates could not be made.",
  rewriter_failed: "The rewriter failed, so each answer was scored once.",
  best_of_k: "The gateway could not apply the rule and took the largest mean.",
  first_candidate: "Nothing could be scored, so the first answer was taken.",
  one_candidate: "There was one candidate only.",
};

/** A flag as a sentence. */
export function flagged(flag) {
  if (flag.startsWith("scorer_failed:")) return `Scorer ${flag.slice(14)} failed and was left out.`;
  return FLAGS[flag] ?? `Flagged: ${flag.replaceAll("_", " ")}.`;
}

const among = (decision) => decision.feasible.filter(Boolean).length;

const reasons = {
  mean: () => "has the largest mean",
  entropic: () => "has the largest value",
  penalty({ method }) {
    return `has the largest value less ${level(method.lam ?? 1)} times its risk premium`;
  },
  tau(decision) {
    const cap = `whose risk premium is at most ${short(decision.threshold)}`;
    const goal = decision.method.objective ?? "value";
    if (decision.flags.includes("infeasible")) return `has the largest ${goal} of all`;
    if (among(decision) === 1) return `is the only one ${cap}`;
    return `has the largest ${goal} of the ${among(decision)} ${cap}`;
  },
  epsilon(decision) {
    const band = `within ${level(decision.method.epsilon)} of the best value`;
    if (among(decision) === 1) return `is the only one ${band}`;
    return `has the lowest sigma of the ${among(decision)} ${band}`;
  },
};

/** Why the chosen candidate is chosen, what Best-of-K would do, and what was returned. */
export function reason(decision, returned) {
  const { index, bestOfK, method } = decision;
  const why = reasons[method.rule] ?? (() => `is the choice of the rule ${method.rule}`);
  const told = [`Candidate ${index} ${why(decision)}.`];
  if (method.rule !== "mean") {
    told.push(`Best-of-K takes ${index === bestOfK ? "it too" : `candidate ${bestOfK}`}.`);
  }
  if (returned !== index) told.push(`As asked, the gateway returned candidate ${returned}.`);
  return told.join(" ");
}

const behind = (name, own, best) => `${name} ${short(own)} against ${short(best)}`;

/** Why a candidate is not the choice, in a few words. */
export function whyNot(decision, k) {
  const { index, method, candidates, eligible, feasible } = decision;
  const own = candidates[k];
  const best = candidates[index];
  if (k === index) return "";
  if (!own.present) return "no score";
  if (!eligible[k]) return `only ${counted(own.count, "sample")}`;
  if (method.rule === "epsilon" && !feasible[k]) {
    return `value ${short(decision.floor - own.value)} below the band`;
  }
  if (method.rule === "tau" && !feasible[k]) {
    if (Number.isNaN(own.premium)) return "no risk premium with one sample";
    return `risk premium ${short(own.premium)}, over the cap of ${short(decision.threshold)}`;
  }
  if (method.rule === "epsilon") {
    if (decision.flags.includes("no_sigma")) return behind("value", own.value, best.value);
    if (Number.isNaN(own.sigma)) return "no sigma with one sample";
    return behind("sigma", own.sigma, best.sigma);
  }
  if (!(method.rule in reasons)) {
    const mean = behind("mean", own.mean, best.mean);
    return Number.isNaN(own.sigma) ? mean : `${mean}, ${behind("sigma", own.sigma, best.sigma)}`;
  }
  if (method.rule === "penalty") {
    const worth = (each) => each.value - (method.lam ?? 1) * each.premium;
    return behind("penalised value", worth(own), worth(best));
  }
  const goal = method.rule === "mean" ? "mean" : (method.objective ?? "value");
  return behind(goal, own[goal], best[goal]);
}

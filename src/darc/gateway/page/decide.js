/** The rules: from the statistics of a pool to one candidate, ties broken as the library does. */

import { statistics } from "./statistics.js";

export const RULES = ["epsilon", "tau", "entropic", "penalty", "mean"];
export const QUANTILE = 0.25;

/**
 * The index of the best by the first key, ties by the next, then the lowest.
 *
 * Keys are larger for better, NaN being worst; `among` says who may be chosen.
 */
export function pick(keys, among, tolerance) {
  let left = among;
  for (const key of keys) {
    const ranked = key.map((each, k) => (left[k] && !Number.isNaN(each) ? each : -Infinity));
    const best = Math.max(...ranked);
    if (best === -Infinity) continue;
    const top = ranked.indexOf(best);
    const near = (k) => ranked[k] >= best - Math.max(tolerance[k], tolerance[top]);
    left = left.map((own, k) => own && near(k));
  }
  return left.indexOf(true);
}

function eligibleOf(candidates, minSamples) {
  const least = minSamples ?? Math.max(...candidates.map((each) => each.count)) / 2;
  const enough = candidates.map((each) => each.present && each.count >= least);
  return enough.includes(true) ? enough : candidates.map((each) => each.present);
}

/** A quantile of the defined premiums, by linear interpolation. */
export function quantileOf(premiums, share) {
  const ordered = premiums.filter((each) => !Number.isNaN(each)).sort((a, b) => a - b);
  if (!ordered.length) return NaN;
  const position = share * (ordered.length - 1);
  const lower = Math.floor(position);
  if (position <= lower) return ordered[lower];
  return ordered[lower] + (position - lower) * (ordered[lower + 1] - ordered[lower]);
}

/** The largest objective, ties to the larger mean; `fallback` where no objective is defined. */
function largest(pool, objective, among, fallback) {
  const undefinedAll = !objective.some((each, k) => among[k] && !Number.isNaN(each));
  const fallen = Boolean(fallback) && undefinedAll;
  const used = fallen ? fallback : objective;
  const index = pick([used, pool.mean], among, pool.tolerance);
  return { index, feasible: among, flags: fallen ? ["no_sigma"] : [] };
}

const rules = {
  mean: (pool) => largest(pool, pool.mean, pool.eligible),

  entropic: (pool) => largest(pool, pool.value, pool.eligible),

  penalty(pool, { lam = 1 }) {
    const objective = pool.value.map((each, k) => each - lam * pool.premium[k]);
    return largest(pool, objective, pool.eligible, pool.value);
  },

  tau(pool, { tau = null, quantile = null, objective = "value" }) {
    const threshold = tau ?? quantileOf(pool.premium, quantile ?? QUANTILE);
    const within = (k) => pool.premium[k] <= threshold + pool.tolerance[k];
    const capped = pool.eligible.map((own, k) => own && within(k));
    const infeasible = !capped.includes(true);
    const choice = largest(pool, pool[objective], infeasible ? pool.eligible : capped);
    const flags = infeasible ? ["infeasible", ...choice.flags] : choice.flags;
    return { ...choice, flags, threshold };
  },

  epsilon(pool, { epsilon = 0.25 }) {
    const ranked = pool.value.map((each, k) =>
      pool.eligible[k] && !Number.isNaN(each) ? each : -Infinity,
    );
    const best = Math.max(...ranked);
    const top = ranked.indexOf(best);
    const floor = best - epsilon;
    const slack = (k) => Math.max(pool.tolerance[k], pool.tolerance[top]);
    const near = pool.eligible.map((own, k) => own && ranked[k] >= floor - slack(k));
    const calm = pool.sigma.map((each) => -each);
    const fallen = !calm.some((each, k) => near[k] && !Number.isNaN(each));
    const keys = [fallen ? pool.value : calm, pool.mean, pool.value];
    const index = pick(keys, near, pool.tolerance);
    return { index, feasible: near, flags: fallen ? ["no_sigma"] : [], floor };
  },
};

/** Whether n samples are too few for this beta. */
export function smallSample(beta, sigma, count) {
  const strength = Math.min(beta, 1e300) * (sigma || 0);
  return strength > Math.sqrt(5 * Math.log(Math.max(count, 3.5) / 3.5));
}

/**
 * The decision of a method {rule, beta, gamma, ...} on a pool; see `statistics` for pools.
 *
 * `index` is the choice and `bestOfK` what the mean alone would choose; `candidates`, `eligible`
 * and `feasible` are (K,). `floor` (epsilon) and `threshold` (tau) are what the rule compared with.
 */
export function decide(pool, method) {
  const { candidates, constant } = statistics(pool, method.beta, method.gamma);
  const names = ["value", "mean", "sigma", "premium", "tolerance"];
  const columns = Object.fromEntries(
    names.map((name) => [name, candidates.map((each) => each[name])]),
  );
  const seen = { ...columns, eligible: eligibleOf(candidates, method.minSamples) };
  const choice = rules[method.rule](seen, method);
  const flags = [...choice.flags];
  if (candidates.some((each, k) => each.present && !seen.eligible[k])) flags.push("few_samples");
  if (constant) flags.push("constant_scorer");
  const { sigma, count } = candidates[choice.index];
  if (method.rule !== "mean" && smallSample(method.beta, sigma, count)) flags.push("small_sample");
  const bestOfK = rules.mean(seen).index;
  return { ...choice, flags, bestOfK, candidates, eligible: seen.eligible, method };
}

/** The candidates that no other beats in both, by rising sigma (or another measure of risk). */
export function frontier(candidates, risk = "sigma") {
  const usable = candidates
    .map((each, index) => ({ ...each, index }))
    .filter((each) => !Number.isNaN(each[risk]) && !Number.isNaN(each.value))
    .sort((a, b) => a[risk] - b[risk] || b.value - a.value);
  const best = [];
  for (const each of usable) {
    if (!best.length || each.value > best.at(-1).value) best.push(each);
  }
  return best.map((each) => each.index);
}

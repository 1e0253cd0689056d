/** Statistics of one pool: scores (scorers, candidates, samples), null where one is missing. */

const LARGEST = 1e300;
const SERIES_BELOW = 1e-8;
const EXPM1_BELOW = 0.03;
const ROUNDING = 1e-12;

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
const known = (numbers) => numbers.filter((each) => !Number.isNaN(each));

/** Samples as distances above their minimum, which loses no digits to a large offset. */
export function column(samples) {
  const kept = samples.filter((each) => each !== null && !Number.isNaN(each));
  const count = kept.length;
  const low = count ? Math.min(...kept) : NaN;
  const distance = kept.map((each) => each - low);
  const offset = count ? sum(distance) / count : NaN;
  const variance = count ? sum(distance.map((each) => (each - offset) ** 2)) / count : NaN;
  const sigma = count > 1 ? Math.sqrt((variance * count) / (count - 1)) : NaN;
  return { count, low, distance, offset, variance, sigma };
}

/** The entropic value less the minimum, within [0, offset]. */
export function softMinimum(samples, beta) {
  const { count, distance, offset, variance } = samples;
  if (!count) return NaN;
  const rate = Math.min(beta, LARGEST);
  const span = rate * Math.max(...distance);
  let above;
  if (span < SERIES_BELOW) {
    above = offset - 0.5 * rate * variance;
  } else if (span < EXPM1_BELOW) {
    above = -Math.log1p(sum(distance.map((each) => Math.expm1(-rate * each))) / count) / rate;
  } else {
    above = -Math.log(sum(distance.map((each) => Math.exp(-rate * each))) / count) / rate;
  }
  return Math.min(Math.abs(above), offset);
}

function fixedUnits(location, scale) {
  return { base: location, center: 0, scale, factor: 1 / scale, constant: false };
}

/** The pooled mean and deviation of one scorer over all its samples. */
function promptUnits(columns) {
  const own = columns.filter((each) => each.count);
  const base = own.length ? Math.min(...own.map((each) => each.low)) : 0;
  const total = Math.max(1, sum(own.map((each) => each.count)));
  const height = own.map((each) => each.low - base + each.offset);
  const center = sum(own.map((each, i) => each.count * height[i])) / total;
  const squares = own.map((each, i) => each.count * ((height[i] - center) ** 2 + each.variance));
  const spread = Math.sqrt(sum(squares) / Math.max(total - 1, 1));
  const constant = spread <= ROUNDING * Math.max(Math.abs(base), Math.abs(base + center));
  const scale = constant ? 1 : spread;
  return { base, center, scale, factor: constant ? 0 : 1 / scale, constant };
}

function unitsOf(pool, columns, scorer) {
  if (pool.normalize === "prompt") return promptUnits(columns);
  if (pool.normalize === "none") return fixedUnits(0, 1);
  return fixedUnits(pool.location[scorer], pool.scale[scorer]);
}

function ofScorer(columns, units, beta) {
  return columns.map((each) => {
    const above = softMinimum(each, beta / units.scale);
    const low = each.low - units.base - units.center;
    return {
      value: (low + above) * units.factor,
      mean: (low + each.offset) * units.factor,
      sigma: each.sigma * units.factor,
      premium: each.count > 1 ? (each.offset - above) * units.factor : NaN,
      count: each.count,
    };
  });
}

/** One candidate over its scorers: soft-min of values, average of means, largest of the rest. */
function hedged(own, gamma) {
  const values = column(own.map((each) => each.value));
  const largest = (name) => {
    const numbers = known(own.map((each) => each[name]));
    return numbers.length ? Math.max(...numbers) : NaN;
  };
  const means = known(own.map((each) => each.mean));
  return {
    value: values.low + softMinimum(values, gamma),
    mean: means.length ? sum(means) / means.length : NaN,
    sigma: largest("sigma"),
    premium: largest("premium"),
    count: Math.min(...own.map((each) => each.count)),
  };
}

function clipped(sample, [low, high]) {
  if (sample === null) return null;
  return Math.min(high ?? Infinity, Math.max(low ?? -Infinity, sample));
}

/**
 * The statistics of every candidate, (K,), and whether some scorer was constant.
 *
 * A pool has `scores` (M, K, n), `bounds` (M pairs), and `normalize`: "none", "prompt", or "fixed"
 * with `location` and `scale` (M). Differences up to a candidate's `tolerance` count as ties.
 */
export function statistics(pool, beta, gamma) {
  const scorers = pool.scores.map((rows, scorer) => {
    const columns = rows.map((row) => column(row.map((x) => clipped(x, pool.bounds[scorer]))));
    const units = unitsOf(pool, columns, scorer);
    return { units, each: ofScorer(columns, units, beta) };
  });
  const candidates = pool.scores[0].map((_, k) => {
    const own = scorers.map((scorer) => scorer.each[k]);
    const reach = own.map((s) => (s.sigma || 0) * Math.sqrt(s.count) + Math.abs(s.mean || 0));
    return {
      ...(own.length === 1 ? own[0] : hedged(own, gamma)),
      present: own.some((each) => each.count > 0),
      tolerance: ROUNDING * Math.max(...reach),
    };
  });
  return { candidates, constant: scorers.some((scorer) => scorer.units.constant) };
}

/** What the gateway said of one request, as `decide` wants it. */

const number = (value) => (value === "inf" ? Infinity : value);

/** The pool of a decision event, or null where nothing was scored. */
export function poolOf(said) {
  if (!said.scores) return null;
  const active = [...said.scorers.keys()].filter((place) => said.scorers[place].active);
  const scores = active.map((place) => said.scores[place]);
  if (!scores.length || !scores.flat(2).some((score) => score !== null)) return null;
  const scorers = active.map((place) => said.scorers[place]);
  return {
    scores,
    bounds: scorers.map((each) => each.bounds),
    normalize: said.parameters.normalize,
    location: scorers.map((each) => each.location),
    scale: scorers.map((each) => each.scale),
  };
}

/** The rule and its parameters that the gateway decided by. */
export function methodOf(said) {
  const given = Object.entries(said.parameters).map(([name, value]) => [name, number(value)]);
  return { ...Object.fromEntries(given), rule: said.rule };
}

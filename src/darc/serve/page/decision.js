/** Decisions of the gateway: asking for another one on the same scores, and reading them. */

/** A decision whose candidates can be looked up by their index, as `decision.of(index)`. */
export function readDecision(response) {
  const candidates = new Map(response.candidates.map((candidate) => [candidate.index, candidate]));
  return { ...response, of: (index) => candidates.get(index) };
}

/** The body of a request to decide again: the scores of a result, and everything that describes them. */
export function selectionBody(result, answers, method) {
  const activePlaces = [...result.scorers.keys()].filter((place) => result.scorers[place].active);
  const scorers = activePlaces.map((place) => {
    const { name, location, scale, bounds } = result.scorers[place];
    return { name, location, scale, bounds };
  });
  return {
    scores: activePlaces.map((place) => result.scores[place]),
    scorers,
    raters: result.raters,
    judged: result.judged,
    orders: result.orders,
    grades: result.grades,
    sample: result.raters ? "rater" : "rewrite",
    names: result.scores[0].map((_, index) => answers.name(index)),
    side: result.side,
    prompt_id: result.prompt_id,
    min_samples: result.min_samples,
    darc: {
      beta: result.parameters.beta,
      gamma: result.parameters.gamma,
      normalize: result.parameters.normalize,
      n_aug: result.n_aug,
      include_original: result.include_original,
      ...method,
    },
  };
}

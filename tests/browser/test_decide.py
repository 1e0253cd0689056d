"""The page's own arithmetic against the library's."""

import math
from typing import Any

import numpy as np
import pytest
from tests.browser.page import Browser
from tests.fakes import FakeServer
from tests.gateway.running import running

import darc

POOLS = 240
RULES: dict[str, list[dict[str, Any]]] = {
    "mean": [{}],
    "entropic": [{}],
    "tau": [{}, {"tau": 0.05}, {"tau": 0.5}, {"quantile": 0.6}, {"tau": 0.3, "objective": "mean"}],
    "penalty": [{}, {"lam": 0.2}, {"lam": 4.0}],
    "epsilon": [{}, {"epsilon": 0.0}, {"epsilon": 1.5}],
}
SCRIPT = """
const [cases, done] = arguments;
import("/decide.js").then(({decide}) => done(cases.map(each => {
  const {index, feasible, flags, bestOfK, candidates} = decide(each.pool, each.method);
  return {index, feasible, flags, bestOfK, candidates};
}))).catch(problem => done(String(problem)));
"""


def case(random: np.random.Generator) -> tuple[dict[str, Any], np.ndarray, Any]:
    """A random pool with its method, its scores with NaN, and its normalisation."""
    scorers, candidates, samples = (int(random.integers(1, top)) for top in (4, 11, 10))
    spread = 10.0 ** random.integers(-3, 3)
    scores = random.normal(random.choice([0.0, 5.0, -1e4]), spread, (scorers, candidates, samples))
    if random.random() < 0.3:
        scores = np.round(scores)
    if random.random() < 0.3:
        scores[:, random.integers(candidates)] = scores[:, 0]
    if random.random() < 0.2:
        scores[0] = 3.0
    if random.random() < 0.6:
        missing = random.random((candidates, samples)) < 0.4
        missing[:, 0] &= random.random(candidates) < 0.2
        missing[0] = False
        scores[:, missing] = np.nan
    if scorers > 1 and random.random() < 0.2:
        scores[0, -1] = np.nan
    bounds: list[list[float | None]] = [[None, None]] * scorers
    clipped = random.random() < 0.3
    if clipped:
        bounds = [[-1.0, 8.0]] * scorers
    rule = str(random.choice(list(RULES)))
    method = {
        "rule": rule,
        "beta": float(random.choice([0.0, 1e-9, 1e-3, 0.3, 1.0, 5.0, 1e3])),
        "gamma": float(random.choice([0.0, 0.01, 1.0, 20.0])),
        **RULES[rule][random.integers(len(RULES[rule]))],
    }
    name = str(random.choice(["none", "prompt", "fixed"]))
    constants = random.normal(0, 2, scorers).tolist(), random.uniform(0.1, 4, scorers).tolist()
    pool = {
        "scores": [[[None if math.isnan(x) else x for x in k] for k in m] for m in scores.tolist()],
        "bounds": bounds,
        "normalize": name,
        "location": constants[0],
        "scale": constants[1],
    }
    if clipped:
        scores = np.clip(scores, -1.0, 8.0)
    return {"pool": pool, "method": method}, scores, constants if name == "fixed" else name


def test_the_page_decides_as_the_library_does(browser: Browser) -> None:
    random = np.random.default_rng(5)
    cases = [case(random) for _ in range(POOLS)]
    with FakeServer() as fake, running(fake) as gateway:
        browser.open(gateway.url)
        results = browser.driver.execute_async_script(SCRIPT, [given for given, _, _ in cases])
    assert isinstance(results, list), results
    chosen = set()
    for (given, scores, normalize), found in zip(cases, results, strict=True):
        method = dict(given["method"])
        rule, beta, gamma = (method.pop(name) for name in ("rule", "beta", "gamma"))
        decision = darc.select(scores, rule, beta=beta, gamma=gamma, normalize=normalize, **method)
        assert found["index"] == decision.index, given
        assert found["feasible"] == decision.feasible.tolist(), given
        assert sorted(found["flags"]) == sorted(decision.flags), given
        chosen.add((rule, found["index"] == found["bestOfK"]))
        leader = darc.select(scores, "mean", beta=beta, gamma=gamma, normalize=normalize)
        assert found["bestOfK"] == leader.index
        rows = decision.statistics
        reach = max(1.0, float(np.nanmax(np.abs(rows.mean))))
        ours = {"value": rows.value, "mean": rows.mean, "sigma": rows.sigma}
        for name, numbers in {**ours, "premium": rows.risk_premium}.items():
            theirs = [
                math.nan if each[name] is None else each[name] for each in found["candidates"]
            ]
            assert theirs == pytest.approx(numbers.tolist(), abs=1e-9 * reach, nan_ok=True), name
        assert [each["count"] for each in found["candidates"]] == rows.count.tolist()
    assert {rule for rule, same in chosen if not same} >= {"entropic", "tau", "penalty", "epsilon"}

from typing import Any

import numpy as np
import pytest
from tests.analysis.helpers import make_source

import darc
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.decide.decide_all import decide_all, decisions_of
from darc.decide.method import Method, parse_methods
from darc.decide.rule import Rule
from darc.decide.sample_batch import SampleBatch
from darc.decide.statistics import summary
from darc.errors import InputError


def batch() -> SampleBatch:
    samples = np.random.default_rng(0).normal(5.0, 2.0, size=(12, 1, 5, 6))
    likelihood = np.random.default_rng(1).normal(size=(12, 5))
    return SampleBatch(samples, range(12), side={"log_likelihood": likelihood})


def test_methods_decide_as_each_does_alone() -> None:
    texts = ["mean", "epsilon:beta=2", "auto", "soft", "rbon:b=2", "lcb"]
    methods = parse_methods(texts, seed=4)
    samples = batch()
    for method, decisions in zip(methods, decisions_of(methods, samples), strict=True):
        side: dict[str, Any] = {name: samples.side[name] for name in method.rule.required()}
        alone = darc.select_batch(samples.samples, method.rule, beta=method.beta, seed=4, **side)
        assert decisions.index.tolist() == alone.index.tolist(), str(method)
        assert decisions.index.tolist() == method.decide_batch(samples).index.tolist()


def test_statistics_are_shared_by_beta_and_gamma(monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[tuple[float, float]] = []
    original = summary.batched

    def counted(samples: Any, beta: float, gamma: float, *rest: Any) -> Any:
        levels.append((beta, gamma))
        return original(samples, beta, gamma, *rest)

    monkeypatch.setattr("darc.decide.pools.batched", counted)
    texts = ["mean", "entropic", "lcb", "penalty:beta=2", "epsilon:beta=2", "rbon", "auto"]
    decisions_of(parse_methods(texts), batch())
    assert sorted(levels) == [(1.0, 1.0), (2.0, 1.0)]


def test_a_method_that_fails_is_reported_or_raises() -> None:
    methods = [Method.parse("mbr"), Method.parse("mean")]
    failed, decided = decide_all(methods, batch(), keep_going=True)
    assert failed.decisions is None
    assert isinstance(failed.error, InputError)
    assert decided.decisions is not None
    assert decided.error is None
    with pytest.raises(InputError, match="similarity"):
        list(decide_all(methods, batch()))


def test_an_evaluation_binds_a_rule_at_most_once_per_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound: list[str] = []
    original = Rule.bind

    def counted(self: Rule, **parameters: Any) -> Rule:
        bound.append(self.name)
        return original(self, **parameters)

    rules = ("mean", "auto", "hedgetune", "epsilon", "lcb")
    settings = ContestSettings(rules=rules, splits=4, draws=5)
    monkeypatch.setattr(Rule, "bind", counted)
    compare_rules(make_source(20, 4, 8), settings)
    for name in rules:
        # Once when the text is parsed, and once per split for a rule that learns from it.
        assert bound.count(name) <= 1 + 4, bound
    assert bound.count("epsilon") <= 1

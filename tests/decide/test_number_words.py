"""Every claim of the numbers behind a choice, read back and checked against the statistics."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers import Array

import darc
from darc.decide.flags import FLAGS
from darc.decide.model.calibration import DEFAULT
from darc.decide.number_words import NUMBERS, ORDINALS, numbers_in_words
from darc.decide.statistics import risk

PLACE = rf"{'|'.join(ORDINALS)}|\d+th"
RANK = re.compile(rf"(joint )?(?:({PLACE}) by (mean|value)|(?:({PLACE}) )?lowest (sigma))")
OF_THE = re.compile(r"of the (\d+) with enough samples ")
PAIR = r"(\S+) against (\S+)"
LEADS = re.compile(
    rf"(.+) leads( these)? by mean(?: and (value)| \({PAIR}\))"
    rf"(?:, but its (risk premium|value|sigma) is (?:(undefined)|{PAIR}))?"
)
OUTLIERS = re.compile(r"(\w+) raters? far below the rest cost (.+) its lead( among these)?")
explain_settings = settings(derandomize=True, max_examples=150, deadline=None, database=None)


class Facts:
    """What is true of a pool by a decision about all of it."""

    def __init__(self, decision: darc.Decision, scores: Array, minimum: int | None) -> None:
        self.decision = decision
        self.told = decision
        self.scores = scores
        self.statistics = decision.statistics
        self.tolerance = decision.pools.tolerance[0]
        count = (~np.isnan(scores)).sum(axis=2)
        self.present = count.max(axis=0) > 0
        fewest = count.min(axis=0)
        if minimum is None and decision.rule.allow_few_samples:
            minimum = 1
        least = fewest.max() / 2 if minimum is None else minimum
        enough = self.present & (fewest >= least)
        self.eligible = enough if enough.any() else self.present
        self.left_out = self.present & ~self.eligible

    def slack(self, one: int, other: int) -> float:
        return float(max(self.tolerance[one], self.tolerance[other]))

    def above(self, key: Array, own: int) -> list[int]:
        return [
            k
            for k in np.flatnonzero(self.eligible).tolist()
            if key[k] > key[own] + self.slack(k, own)
        ]

    def best(self, key: Array, own: int, among: Any = None) -> bool:
        """Whether no candidate of `among` is above; float noise of a tie aside."""
        group = self.eligible if among is None else self.eligible & among
        return all(
            not key[k] > key[own] + 4 * self.slack(k, own) for k in np.flatnonzero(group).tolist()
        )


def check_ranks(said: str, facts: Facts) -> None:
    own = facts.decision.index
    if said.startswith("the only"):
        assert facts.eligible.sum() == 1
        assert said.endswith("with enough samples") == facts.left_out.any()
        return
    found = OF_THE.match(said)
    assert (found is not None) == facts.left_out.any()
    if found:
        assert int(found[1]) == facts.eligible.sum()
        said = said[found.end() :]
    claimed = {}
    for part in said.split(", "):
        match = RANK.fullmatch(part)
        assert match, part
        joint, place, name, calm, sigma = match.groups()
        word = place or calm or "first"
        claimed[name or sigma] = joint, word
        key = getattr(facts.statistics, name or sigma) * (-1 if sigma else 1)
        rank = ORDINALS.index(word) + 1 if word in ORDINALS else int(word[:-2])
        assert rank == 1 + len(facts.above(key, own))
        tied = [
            k
            for k in np.flatnonzero(facts.eligible).tolist()
            if k != own and abs(key[k] - key[own]) <= facts.slack(k, own)
        ]
        assert bool(joint) == bool(tied)
    defined = [
        each
        for each in ("mean", "value", "sigma")
        if not np.isnan(getattr(facts.statistics, each)[own])
    ]
    assert list(claimed) == defined


def check_lead(said: list[str], facts: Facts) -> None:
    own = facts.decision.index
    statistics = facts.statistics
    leaders = facts.above(statistics.mean, own)
    assert bool(said) == (bool(leaders) and facts.decision.rule.by_value)
    if not said:
        return
    (sentence,) = said
    outliers = OUTLIERS.fullmatch(sentence)
    match = outliers or LEADS.fullmatch(sentence)
    assert match, sentence
    leader = int(match[2 if outliers else 1].removeprefix("candidate "))
    assert leader in leaders
    assert facts.best(statistics.mean, leader)
    assert bool(match[3 if outliers else 2]) == facts.left_out.any()
    if outliers:
        check_outliers(NUMBERS.index(match[1]), leader, facts)
        return
    _, _, also, mean, other, weakness, undefined, one, two = match.groups()
    assert bool(also) == (leader in facts.above(statistics.value, own))
    if mean:
        check_pair(mean, other, statistics.mean, leader, own)
        assert float(mean) > float(other)
    assert weakness, "a rule by value always has something against a leader"
    array = getattr(statistics, weakness.replace(" ", "_"))
    if undefined:
        assert np.isnan(array[leader])
        return
    check_pair(one, two, array, leader, own)
    assert float(one) < float(two) if weakness == "value" else float(one) > float(two)


def check_pair(one: str, two: str, array: Array, leader: int, own: int) -> None:
    assert float(one) == pytest.approx(array[leader], rel=5.1e-3)
    assert float(two) == pytest.approx(array[own], rel=5.1e-3)


def check_outliers(low: int, leader: int, facts: Facts) -> None:
    samples = np.sort(facts.scores[0, leader][~np.isnan(facts.scores[0, leader])])
    rest = samples[low:]
    assert rest[0] - samples[low - 1] >= rest[-1] - rest[0]
    value = risk.entropic_value(rest, facts.decision.pools.beta)
    values = facts.statistics.value[facts.eligible]
    assert value > values.max() > facts.statistics.value[leader]


def largest(name: str) -> Callable[[Facts, re.Match[str]], bool]:
    return lambda facts, _: facts.best(getattr(facts.statistics, name), facts.decision.index)


def near(facts: Facts, width: str) -> Any:
    value = np.where(facts.eligible, facts.statistics.value, -np.inf)
    return value >= value.max() - float(width) - 4 * facts.tolerance.max()


def lowest_sigma(facts: Facts, match: re.Match[str]) -> bool:
    group = near(facts, match[2])
    own = facts.decision.index
    counted = match[1] == "those" or int(match[1].split()[1]) == group.sum()
    return counted and bool(group[own]) and facts.best(-facts.statistics.sigma, own, group)


def only_near(facts: Facts, match: re.Match[str]) -> bool:
    return np.flatnonzero(near(facts, match[1])).tolist() == [facts.decision.index]


def capped(facts: Facts, match: re.Match[str]) -> bool:
    threshold = facts.told.choice.facts["threshold"][0]
    group = facts.eligible & (facts.statistics.risk_premium <= threshold + 4 * facts.tolerance)
    own = facts.decision.index
    if match.re.pattern.startswith("it is"):
        return float(match[1]) == pytest.approx(threshold, rel=1e-3) and group.sum() == 1
    counted = match[2] == "those" or int(match[2].split()[1]) == group.sum()
    right = counted and float(match[3]) == pytest.approx(threshold, rel=1e-3)
    key = getattr(facts.statistics, match[1])
    return right and bool(group[own]) and facts.best(key, own, group)


def low_share(facts: Facts, match: re.Match[str]) -> bool:
    tail = facts.decision.pools.cvar(float(match[1]))[0]
    return facts.best(tail, facts.decision.index)


def less_sigma(facts: Facts, _: re.Match[str]) -> bool:
    count = facts.statistics.count
    size = facts.present.sum()
    lam = facts.decision.rule.parameters["lam"]
    if lam is None:
        lam = np.sqrt(np.log(size / 0.05) / np.maximum(count, 1))
    key = facts.statistics.mean - lam * facts.statistics.sigma
    return facts.best(key, facts.decision.index)


def shrunken(facts: Facts, match: re.Match[str]) -> bool:
    shrinking, times, _ = match.groups()
    own = facts.decision.index
    count = facts.statistics.count[facts.eligible]
    partly = facts.told.bounded is not None and facts.told.bounded.any()
    weight = DEFAULT.by_count(6)[0][int(facts.statistics.count[own])]
    return (
        (partly or bool(shrinking) == (count.min() < count.max()))
        and (times is None or float(times) == pytest.approx(weight, rel=0.06))
        and objective(facts, match)
    )


def drawn(facts: Facts, match: re.Match[str]) -> bool:
    group = facts.decision.feasible
    size = int(match[1]) if match.groups() and match[1] else 1
    own = facts.decision.index
    return (
        group.sum() == size
        and bool(group[own])
        and not (group & ~facts.eligible).any()
        and facts.best(facts.statistics.mean, own, group)
    )


def objective(facts: Facts, _: re.Match[str]) -> bool:
    return facts.best(facts.decision.choice.objective[0], facts.decision.index)


NUMBER = r"(-?[\d.e+-]+)"
REASONS: dict[str, Callable[[Facts, re.Match[str]], bool]] = {
    "it has the largest mean": largest("mean"),
    "it has the largest mean over its passes": largest("mean"),
    "it has the largest (?:entropic )?value": largest("value"),
    rf"it has the lowest sigma of (those|the \d+) within {NUMBER} of the best value": lowest_sigma,
    rf"it is the only one within {NUMBER} of the best value": only_near,
    rf"it has the largest (value|mean) of (those|the \d+) whose risk premium is at most "
    rf"{NUMBER}": capped,
    rf"it is the only one whose risk premium is at most {NUMBER}": capped,
    rf"it has the largest value less {NUMBER} times its risk premium": lambda facts, match: (
        facts.best(
            facts.statistics.value - float(match[1]) * facts.statistics.risk_premium,
            facts.decision.index,
        )
    ),
    rf"it has the largest mean over its lowest samples, a share of {NUMBER}": low_share,
    "it has the largest mean less its multiple of sigma": less_sigma,
    rf"it has the largest mean less {NUMBER} sigma over its passes": less_sigma,
    rf"it has the largest mean(?=.)( after shrinking)?"
    rf"(?:, less {NUMBER} times its disagreement| less proven disagreement)?"
    r"(?:, hedged over its scorers, of which scorer (\d) is lowest)?": shrunken,
    rf"it has the largest reward of the (\d+) candidates drawn(?: at rate {NUMBER})?": drawn,
    rf"it is the only candidate drawn(?: at rate {NUMBER})?(?!.)": lambda facts, _: (
        facts.decision.feasible.sum() == 1 and facts.decision.feasible[facts.decision.index]
    ),
    rf"it has been drawn with probability proportional to exp\(mean / T\), T = {NUMBER}": (
        lambda facts, _: bool(facts.eligible[facts.decision.index])
    ),
    rf"it has the largest mean less {NUMBER} times the variance over scorers": objective,
    "it has the largest mean under its worst scorer": objective,
    "it has the largest share of others that raters rank below it": objective,
    "it has the best sorted samples, compared from the worst up": objective,
    "it has the largest mean log of its samples above the floor": objective,
    "it has stood longest while raters used up what they like least": objective,
    "it has been accepted first, by a weight that rises with its mean": (
        lambda facts, _: bool(facts.eligible[facts.decision.index])
    ),
    "it has the largest mean similarity to the others": objective,
    r"it has the largest mean of the (\d+) whose answer is shared by enough others": drawn,
    r"it is the only one whose answer is shared by enough others": drawn,
    "it has the largest soft minimum over groups, who differ on it 2 times as much as candidates "
    "do": objective,
    "it has the largest expected mean for .*": objective,
    rf"it has the largest reward plus {NUMBER} times its regulariser": objective,
    rf"it has the largest reward less {NUMBER} times its atypicality": objective,
}


def check_reason(said: str, facts: Facts) -> None:
    matches = [(re.fullmatch(pattern, said), check) for pattern, check in REASONS.items()]
    found = [(match, check) for match, check in matches if match]
    assert len(found) == 1, said
    match, check = found[0]
    assert check(facts, match), said


def check_words(decision: darc.Decision, full: Facts) -> None:
    """Read the explanation of a decision and check it against all that is true of the pool."""
    text = numbers_in_words(decision)
    whole = decision.explain(details=True)
    full.told = decision
    assert "nan" not in whole
    assert f"{text}." in whole
    for flag in decision.flags:
        assert FLAGS[flag][1:] in whole
    first, reason, *lead = text.split("; ")
    name, ranks = first.split(": ")
    assert name == f"candidate {decision.index}"
    if decision.bounded is not None and decision.bounded.any():
        assert not lead
        assert not RANK.search(ranks)
        for claim in ranks.split(", "):
            kind, number = claim.split(" ")
            own = getattr(decision.statistics, kind)[decision.index]
            assert float(number) == pytest.approx(own, rel=5.1e-3, abs=1e-300)
        reason = reason.removeprefix("of those with enough samples ")
    else:
        check_ranks(ranks, full)
        assert reason.startswith("of these ") == full.left_out.any()
        reason = reason.removeprefix("of these ")
        check_lead(lead, full)
    check_reason(reason, full)
    if "infeasible" in decision.flags:
        threshold = full.decision.choice.facts["threshold"][0]
        assert not (full.eligible & (full.statistics.risk_premium <= threshold)).any()
    if "few_samples" in decision.flags:
        assert full.left_out.any()


LAZY: list[tuple[str, dict[str, Any]]] = [
    ("entropic", {}),
    ("epsilon", {}),
    ("epsilon", {"epsilon": 2.0}),
    ("penalty", {}),
    ("penalty", {"lam": 3.0}),
    ("tau", {}),
    ("tau", {"tau": 0.0}),
    ("tau", {"tau": 0.4, "objective": "mean"}),
    ("cvar", {"alpha": 0.125}),
    ("lcb", {}),
    ("lcb", {"lam": 1.0}),
    ("mean", {}),
    ("auto", {}),
]
FULL: list[tuple[str, dict[str, Any]]] = [
    *LAZY,
    ("mc_dropout", {"lam": 1.0}),
    ("soft", {}),
    ("soft", {"temperature": 0.0}),
    ("poisson", {"rate": 2.0}),
    ("hedgetune", {"rate": 4.0}),
    ("borda", {}),
    ("leximin", {}),
    ("nash", {}),
    ("nash", {"floor": -20.0}),
    ("pessimism", {}),
    ("veto", {}),
    ("worst", {}),
    ("uwo", {}),
    ("mbr", {}),
    ("rbon", {}),
    ("caution", {}),
    ("majority", {}),
    ("majority", {"share": 0.6}),
    ("group", {}),
    ("for_groups", {}),
    ("for_groups", {"group": "a"}),
    ("for_groups", {"worst": True}),
    ("group", {"learnt": {"effects": {"b": 0.5}, "groups": 1.0, "within": 1.0, "ratio": 2.0}}),
]


@st.composite
def pools(draw: st.DrawFn, most: int = 2) -> Array:
    """Scores (M, K, n) within (-10, 10): often tied, ragged, of one sample, or with outliers."""
    scorers = draw(st.integers(1, most))
    candidates = draw(st.integers(1, 5))
    size = draw(st.sampled_from([1, 2, 3, 6]))
    number = draw(
        st.sampled_from(
            [
                st.integers(-2, 2).map(float),
                st.sampled_from([7.0, 7.0, 7.0, 8.0, 8.0, 8.5, -9.0]),
                st.floats(-1, 1, width=16),
            ]
        )
    )
    cells = candidates * size
    scores = np.array(draw(st.lists(number, min_size=scorers * cells, max_size=scorers * cells)))
    gaps = draw(
        st.one_of(st.just([False] * cells), st.lists(st.booleans(), min_size=cells, max_size=cells))
    )
    mask = np.array(gaps).reshape(candidates, size)
    mask[draw(st.integers(0, candidates - 1)), 0] = False
    return np.where(mask, np.nan, scores.reshape(scorers, candidates, size))


def side_inputs(rule: str, candidates: int, size: int) -> dict[str, Any]:
    generator = np.random.default_rng(candidates)
    known: dict[str, dict[str, Any]] = {
        "rbon": {"log_likelihood": -generator.random(candidates)},
        "mbr": {"similarity": generator.random((candidates, candidates))},
        "caution": {"atypicality": generator.random(candidates)},
        "majority": {"same_text": generator.integers(0, 3, candidates)},
        "group": {
            "rater_ids": [["ann", "bob", "cid", "dot", "eve", "fay"][:size]] * candidates,
            "rater_groups": {"ann": "a", "bob": "b", "cid": "a", "dot": "b"},
        },
    }
    known["for_groups"] = known["group"]
    return known.get(rule, {})


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "options"), FULL, ids=str)
@explain_settings
@given(data=st.data())
def test_every_claim_is_true(rule: str, options: dict[str, Any], data: st.DataObject) -> None:
    # The passes of mc_dropout are its scorer's samples here, so that the facts are the same.
    dropout = rule == "mc_dropout"
    scores = data.draw(pools(most=1) if dropout else pools())
    minimum = data.draw(st.sampled_from([None, None, 1, 3]))
    beta = data.draw(st.sampled_from([0.3, 1.0, 5.0]))
    given_side = {"dropout": scores[0]} if dropout else side_inputs(rule, *scores.shape[1:])
    decision = darc.select(
        scores, rule, sample="rater", beta=beta, min_samples=minimum, **options, **given_side
    )
    check_words(decision, Facts(decision, scores, minimum))


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "options"), LAZY, ids=str)
@explain_settings
@given(data=st.data())
def test_every_claim_of_a_lazy_decision_is_true(
    rule: str, options: dict[str, Any], data: st.DataObject
) -> None:
    scores = data.draw(pools(most=1))
    minimum = data.draw(st.sampled_from([None, None, 1, 3]))
    _, candidates, size = scores.shape
    full = darc.select(scores, rule, sample="rater", min_samples=minimum, **options)
    lazy = darc.select_lazily(
        lambda pairs: [scores[0][pair] for pair in pairs],
        candidates,
        size,
        rule,
        sample="rater",
        min_samples=minimum,
        **options,
    )
    check_words(lazy, Facts(full, scores, minimum))


def test_every_rule_is_checked() -> None:
    ours = {n for n in darc.rules if darc.rules.get(n).function.__module__.startswith("darc.")}
    assert {name for name, _ in FULL} == ours


def test_a_candidate_tied_on_the_mean_has_no_lead_to_lose() -> None:
    decision = darc.select([[4.0, 6.0], [5.0, 5.0]], "entropic")
    assert numbers_in_words(decision) == (
        "candidate 1: joint first by mean, first by value, lowest sigma; it has the largest "
        "entropic value"
    )


def test_ranks_say_whom_they_leave_out() -> None:
    decision = darc.select([[9.0, np.nan, np.nan], [5.0, 5.0, 5.0], [4.0, 4.5, 4.0]], "mean")
    assert numbers_in_words(decision) == (
        "candidate 1: of the 2 with enough samples first by mean, first by value, lowest sigma; "
        "of these it has the largest mean"
    )
    assert "too few samples were left out" in decision.explain()


def test_one_sample_each() -> None:
    decision = darc.select([[4.0], [5.0]], "epsilon")
    words = "candidate 1: first by mean, first by value; it has the largest value"
    assert numbers_in_words(decision) == words
    assert "sigma is undefined with one sample" in decision.explain().lower()


def test_outliers_are_judged_in_the_units_of_the_statistics() -> None:
    scores = [[9.0, 9.0, 9.0, 9.0, 9.0, 1.0], [7.0, 7.0, 7.5, 7.0, 7.0, 7.0]]
    plain = darc.select(scores, "entropic", beta=10.0)
    scaled = darc.select(
        np.array(scores) * 100, "entropic", beta=10.0, normalize=(0.0, 100.0), sample="sample"
    )
    assert numbers_in_words(scaled) == numbers_in_words(plain)
    assert "one sample far below the rest cost candidate 0 its lead" in numbers_in_words(plain)

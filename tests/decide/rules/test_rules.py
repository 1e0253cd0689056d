"""Each rule against plain loops that follow the contract's table to the letter."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import Array, fast_settings

import darc
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.decide.statistics import risk
from darc.engine.same_answers import same_answers
from darc.engine.side_inputs import parse_side_inputs
from darc.errors import InputError
from darc.types import Candidate, Prompt

POOL = np.array(
    [
        [9.0, 9.0, 9.0, 1.0, 10.0],
        [7.0, 7.0, 8.0, 8.0, 7.0],
        [7.0, 7.0, 7.0, 7.0, 7.5],
        [2.0, 3.0, 2.0, 3.0, 2.0],
    ]
)


def first(keys: list[tuple[float, ...]]) -> int:
    """The index of the largest key, the lowest index among equals."""
    return max(range(len(keys)), key=lambda k: (keys[k], -k))


@st.composite
def distinct_pools(draw: st.DrawFn) -> Array:
    shape = draw(st.integers(2, 6)), draw(st.integers(2, 7))
    seed = draw(st.integers(0, 10_000))
    return np.random.default_rng(seed).normal(0, draw(st.floats(0.1, 4)), size=shape)


@fast_settings
@given(distinct_pools(), st.floats(0.05, 5))
def test_rules_against_plain_loops(scores: Array, beta: float) -> None:
    candidates, n = scores.shape
    mean = scores.mean(axis=1)
    sigma = scores.std(axis=1, ddof=1)
    value = np.array([-np.log(np.mean(np.exp(-beta * row))) / beta for row in scores])
    premium = mean - value
    near = [k for k in range(candidates) if value[k] >= value.max() - 0.25]
    cap = np.quantile(premium, 0.25)
    capped = [k for k in range(candidates) if premium[k] <= cap + 1e-12]
    lam = np.sqrt(np.log(candidates / 0.05) / n)
    expected = {
        "mean": np.argmax(mean),
        "entropic": np.argmax(value),
        "penalty": np.argmax(value - premium),
        "epsilon": min(near, key=lambda k: sigma[k]),
        "tau": max(capped, key=lambda k: value[k]),
        "lcb": np.argmax(mean - lam * sigma),
        "cvar": np.argmax([np.sort(row)[: max(1, int(np.ceil(0.1 * n)))].mean() for row in scores]),
        "worst": np.argmax(mean),
        "uwo": np.argmax(mean),
    }
    for rule, index in expected.items():
        assert darc.select(scores, rule, beta=beta).index == index, rule
    by_mean = darc.select(scores, "tau", beta=beta, objective="mean")
    assert by_mean.index == max(capped, key=lambda k: mean[k])


@fast_settings
@given(distinct_pools(), st.integers(2, 4), st.integers(0, 1000))
def test_rules_over_several_scorers(scores: Array, scorers: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    many = np.stack(
        [scores * (m + 1) + generator.normal(size=scores.shape) for m in range(scorers)]
    )
    pooled = many.reshape(scorers, -1)
    center = pooled.mean(axis=1)
    spread = pooled.std(axis=1, ddof=1)
    unit = (many - center[:, None, None]) / spread[:, None, None]
    mean = unit.mean(axis=2)
    value = risk.entropic_value(unit)
    soft = risk.entropic_value(value.T)
    sigma = unit.std(axis=2, ddof=1).max(axis=0)
    premium = (mean - value).max(axis=0)
    expected = {
        "mean": np.argmax(mean.mean(axis=0)),
        "entropic": np.argmax(soft),
        "penalty": np.argmax(soft - premium),
        "worst": np.argmax(mean.min(axis=0)),
        "uwo": np.argmax(mean.mean(axis=0) - mean.var(axis=0)),
        "cvar": np.argmax(risk.cvar(unit).mean(axis=0)),
    }
    for rule, index in expected.items():
        assert darc.select(many, rule).index == index, rule
    near = np.flatnonzero(soft >= soft.max() - 0.25 - 1e-12)
    assert darc.select(many, "epsilon").index == near[np.argmin(sigma[near])]


def test_polarising_leader_loses_its_lead() -> None:
    assert darc.select(POOL, "mean").index == 0
    assert darc.select(POOL, "entropic").index == 1
    assert darc.select(POOL, "penalty").index == 1
    assert darc.select(POOL, "epsilon", epsilon=0.5).index == 2


@pytest.mark.parametrize(
    ("tau", "index", "infeasible"), [(10.0, 1, False), (0.03, 2, False), (0.0, 1, True)]
)
def test_tau_caps_the_premium_or_falls_back(tau: float, index: int, infeasible: bool) -> None:
    decision = darc.select(POOL, "tau", tau=tau)
    assert decision.index == index
    assert ("infeasible" in decision.flags) == infeasible
    assert decision.feasible.all() == (infeasible or tau == 10.0)


@pytest.mark.parametrize("rule", ["mean", "entropic", "penalty", "lcb", "cvar", "worst", "uwo"])
def test_ties_go_to_the_larger_mean_then_to_the_lower_index(rule: str) -> None:
    assert darc.select([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0 + 1e-13]], rule).index == 0
    assert darc.select([[-5.0, -5.0], [1.0, 2.0], [2.0, 1.0]], rule).index == 1


def test_value_ties_go_to_the_larger_mean() -> None:
    scores = [[1.0, 5.0], [1.0, 9.0]]
    assert darc.select(scores, "entropic", beta=np.inf).index == 1


def test_epsilon_breaks_sigma_ties_by_mean_then_value_then_index() -> None:
    scores = [[1.0, 3.0], [1.1, 3.1], [0.9, 2.9], [1.1, 3.1]]
    assert darc.select(scores, "epsilon", epsilon=1.0).index == 1


def test_epsilon_falls_back_on_value_without_sigma() -> None:
    decision = darc.select([[1.0], [3.0], [2.9]], "epsilon")
    assert decision.index == 1
    assert "no_sigma" in decision.flags
    ragged = [[5.0, np.nan], [4.9, 4.8]]
    assert darc.select(ragged, "epsilon", epsilon=1.0).index == 1


def test_candidate_with_few_samples_is_left_out() -> None:
    scores = [[9.0] + [np.nan] * 8, *np.random.default_rng(0).normal(5, 1, size=(3, 9)).tolist()]
    decision = darc.select(scores, "entropic")
    assert decision.index != 0
    assert "few_samples" in decision.flags
    assert darc.select(scores, "entropic", min_samples=1).index == 0
    assert darc.select(scores, "entropic", min_samples=99).index == 0


def test_rbon_adds_the_reference_log_likelihood() -> None:
    scores = [[1.0, 1.0], [1.1, 1.1]]
    assert darc.select(scores, "rbon", log_likelihood=[-1.0, -9.0]).index == 0
    assert darc.select(scores, "rbon", log_likelihood=[-1.0, -9.0], b=0.0).index == 1
    whole: dict[str, Any] = {
        "log_likelihood": [-1.0, -0.9],
        "tokens": [10.0, 100.0],
        "per_token": False,
    }
    assert darc.select(scores, "rbon", **whole).index == 0
    similar = [[1.0, 0.2, 0.9], [0.2, 1.0, 0.1], [0.9, 0.1, 1.0]]
    three = [[1.0, 1.0], [1.01, 1.01], [0.9, 0.9]]
    assert darc.select(three, "rbon", form="wd", similarity=similar, b=0.1).index == 0
    assert darc.select(three, "mbr", similarity=similar).index == 0


def test_rewards_can_be_the_original_alone() -> None:
    scores = [[5.0, 0.0, 0.0], [1.0, 9.0, 9.0]]
    side: dict[str, Any] = {"atypicality": [0.0, 0.0]}
    assert darc.select(scores, "caution", **side).index == 1
    assert darc.select(scores, "caution", reward="original", **side).index == 0
    assert darc.select(scores, "caution", a=10.0, atypicality=[0.0, 0.9]).index == 0
    with pytest.raises(InputError, match="first sample"):
        darc.select([[np.nan, 1.0], [1.0, 1.0]], "poisson", reward="original")


@fast_settings
@given(distinct_pools(), st.integers(2, 9), st.floats(0, 5), st.integers(0, 1000))
def test_mc_dropout_looks_at_its_passes_alone(
    scores: Array, passes: int, lam: float, seed: int
) -> None:
    samples = np.random.default_rng(seed).normal(size=(len(scores), passes))
    expected = np.argmax(samples.mean(axis=1) - lam * samples.std(axis=1, ddof=1))
    assert darc.select(scores, "mc_dropout", lam=lam, dropout=samples).index == expected


def test_mc_dropout_is_refused_without_passes() -> None:
    with pytest.raises(InputError, match=r"'mc_dropout' needs .* 'dropout'; give dropout=\.\.\."):
        darc.select([[0.0, 0.0], [9.0, 9.0]], "mc_dropout")


def test_poisson_draws_by_prompt_and_seed() -> None:
    scores = np.random.default_rng(0).normal(size=(400, 1, 16, 3))
    ids = [f"p{i}" for i in range(400)]
    drawn = darc.select_batch(scores, "poisson", rate=4.0, prompt_ids=ids)
    again = darc.select_batch(scores[::-1], "poisson", rate=4.0, prompt_ids=ids[::-1])
    assert np.array_equal(drawn.index, again.index[::-1])
    other = darc.select_batch(scores, "poisson", rate=4.0, prompt_ids=ids, seed=1)
    assert not np.array_equal(drawn.index, other.index)
    sizes = drawn.feasible.sum(axis=1)
    assert sizes.min() == 1
    assert sizes.mean() == pytest.approx(4.0, abs=0.35)
    assert darc.select_batch(scores, "poisson", rate=200.0).flags["capped"].all()
    best = darc.select_batch(scores, "mean").index
    assert np.array_equal(darc.select_batch(scores, "poisson", rate=500.0).index, best)


def test_soft_draws_in_proportion_to_exp_mean() -> None:
    scores = np.tile(np.array([[0.0], [1.0], [np.nan]]), (20_000, 1, 1, 2))
    drawn = darc.select_batch(scores, "soft", temperature=0.5)
    share = np.bincount(drawn.index, minlength=3) / 20_000
    assert share[1] == pytest.approx(np.e**2 / (1 + np.e**2), abs=0.012)
    assert share[2] == 0
    assert (darc.select_batch(scores[:50], "soft", temperature=0.0).index == 1).all()


def test_hedgetune_prefers_small_subsets_under_a_hacked_reward() -> None:
    generator = np.random.default_rng(1)
    truth = generator.normal(size=(300, 1, 16, 1))
    honest = truth + generator.normal(0, 0.1, size=(300, 1, 16, 8))
    hacked = honest.copy()
    worst = truth.argmin(axis=2)[:, 0, 0]
    # The selecting (even) samples adore the worst candidate; the judging (odd) ones do not.
    hacked[np.arange(300), 0, worst, ::2] += 20.0
    assert darc.select_batch(honest, "hedgetune").rule.parameters["rate"] == (16.0, 16.0)
    assert darc.select_batch(hacked, "hedgetune").rule.parameters["rate"] == (4.0, 4.0)
    with pytest.raises(InputError, match="cannot choose a rate"):
        darc.select(honest[0], "hedgetune")
    assert darc.select(honest[0], "hedgetune", rate=8.0).index >= 0


def test_hedgetune_never_tunes_on_the_prompt_it_decides() -> None:
    generator = np.random.default_rng(2)
    honest = generator.normal(size=(40, 1, 16, 1)) + generator.normal(0, 0.1, (40, 1, 16, 8))
    ids = [f"p{p}" for p in range(40)]

    def rates(scores: np.ndarray) -> np.ndarray:
        decisions = darc.select_batch(scores, "hedgetune", prompt_ids=ids)
        return decisions.choice.facts["rate"]

    assert (rates(honest) == 16.0).all()
    halves = []
    for prompt in range(40):
        # One prompt whose selecting samples mislead so much that it outweighs all others.
        hacked = honest.copy()
        hacked[prompt, 0, honest[prompt, 0].mean(axis=1).argmin(), ::2] += 20.0
        hacked[prompt, 0, :, 1::2] *= 1000.0
        found = rates(hacked)
        assert found[prompt] == 16.0
        assert (found == 4.0).sum() == 20
        halves.append(found == 4.0)
    assert len({tuple(half.tolist()) for half in halves}) == 2
    decision = darc.select_batch(hacked, "hedgetune", prompt_ids=ids)[0]
    assert f"drawn at rate {rates(hacked)[0]:g}" in decision.explain(details=True)
    # Prompts that come later, as in a second batch, keep the rates.
    rule = darc.select_batch(hacked, "hedgetune", prompt_ids=ids).rule
    later = darc.select_batch(honest[:2], rule, prompt_ids=ids[:2])
    assert np.array_equal(later.choice.facts["rate"], rates(hacked)[:2])


def test_rank_weights_are_the_chances_of_best_of_poisson() -> None:
    from darc.decide.rules.sampled import rank_weights

    weights = rank_weights(6, 3.0)
    assert weights.sum() == pytest.approx(1.0)
    scores = np.arange(6.0)[None, None, :, None].repeat(30_000, axis=0)
    drawn = darc.select_batch(scores, "poisson", rate=3.0).index
    share = np.bincount(5 - drawn, minlength=6) / 30_000
    assert np.allclose(share, weights, atol=0.012)


@pytest.mark.parametrize(
    ("rule", "parameters", "words"),
    [
        ("epsilon", {"epsilom": 1.0}, "did you mean 'epsilon'?"),
        ("epsilon", {"epsilon": -1.0}, "epsilon must be 0 or larger"),
        ("epsilom", {}, "did you mean 'epsilon'?"),
        ("tau", {"tau": 1.0, "quantile": 0.5}, "both given"),
        ("tau", {"quantile": 1.5}, "between 0 and 1"),
        ("tau", {"objective": "median"}, "'value' or 'mean'"),
        ("cvar", {"alpha": 1.5}, "alpha must be above 0"),
        ("poisson", {"rate": 0.0}, "rate must be above 0"),
        ("hedgetune", {"rate": (4.0, 0.0)}, "rate must be above 0"),
        ("hedgetune", {"rate": (4.0, 8.0, 12.0)}, "one for either half"),
        ("rbon", {}, "needs the side input 'log_likelihood'"),
        ("rbon", {"form": "x", "log_likelihood": [0, 0, 0, 0]}, "'kl' or 'wd'"),
        ("mean", {"log_likelihood": [0, 0, 0, 0]}, "does not use 'log_likelihood'"),
        ("rbon", {"log_likelihood": [0, 0]}, "has the shape (2,), not (4,)"),
        ("poisson", {"reward": "median"}, "'mean' or 'original'"),
        ("entropic", {"beta": -1.0}, "beta must be 0 or larger"),
        ("entropic", {"min_samples": 0}, "min_samples must be at least 1"),
    ],
)
def test_bad_parameters_are_named(rule: str, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        darc.select(POOL, rule, **parameters)
    assert words in str(caught.value)


def test_mbr_weighs_the_others_by_reward() -> None:
    generator = np.random.default_rng(4)
    for _ in range(20):
        scores = generator.normal(size=(5, 3))
        similarity = generator.random((5, 5))
        mean = scores.mean(axis=1)
        temperature = float(generator.uniform(0.2, 2))
        expected = [
            sum(similarity[i, j] * np.exp(mean[j] / temperature) for j in range(5) if j != i)
            / sum(np.exp(mean[j] / temperature) for j in range(5) if j != i)
            for i in range(5)
        ]
        options: Any = {"weights": "reward", "temperature": temperature}
        found = darc.select(scores, "mbr", similarity=similarity, **options)
        assert found.index == np.argmax(expected)
        many = darc.select_batch([scores], "mbr", similarity=similarity[None], **options)
        assert many.choice.objective[0] == pytest.approx(expected)
    far = darc.select(scores * 1e4, "mbr", similarity=similarity, weights="reward")
    assert np.isfinite(far.choice.objective).all()
    weighted = darc.select(scores, "mbr", similarity=similarity, weights=np.ones(3))
    assert weighted.index == darc.select(scores, "mbr", similarity=similarity).index
    with pytest.raises(InputError, match="weights must be"):
        darc.select(scores, "mbr", similarity=similarity, weights="rewards")
    with pytest.raises(InputError, match="unknown parameter 'weights'"):
        darc.select(scores, "mean", weights="reward")


def test_majority_by_loops() -> None:
    generator = np.random.default_rng(5)
    for _ in range(40):
        scores = generator.normal(size=(7, 2))
        labels = generator.integers(0, 4, 7).tolist()
        mean = scores.mean(axis=1)
        held = [labels.count(label) / 7 for label in labels]
        most = [k for k in range(7) if held[k] == max(held)]
        assert darc.select(scores, "majority", same_text=labels).index == max(
            most, key=lambda k: mean[k]
        )
        enough = [k for k in range(7) if held[k] >= 0.4]
        found = darc.select(scores, "majority", by="number", share=0.4, same_number=labels)
        assert found.index == max(enough or range(7), key=lambda k: mean[k])
        assert ("no_majority" in found.flags) == (not enough)


def test_majority_by_meaning_follows_chains_and_a_lone_answer_shares_nothing() -> None:
    similarity = np.eye(5)
    for i, j in ((0, 1), (1, 2)):
        similarity[i, j] = similarity[j, i] = 0.95
    scores = np.array([[1.0], [2.0], [0.0], [9.0], [9.0]])
    assert darc.select(scores, "majority", by="meaning", similarity=similarity).index == 1
    apart = darc.select(scores, "majority", by="meaning", similarity=similarity, alike=0.96)
    assert apart.index == 3
    unknown = [np.nan, 4.0, 4.0, np.nan, np.nan]
    assert darc.select(scores, "majority", by="number", same_number=unknown).index == 1


def test_what_answers_share_is_read_from_their_texts() -> None:
    call = '[{"id": "%s", "function": {"name": "f", "arguments": %s}}]'
    texts = ["It is 1,204.", "so \u22123.5", " It is 1,204. ", "none", '"3"']
    texts.append("Asking.\n" + call % ("x", '{"b": 1, "a": 2}'))
    texts.append(call % ("y", r'"{\"a\": 2, \"b\": 1}"'))
    found = same_answers(texts)
    assert found["same_text"] == [0, 1, 0, 3, 4, 5, 6]
    assert found["same_number"][:5] == [0, 1, 0, 3, 4]
    assert found["same_call"] == [0, 1, 2, 3, 4, 5, 5]
    texts.append(call % ("z", '{"a": 2, "b": 3}'))
    assert same_answers(texts)["same_call"][5:] == [5, 5, 7]
    made = parse_side_inputs({"same_call": "without:b, c"})
    candidates = [Candidate("p", k, text) for k, text in enumerate(texts)]
    assert made.compute(Prompt("p", ()), candidates)["same_call"][5:] == [5, 5, 5]
    with pytest.raises(InputError, match="write without:NAME"):
        parse_side_inputs({"same_call": "b"})


MERGED = np.array([[0.4, 0.6], [1.0, 1.2], [0.1, 0.3]])
COPIES = [3, 1, 2]
OWNERS = np.repeat(np.arange(3), COPIES)
SIMILARITY = np.array([[1.0, 0.2, 0.7], [0.2, 1.0, 0.4], [0.7, 0.4, 1.0]])


def chances(scores: Array, rule: Rule, copies: list[int] | None = None) -> Array:
    """How often each candidate is drawn, over many prompts."""
    times = 4000
    side: dict[str, Any] = {}
    if copies is not None:
        side["copies"] = np.repeat([copies], times, axis=0)
    drawn = darc.select_batch(np.repeat(scores[None], times, axis=0), rule, **side).index
    return np.bincount(drawn, minlength=len(scores)) / times


@pytest.mark.parametrize("rule", ["soft", "pessimism", "poisson"])
def test_copies_are_drawn_like_as_many_candidates(rule: str) -> None:
    parameters = {"poisson": {"rate": 2.0}}.get(rule, {})
    bound = rules.get(rule).bind(**parameters)
    apart = np.bincount(OWNERS, weights=chances(MERGED[OWNERS], bound))
    merged = chances(MERGED, bound, copies=COPIES)
    assert merged == pytest.approx(apart, abs=0.03)
    assert not np.allclose(merged, chances(MERGED, bound), atol=0.05)


def test_probability_of_copies_adds_up() -> None:
    apart = darc.select(MERGED[OWNERS], "soft").choice.objective[0]
    merged = darc.select(MERGED, "soft", copies=COPIES).choice.objective[0]
    assert merged == pytest.approx(np.bincount(OWNERS, weights=apart))


@pytest.mark.parametrize("rule", ["soft", "pessimism", "poisson", "mbr", "majority"])
def test_single_copies_change_nothing(rule: str) -> None:
    scores = np.random.default_rng(4).normal(size=(200, 5, 3))
    side: dict[str, Any] = {}
    if rule == "mbr":
        side["similarity"] = np.random.default_rng(5).uniform(size=(200, 5, 5))
    if rule == "majority":
        side["same_text"] = np.random.default_rng(6).integers(0, 3, (200, 5))
    plain = darc.select_batch(scores, rule, **side)
    single = darc.select_batch(scores, rule, copies=np.ones((200, 5)), **side)
    assert np.array_equal(plain.index, single.index)
    assert np.array_equal(plain.choice.objective, single.choice.objective)


@pytest.mark.parametrize("weights", ["uniform", "reward"])
def test_mbr_counts_copies_as_other_candidates(weights: str) -> None:
    apart = SIMILARITY[np.ix_(OWNERS, OWNERS)]
    expected = darc.select(MERGED[OWNERS], "mbr", weights=weights, similarity=apart)
    found = darc.select(MERGED, "mbr", weights=weights, similarity=SIMILARITY, copies=COPIES)
    firsts = [0, 3, 4]
    assert found.choice.objective[0] == pytest.approx(expected.choice.objective[0, firsts])
    assert OWNERS[expected.index] == found.index


def test_majority_gives_copies_as_many_votes() -> None:
    labels = [0.0, 1.0, 2.0]
    assert darc.select(MERGED, "majority", same_text=labels).index == 1
    assert darc.select(MERGED, "majority", same_text=labels, copies=COPIES).index == 0
    half = darc.select(MERGED, "majority", same_text=labels, copies=COPIES, share=0.3)
    assert half.feasible.tolist() == [True, False, True]


def test_hedgetune_tunes_on_copies_as_on_as_many_candidates() -> None:
    generator = np.random.default_rng(8)
    scores = generator.normal(size=(40, 4, 6))
    copies = generator.integers(1, 4, (40, 4))
    size = int(copies.sum(axis=1).max())
    apart = np.full((40, size, 6), np.nan)
    for p in range(40):
        apart[p, : copies[p].sum()] = scores[p][np.repeat(np.arange(4), copies[p])]
    merged = darc.select_batch(scores, "hedgetune", copies=copies)
    expected = darc.select_batch(apart, "hedgetune")
    assert merged.rule.parameters["rate"] == expected.rule.parameters["rate"]

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.evaluation import evaluate
from darc.analysis.evaluate.settings import ContestSettings
from darc.errors import InputError
from darc.ratings.ratings import Ratings

SETTINGS = ContestSettings(rules=("epsilon", "entropic"), splits=3, draws=30)


def said(source: Ratings, *more: Ratings) -> str:
    return "\n".join(evaluate([source, *more], SETTINGS, ablations=False).warnings)


def test_ratings_alone() -> None:
    steps: list[tuple[int, int | None]] = []
    result = evaluate([make_source(25)], SETTINGS, lambda done, total: steps.append((done, total)))
    assert [frame.name for frame in result.frames] == [
        *("main", "human", "buckets", "pool", "scalarisation", "sensitivity"),
        *("decision_cost", "calibration", "densities", "frontier", "ablations"),
    ]
    assert steps == [(done, 24) for done in range(1, 25)]
    assert not result.warnings


def test_two_runs_and_ratings_make_everything() -> None:
    runs = [
        make_source(22, 4, 7, 2, s, "rewrite", name, family=name, costs={"calls": 9.0})
        for s, name in enumerate(("style", "targeted"))
    ]
    human = make_source(22, 4, 6, seed=7, name="people")
    result = evaluate([*runs, human], SETTINGS)
    names = {frame.name for frame in result.frames}
    assert names >= {
        *("validity", "overlap", "points", "mismatches", "errors", "scorers", "held_out_scorers"),
        *("families", "family_agreement", "cost"),
    }
    main = result.frame("main")
    assert main is not None
    assert set(main.column("source")) == {
        *("style", "targeted", "people", "style judged by people", "targeted judged by people")
    }
    assert len(result.pairs) == 2
    assert result.frame("nothing") is None


def test_ids_that_do_not_join_are_a_warning_and_the_rest_is_made() -> None:
    run = make_source(25, kind="rewrite", name="run")
    human = replace(make_source(25, name="people"), prompt_ids=[f"q{p}" for p in range(25)])
    result = evaluate([run, human], SETTINGS, ablations=False)
    assert len(result.contests) == 2
    (sentence,) = (w for w in result.warnings if "share no candidate" in w)
    assert "give both the same prompt_id and candidate_id" in sentence


def test_some_ids_join() -> None:
    run = make_source(25, 4, kind="rewrite", name="run")
    sentence = "run: 25 candidates are not in people"
    assert sentence in said(run, make_source(25, 3, name="people"))


def test_one_rater_only() -> None:
    result = evaluate([make_source(25, 3, 1)], SETTINGS)
    assert any("one rater" in warning for warning in result.warnings)
    assert any("both selecting and judging" in warning for warning in result.warnings)
    assert [frame.name for frame in result.frames] == ["pool"]


def test_one_prompt() -> None:
    result = evaluate([make_source(1, 3, 6)], SETTINGS)
    assert any("1 prompt" in warning for warning in result.warnings)
    human = result.frame("human")
    assert human is not None
    assert human.records()[0]["low_mean"] is None


def test_all_ties() -> None:
    source = replace(make_source(25), samples=np.full((25, 1, 4, 6), 3.0))
    words = said(source)
    assert "every rating is 3 for everything: all is tied" in words
    assert "all contests are ties" in words


def test_missing_texts() -> None:
    unknown = np.full((25, 4), np.nan)
    assert "there are no texts" in said(make_source(25, texts=(), lengths=unknown))
    partly = unknown.copy()
    partly[:, :2] = 5.0
    assert "some candidates have no text" in said(make_source(25, lengths=partly))


def test_three_raters_cannot_show_what_sigma_gains() -> None:
    words = said(make_source(25, 3, 3))
    assert "no split both selects and judges with a sigma" in words


def test_dropped_prompts_are_told() -> None:
    source = make_source(25, 3, 4)
    samples = source.samples.copy()
    samples[:5, :, :, 1:] = np.nan
    words = said(replace(source, samples=samples))
    assert "20.0% of the prompts were dropped from a split" in words
    assert "5 of them from every split" in words


def test_rules_that_cannot_run_are_told() -> None:
    settings = SETTINGS.model_copy(update={"rules": ("rbon", "mc_dropout")})
    result = evaluate([make_source(25)], settings, ablations=False)
    reason = "there is no log_likelihood for the candidates"
    assert f"made: rbon was not run: {reason}" in result.warnings
    reason = "there is no dropout for the candidates"
    assert f"made: mc_dropout was not run: {reason}" in result.warnings
    assert result.contests[0].methods == ["mean"]


def test_how_often_poisson_was_capped_is_told() -> None:
    settings = SETTINGS.model_copy(update={"rules": ("poisson:rate=12", "poisson:rate=1")})
    result = evaluate([make_source(60)], settings, ablations=False)
    frame = result.frame("flags")
    assert frame is not None
    always, seldom = (
        frame.where(flag="capped", method=f"poisson:rate={rate}").records()[0]["share"]
        for rate in (12, 1)
    )
    assert isinstance(always, float)
    assert isinstance(seldom, float)
    # Poisson(12) exceeds 4 with chance 0.992, Poisson(1) with 0.004.
    assert always > 0.97
    assert 0 < seldom < 0.03
    assert any(
        "more candidates were to be drawn than are eligible" in w
        and f"poisson:rate=12 {always:.0%}" in w
        for w in result.warnings
    )


def test_nothing_and_two_of_a_name_are_refused() -> None:
    with pytest.raises(InputError, match="nothing to evaluate"):
        evaluate([])
    with pytest.raises(InputError, match="two sources are called 'made'"):
        evaluate([make_source(), make_source()])


def test_the_order_of_candidates_in_a_file_changes_nothing() -> None:
    generator = np.random.default_rng(3)
    side = {
        "similarity": generator.random((25, 4, 4)),
        "dropout": generator.integers(0, 3, (25, 4, 4)).astype(float),
        "log_likelihood": generator.random((25, 4)),
        "tokens": generator.random((25, 4)),
        "atypicality": generator.random((25, 4)),
    }
    rules = ("epsilon", "mbr", "mc_dropout", "rbon", "rbon:per_token=False", "caution", "poisson")
    settings = SETTINGS.model_copy(update={"rules": rules})
    run = make_source(25, seed=1, kind="rewrite", name="run", side=side)
    run = replace(run, samples=np.rint(run.samples))
    found = []
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        sources = [each.subset(range(25), [order] * 25) for each in (run, make_source(25))]
        result = evaluate(sources, settings)
        assert set(rules) <= set(result.contests[0].methods)
        found.append(
            {f.name: repr(f.records()) for f in result.frames if f.name != "decision_cost"}
        )
    assert found[0] == found[1]


def test_ties_do_not_go_to_the_first_candidate_of_the_file() -> None:
    proxy = make_source(400, 4, 5, kind="rewrite", name="run")
    people = make_source(400, 4, 5, name="people")
    ratings = np.full_like(people.samples, 4.0)
    ratings[:, :, 0] = 8.0
    sources = [
        replace(proxy, samples=np.full_like(proxy.samples, 1.0)),
        replace(people, samples=ratings),
    ]
    frame = evaluate(sources, SETTINGS, ablations=False).frame("main")
    assert frame is not None
    name = "run judged by people"
    (row,) = frame.where(source=name, subset="overall", method="mean").records()
    assert float(str(row["reward"])) == pytest.approx(5.0, abs=4 * 4 * (0.25 * 0.75 / 400) ** 0.5)


@pytest.mark.parametrize("kind", ["rater", "rewrite"])
def test_progress_counts_every_table(kind: str) -> None:
    people = make_source(prompts=10)
    other = make_source(prompts=10, kind=kind, name="other")
    seen: list[tuple[int, int | None]] = []
    evaluate([people, other], SETTINGS, lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert {total for _, total in seen} == {len(seen)}

import csv
from pathlib import Path

import numpy as np
import pytest

from darc.analysis.next_ratings import AskSettings, next_ratings
from darc.analysis.reading import load_ratings
from darc.errors import InputError
from darc.ratings.ratings import Ratings


def write_ratings(path: Path, rows: list[tuple[str, str, str, float]]) -> Ratings:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating"])
        writer.writerows(rows)
    return load_ratings(path)


def simulated(path: Path, prompts: int = 12, candidates: int = 5, count: int = 2) -> Ratings:
    generator = np.random.default_rng(4)
    rows = []
    for prompt in range(prompts):
        for candidate in range(candidates):
            truth = generator.normal(0, 0.6)
            for rater in generator.permutation(8)[:count]:
                rating = float(np.round(5 + truth + generator.normal(), 3))
                rows.append((f"p{prompt}", f"c{candidate}", f"r{rater}", rating))
    return write_ratings(path, rows)


def test_nobody_is_asked_twice_about_the_same_answer(tmp_path: Path) -> None:
    ratings = simulated(tmp_path / "ratings.csv")
    plan = next_ratings(ratings, AskSettings(budget=40, price=0.0))
    assert len(plan.requests) == 40
    pairs = {(request.prompt_id, request.candidate_id) for request in plan.requests}
    assert len(pairs) == 40
    with (tmp_path / "ratings.csv").open(encoding="utf-8") as file:
        rated = {
            (row["prompt_id"], row["candidate_id"], row["rater_id"]) for row in csv.DictReader(file)
        }
    for request in plan.requests:
        assert request.rater_id
        assert (request.prompt_id, request.candidate_id, request.rater_id) not in rated
    values = [request.value for request in plan.requests]
    assert values == sorted(values, reverse=True)


def test_a_clear_winner_needs_no_more_ratings(tmp_path: Path) -> None:
    rows = []
    for prompt in ("clear", "close"):
        for rater in range(6):
            wobble = 0.5 * (rater % 2)
            best = 9.0 if prompt == "clear" else 5.1
            rows.append((prompt, "a", f"r{rater}", best + wobble))
            rows.append((prompt, "b", f"r{rater}", 5.0 + wobble))
            rows.append((prompt, "c", f"r{rater}", 2.0 + wobble))
    rows.extend(("close", "a", extra, 5.0) for extra in ("s", "t", "u"))
    ratings = write_ratings(tmp_path / "ratings.csv", rows)
    plan = next_ratings(ratings, AskSettings(budget=10))
    finished = dict(zip(plan.prompt_ids, plan.finished.tolist(), strict=True))
    assert finished["clear"]
    assert {request.prompt_id for request in plan.requests} <= {"close"}


def test_the_budget_is_not_exceeded(tmp_path: Path) -> None:
    ratings = simulated(tmp_path / "ratings.csv")
    assert len(next_ratings(ratings, AskSettings(budget=7)).requests) <= 7


def test_asking_in_waves_saves_ratings() -> None:
    """The same regret needs fewer ratings than asking everybody about everything."""
    from darc.decide.evidence.asking import WaveLimits, next_wave
    from darc.decide.evidence.posterior import estimate_noise, posterior

    generator = np.random.default_rng(7)
    truth = generator.normal(0, 0.55, (150, 8))
    pool = truth[..., None] + generator.normal(size=(150, 8, 40))

    def regret_of(ratings: np.ndarray) -> float:
        belief = posterior(ratings, estimate_noise(ratings, first_wave=1))
        choice = belief.mean.argmax(axis=1)
        return float((truth.max(axis=1) - truth[np.arange(150), choice]).mean())

    fixed = pool.copy()
    fixed[..., 4:] = np.nan
    adaptive = pool.copy()
    adaptive[..., 1:] = np.nan
    asked_for = 150 * 8
    while asked_for < 150 * 8 * 2.4:
        noise = estimate_noise(adaptive, first_wave=1)
        belief = posterior(adaptive, noise)
        wave = next_wave(belief, noise.rating, WaveLimits(240))
        count = np.isfinite(adaptive).sum(axis=-1)
        for prompt, candidate in wave:
            place = count[prompt, candidate]
            adaptive[prompt, candidate, place] = pool[prompt, candidate, place]
        asked_for += len(wave)
    assert regret_of(adaptive) <= regret_of(fixed) + 0.01


def test_scores_of_rewrites_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(
        "prompt_id,candidate_id,rater_id,scorer_id,rating\n"
        "p,a,r,one,1\np,a,r,two,1\np,b,r,one,2\np,b,r,two,1\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError):
        next_ratings(load_ratings(path), AskSettings(budget=3))

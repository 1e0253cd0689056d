import json
from pathlib import Path

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.calibrating import calibrate_against, calibrate_ratings
from darc.analysis.reading import load_ratings
from darc.decide.model.components import USUAL_WEIGHT
from darc.ratings.ratings import Ratings

PROMPTS = 150
CANDIDATES = 6
REWRITES = 9


def sources(tracks: float) -> tuple[Ratings, Ratings]:
    """A run, and ratings whose disagreement follows that of the rewrites as far as it `tracks`."""
    generator = np.random.default_rng(3)
    shape = (PROMPTS, 1, CANDIDATES, 1)
    worth = generator.normal(0, 1, shape)
    noisy = generator.uniform(0.1, 2.0, shape)
    scores = worth + noisy * generator.normal(size=(*shape[:3], REWRITES))
    people = tracks * noisy + (1 - tracks) * 1.0
    ratings = worth + people * generator.normal(size=(*shape[:3], 8))
    run = make_source(PROMPTS, CANDIDATES, REWRITES, kind="rewrite", name="run")
    human = make_source(PROMPTS, CANDIDATES, 8, name="people")
    return (
        Ratings(**{**vars(run), "samples": scores}),
        Ratings(**{**vars(human), "samples": ratings}),
    )


def test_disagreement_of_rewrites_earns_its_weight_from_people() -> None:
    earned = calibrate_against(*sources(1.0)).by_scorer[""]
    lost = calibrate_against(*sources(0.0)).by_scorer[""]
    assert not earned.intervals
    assert earned.weight[REWRITES] > 0.4
    assert lost.weight[REWRITES] < 0.15
    assert earned.check > 2


def test_rewrites_alone_leave_disagreement_its_usual_weight() -> None:
    run, _ = sources(1.0)
    learnt = calibrate_ratings(run).by_scorer[""]
    assert USUAL_WEIGHT < learnt.weight[REWRITES] < 0.08
    assert not learnt.raters


def test_few_ratings_of_people_change_nothing() -> None:
    run, people = sources(1.0)
    few = {name: getattr(people, name)[:5] for name in ("prompt_ids", "candidate_ids", "samples")}
    few |= {name: getattr(people, name)[:5] for name in ("raters", "lengths", "questions", "texts")}
    learnt = calibrate_against(run, Ratings(**{**vars(people), **few})).by_scorer[""]
    assert learnt.weight == calibrate_ratings(run).by_scorer[""].weight


def test_raters_of_a_panel_in_an_audit_log_are_known_by_name(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    path = tmp_path / "audit.jsonl"
    raters = {"cook": 1.5, "guest": 0.0, "critic": -1.5}
    rows = []
    for number in range(60):
        worth = generator.normal(5, 1, (4, 1)) + np.array(list(raters.values()))
        scores = (worth + generator.normal(0, 0.5, (4, 3))).tolist()
        row = {"prompt_id": "p", "candidates": [], "answer": "yes", "request_id": f"r{number}"}
        rows.append({**row, "scorers": ["panel"], "scores": [scores], "raters": list(raters)})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = load_ratings(path)
    assert (source.kind, source.has_raters) == ("panel", True)
    found = calibrate_ratings(source).by_scorer[""].raters
    assert found == pytest.approx(raters, abs=0.2)

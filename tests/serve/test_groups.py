"""Choices for groups of raters through the gateway."""

from typing import Any

import httpx
import numpy as np
from tests.engine.test_panel_samples import ANSWERS, VIEWS, graded
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, parts, running

import darc
from darc.decide.evidence.groups import GroupModel
from darc.decide.model.calibration import Calibration
from darc.decide.model.calibration_file import Calibrations

RATERS = ["a", "b", "c", "d"]
GROUPS = {"a": "old", "b": "old", "c": "young", "d": "young"}
SCORES = [[8, 9, 3, 2], [5, 5, 6, 7]]


def calibrations(*names: str) -> Calibrations:
    """A calibration by which groups differ much on answers."""
    model = GroupModel(effects=dict.fromkeys(names, 0.0), groups=4.0, candidates=1.0, ratings=1.0)
    return Calibrations({"": Calibration(groups=model)})


def select(url: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{url}/v1/select", json={"raters": RATERS, "scores": SCORES, **body})


def test_scores_are_chosen_by_for_a_group(openai_server: FakeServer) -> None:
    with running(openai_server, calibrations=calibrations("old", "young")) as gateway:
        chosen = {
            group: select(
                gateway.url, rater_groups=GROUPS, darc={"rule": "for_groups", "group": group}
            ).json()
            for group in ("old", "young")
        }
        unknown = select(
            gateway.url, rater_groups=GROUPS, darc={"rule": "for_groups", "group": "middle"}
        )
        without = select(gateway.url, darc={"rule": "for_groups", "group": "old"})
    assert chosen["old"]["index"] == 0
    assert chosen["young"]["index"] == 1
    assert "the group young" in chosen["young"]["explanation"]
    assert set(chosen["old"]["groups"]["candidate 0"]) == {"old", "young"}
    assert unknown.status_code == 400
    assert without.status_code == 400


def test_raters_of_a_panel_stand_for_groups_of_their_name(openai_server: FakeServer) -> None:
    openai_server.ignores |= {"logprobs"}
    names = list(VIEWS)
    grades = np.full((4, len(names)), 5.0)
    grades[1] = 7.0
    grades[2, 0] = 10.0
    openai_server.reply = graded(grades)
    body = {"model": "m", "messages": QUESTION, "seed": 0}
    settings: dict[str, Any] = {"calibrations": calibrations(*names), "k": 4}
    with running(openai_server, parts=parts(panel=darc.Panel()), **settings) as gateway:
        texts = []
        for group in names[:2]:
            method = {"rule": "for_groups", "group": group, "metadata": True}
            answer = httpx.post(
                f"{gateway.url}/v1/chat/completions", json={**body, "darc": method}, timeout=30
            )
            texts.append(answer.json()["choices"][0]["message"]["content"])
    assert texts == [ANSWERS[2], ANSWERS[1]]

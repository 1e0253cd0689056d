from dataclasses import replace

import pytest
from tests.engine.makers import ANSWERS, PROMPT, Vowels

import darc
from darc.engine.engine import choose
from darc.types import Candidate


@pytest.mark.parametrize(
    ("rule", "wide", "said"),
    [
        ("auto", (5.0, 6.0, 7.0), "ranked lower"),
        ("auto", (3.0, 6.7, 9.0), "higher sigma"),
        ("epsilon", (5.9, 6.1, 6.3), "higher sigma"),
    ],
)
def test_higher_sigma_is_said_where_it_decided(
    rule: str, wide: tuple[float, ...], said: str
) -> None:
    made = choose(PROMPT, ANSWERS[:2], scorers=[Vowels()], n_aug=1)
    decision = darc.select([(6.1, 6.2, 6.3), wide], rule)
    assert decision.index == 0
    assert replace(made, decision=decision, order=(0, 1)).why_not(1) == said


@pytest.mark.parametrize("by_name", [False, True])
def test_candidates_keep_their_names(by_name: bool) -> None:
    named = [Candidate("tides", i, c.text, name=f"model {i}") for i, c in enumerate(ANSWERS)]
    answers = {c.name: c.text for c in named} if by_name else named
    outcome = choose(PROMPT, answers, scorers=[Vowels()], n_aug=2)
    assert f"model {outcome.index}" in outcome.explain()
    assert f"model {outcome.index}" in outcome._repr_html_()
    assert f"model {outcome.index}" in repr(outcome)

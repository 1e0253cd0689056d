"""Plain cases from daily life, and the page that shows them."""

import os
from pathlib import Path

import numpy as np
import pytest
from tests.decide.rules.cases import CASES, Case

import darc
from darc.decide.caution import LEVELS
from darc.decide.decision import Decision

PAGE = Path(__file__).parents[3] / "docs" / "cases.md"
UPDATE = "DARC_UPDATE_DOCS"

INTRODUCTION = f"""\
# Plain cases

{len(CASES)} small pools of ratings from daily life, with what the default rule chooses at each
caution, and the sentence that it prints at the default, medium. If you disagree with one of them,
the rule is wrong for you at that caution: try another one, or tell us. A test makes this page from
the rule itself (`{UPDATE}=1 python -m pytest tests/decide/rules/test_cases.py`).

| | question | none | low | **medium** | high |
|---|---|---|---|---|---|
"""


def decide(case: Case, caution: str | float = "medium", scale: float = 1.0) -> Decision:
    """The decision on a case, with its ratings times a scale."""
    width = max(map(len, case.ratings.values()))
    rows = [[*own, *[np.nan] * (width - len(own))] for own in case.ratings.values()]
    ends = [scale * end for end in case.scale]
    names = list(case.ratings)
    return darc.select(np.array(rows) * scale, caution=caution, candidate_ids=names, scale=ends)


def chosen(case: Case, caution: str | float = "medium", scale: float = 1.0) -> str:
    """The name of the chosen answer."""
    return list(case.ratings)[decide(case, caution, scale).index]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.question)
def test_the_choice_is_the_one_we_think_right(case: Case) -> None:
    assert chosen(case) == case.chosen
    assert chosen(case, scale=10.0) == case.chosen
    assert case.chosen in decide(case).explain()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.question)
def test_no_caution_takes_the_best_average_of_equally_rated_answers(case: Case) -> None:
    counts = {len(own) for own in case.ratings.values()}
    if len(counts) == 1:
        means = {name: float(np.mean(own)) for name, own in case.ratings.items()}
        assert means[chosen(case, "none")] == pytest.approx(max(means.values()))


def test_there_are_thirty_cases_with_different_questions() -> None:
    assert len({case.question for case in CASES}) == len(CASES) == 30


def test_the_page_shows_what_the_rule_does() -> None:
    text = page()
    if os.environ.get(UPDATE):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text, f"set {UPDATE}=1 to write the page again"


def page() -> str:
    """The page of all cases: a table, then each with its ratings and its sentence."""
    rows = []
    sections = []
    for number, case in enumerate(CASES, start=1):
        choices = [chosen(case, name) for name in LEVELS]
        rows.append(f"| {number} | {case.question} | {' | '.join(choices)} |")
        ratings = [
            f"| {name} | {' '.join(f'{x:g}' for x in own)} | {np.mean(own):.2f} |"
            for name, own in case.ratings.items()
        ]
        low, high = case.scale
        sections.append(
            f"## {number}. {case.question}\n\n"
            f"| answer | ratings ({low:g} to {high:g}) | average |\n|---|---|---|\n"
            + "\n".join(ratings)
            + f"\n\n> {decide(case).explain()}\n\n{case.why}\n"
        )
    return INTRODUCTION + "\n".join(rows) + "\n\n" + "\n".join(sections)

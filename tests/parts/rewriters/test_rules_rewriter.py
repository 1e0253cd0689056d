import time

import pytest
from tests.parts.rewriters.helpers import PROMPT, TEXTS

from darc.errors import UnknownName
from darc.parts.rewriters import RulesRewriter, rejection_reason, rewrite_candidate
from darc.types import Candidate

REWRITER = RulesRewriter()


def test_proposals_are_distinct_new_and_repeatable() -> None:
    for text in TEXTS:
        proposals = REWRITER.rewrite(PROMPT, text, 8, "hybrid", 5)
        assert proposals == REWRITER.rewrite(PROMPT, text, 8, "hybrid", 5)
        assert text not in proposals
        for half in (proposals[:4], proposals[4:]) if len(proposals) == 8 else ():
            assert len(set(half)) == 4


def test_seeds_matter() -> None:
    text = TEXTS[0]
    assert REWRITER.rewrite(PROMPT, text, 4, "style", 1) != REWRITER.rewrite(
        PROMPT, text, 4, "style", 2
    )


def test_hybrid_is_half_and_half() -> None:
    style = REWRITER.rewrite(PROMPT, TEXTS[0], 3, "style", 1)
    targeted = REWRITER.rewrite(PROMPT, TEXTS[0], 2, "targeted", 1)
    assert REWRITER.rewrite(PROMPT, TEXTS[0], 5, "hybrid", 1) == style + targeted


def test_nothing_asked_nothing_given() -> None:
    assert REWRITER.rewrite(PROMPT, TEXTS[0], 0, "style", 1) == []
    assert REWRITER.rewrite(PROMPT, "", 4, "style", 1) == []


def test_unknown_family() -> None:
    with pytest.raises(UnknownName, match="style"):
        REWRITER.rewrite(PROMPT, "text", 1, "styles", 1)


@pytest.mark.parametrize(("family", "least"), [("style", 0.9), ("targeted", 0.9)])
def test_the_filters_accept_what_the_rules_propose(family: str, least: float) -> None:
    judged = [
        rejection_reason(text, proposal, family)
        for text in TEXTS
        for proposal in REWRITER.rewrite(PROMPT, text, 8, family, 3)
    ]
    rate = sum(reason is None for reason in judged) / len(judged)
    print(f"{family}: {rate:.1%} of {len(judged)} proposals accepted")
    assert rate >= least


def test_rewriting_is_instant() -> None:
    text = "\n\n".join(TEXTS[:4])
    words = text.split()
    text = text[: len(text) * 230 // len(words)]
    for family in ("style", "targeted"):
        times = []
        for seed in range(5):
            started = time.process_time()
            proposals = REWRITER.rewrite(PROMPT, text, 20, family, seed)
            times.append((time.process_time() - started) / len(proposals))
        print(f"{family}: {1000 * min(times):.2f} ms a rewrite of {len(text.split())} words")
        assert min(times) < 0.008  # Four times the goal, for busy machines.


@pytest.mark.parametrize("family", ["style", "targeted"])
def test_a_judged_proposal_is_quick(family: str) -> None:
    texts = [text for text in TEXTS if 4 <= text.count(". ") <= 10]
    times = []
    for seed in range(3):
        started = time.process_time()
        proposals = [
            rewrite_candidate(
                PROMPT, Candidate("p1", 0, text), 8, REWRITER, family=family, seed=seed
            )
            for text in texts
        ]
        spent = time.process_time() - started
        times.append(spent / sum(len(each.variants) + len(each.rejections) for each in proposals))
    print(f"{family}: {1000 * min(times):.2f} ms a judged proposal")
    assert min(times) < 0.006  # Three times the goal, for busy machines.


def test_plain_prose_has_enough_style_rewrites() -> None:
    text = (
        "Water boils when its vapour presses as hard as the air above it. Heat gives it that push."
    )
    proposals = REWRITER.rewrite(PROMPT, text, 8, "style", 0)
    assert len(set(proposals)) == 8


def test_odd_long_texts_are_survived() -> None:
    started = time.process_time()
    for text in (
        "In " + "a" * 5000 + ".",
        "A word " * 1500 + ".",
        "If so, " * 1000,
        "a, and " * 1000,
    ):
        for family in ("style", "targeted"):
            REWRITER.rewrite(PROMPT, text, 2, family, 0)
    assert time.process_time() - started < 10

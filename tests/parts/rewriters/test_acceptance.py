"""The two levels of acceptance, on paraphrases that were written by hand."""

from typing import Any

import pytest

import darc
from darc.engine.parts import Parts
from darc.parts.rewriters import RulesRewriter, rewrite_candidate
from darc.parts.rewriters.filters import rejection_reason
from darc.parts.rewriters.llm_rewriter import LlmRewriter
from darc.types import Candidate, Message, Prompt

PARAPHRASES = [
    (
        "Walking every day keeps your heart healthy and clears your head after work.",
        "A daily walk is good for your heart and helps you unwind once work is over.",
    ),
    (
        "You should water the plant twice a week, because too much water harms its roots.",
        "Give the plant water two times a week; its roots suffer if they get too much.",
    ),
    (
        "If the engine does not start, check the battery first and then look at the fuses.",
        "When the engine refuses to start, begin with the battery and inspect the fuses next.",
    ),
    (
        "The museum opens at 9 and closes at 17, so there is plenty of time to see it all.",
        "Since the museum is open from 9 to 17, you have ample time to see everything.",
    ),
    (
        "I think that learning a language takes patience, and most people give up too early.",
        "Mastering a language requires patience, in my view, and many people quit too soon.",
    ),
    (
        "Ask Maria in Lisbon whether the contract was signed before you book the flight.",
        "Before you book the flight, check with Maria in Lisbon that the contract was signed.",
    ),
    (
        "Boil the potatoes until they are soft, mash them, and stir in butter and warm milk.",
        "Cook the potatoes in boiling water until tender, then mash with butter and warm milk.",
    ),
    (
        "It is never a good idea to share your password, not even with people you trust.",
        "Sharing your password is always a bad idea, even when you trust the other person.",
    ),
]


def prompt_of(text: str) -> Prompt:
    return Prompt("p", (Message("user", text),))


@pytest.mark.parametrize(("original", "paraphrase"), PARAPHRASES)
def test_sensible_paraphrases_pass_the_papers_checks(original: str, paraphrase: str) -> None:
    assert rejection_reason(original, paraphrase, acceptance="paper") is None


@pytest.mark.parametrize("acceptance", ["paper", "strict"])
@pytest.mark.parametrize(
    ("original", "rewrite", "what"),
    [
        (
            "It opens at 9 and costs 12 euros.",
            "It opens at 9 and costs 15 euros.",
            "number",
        ),
        (
            "See https://a.b/c for the details.",
            "See https://a.b/d for the details.",
            "address",
        ),
        ("We met in Rome on 3 March last year.", "We met in Rome on 4 March last year.", "date"),
        ("Then we asked Maria about the house.", "Then we asked Paula about the house.", "name"),
        ("The same words in the same order.", "The  same words in the same order.", "duplicate"),
        ("Take a coat when you go out.", "Take a coat when you go out, and also a hat.", "length"),
    ],
)
def test_both_levels_keep_facts_and_length(
    acceptance: Any, original: str, rewrite: str, what: str
) -> None:
    reason = rejection_reason(original, rewrite, acceptance=acceptance)
    assert reason is not None
    if what in ("number", "date"):
        assert reason.partition(":")[0] in ("number", "date")
    else:
        assert reason.startswith(what)


def test_the_papers_length_has_no_slack_beyond_a_word() -> None:
    original = "one two three four five six seven eight nine ten eleven"
    nine_words = "two three four five six seven eight nine ten"
    reason = rejection_reason(original, nine_words, acceptance="paper")
    assert reason is not None
    assert reason.startswith("length")


class _Paraphraser:
    """Proposes one paraphrase, which only the paper's checks let pass."""

    name = "paraphraser"

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        return [PARAPHRASES[0][1]]


def test_the_level_decides_what_a_run_accepts() -> None:
    original = PARAPHRASES[0][0]
    candidate = Candidate("p", 0, original)
    counts = {}
    for acceptance in ("paper", "strict"):
        rewrites = rewrite_candidate(
            prompt_of("Why walk?"),
            candidate,
            1,
            _Paraphraser(),
            acceptance=acceptance,
            similarity=lambda pairs: [0.0] * len(pairs),
        )
        counts[acceptance] = len(rewrites.variants)
    assert counts == {"paper": 1, "strict": 0}


def test_each_rewriter_has_its_level_unless_the_user_says_otherwise() -> None:
    assert LlmRewriter.acceptance == "paper"
    tools = Parts(scorers=("form",), guard=False).tools(rewriter=RulesRewriter())
    assert tools.acceptance is None
    assert tools.rewriter.acceptance == "strict"
    with darc.Engine(scorers=["form"], guard=False, acceptance="paper") as engine:
        assert engine.parts.acceptance == "paper"

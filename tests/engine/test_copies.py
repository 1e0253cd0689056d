"""Answers with the same text are rewritten, scored and graded once, and shown with their number."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine.makers import PROMPT, Lengths, Vowels, candidates
from tests.fakes.openai_server import FakeServer

from darc.engine.copies import copies_input, copy_flags, merge_copies
from darc.engine.engine import Engine
from darc.parts.generators.base import SamplingParameters
from darc.types import Candidate, Prompt

FIRST = "The water rises because the Moon pulls on it, and it rises on both sides."
SECOND = "Bulges form on the near side and on the far side, so a coast meets two of them."
TEXTS = [FIRST, SECOND, f"{FIRST}\n", FIRST]


class Repeating:
    """Writes the same few answers to every prompt."""

    name = "repeating"
    version = "1"
    parallel = 4
    continues = True

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Any = None
    ) -> list[list[Candidate]]:
        places = range(settings.first, settings.first + settings.k)
        return [
            [Candidate(prompt.id, i, self.texts[i], tokens=3, seed=i) for i in places]
            for prompt in prompts
        ]


def engine_for(texts: Sequence[str], scorer: Lengths, **options: Any) -> Engine:
    given = {"n_aug": 2, "guard": False, "sampling": SamplingParameters(k=len(texts)), **options}
    return Engine(Repeating(texts), scorers=[scorer], **given)


def test_the_first_of_each_text_is_kept_with_the_number_of_its_copies() -> None:
    merged = merge_copies(candidates("b", "a", " b\n", "c", "b"))
    found = [(each.index, each.text, each.copies) for each in merged.candidates]
    assert found == [(0, "b", 3), (1, "a", 1), (2, "c", 1)]
    assert merged.places == [0, 1, 3]
    assert merged.owners == [0, 1, 0, 2, 0]
    again = merge_copies([*merged.candidates, *candidates("c")])
    assert [each.copies for each in again.candidates] == [3, 1, 2]


def test_names_of_merged_answers_are_kept() -> None:
    texts = {"first": "yes", "second": "no", "third": "yes ", "fourth": "yes"}
    given = [Candidate("p", 0, text, name=name) for name, text in texts.items()]
    merged = merge_copies(given).candidates
    assert [(each.name, each.other_names) for each in merged] == [
        ("first", ("third", "fourth")),
        ("second", ()),
    ]
    assert copy_flags(merged) == ["same_text:first and third and fourth"]


def test_flags_say_how_many_answers_repeat_another() -> None:
    merged = merge_copies(candidates("a", "b", "a", "a")).candidates
    assert copy_flags(merged) == ["copies:2"]
    assert copy_flags(merged, n=3) == ["copies:2", "fewer_choices:2"]
    alone = merge_copies(candidates("a", "a", "a")).candidates
    assert copy_flags(alone) == ["one_answer:3"]
    assert copy_flags(candidates("a", "b"), n=3) == []


def test_copies_are_a_side_input_only_where_there_are_any() -> None:
    assert copies_input(candidates("a", "b")) == {}
    assert copies_input([]) == {}
    assert copies_input(merge_copies(candidates("a", "b", "a")).candidates) == {"copies": [2, 1]}


@pytest.mark.parametrize("full", [False, True])
def test_copies_are_rewritten_and_scored_once(full: bool) -> None:
    many = Lengths()
    few = Lengths()
    with engine_for(TEXTS, many) as engine:
        outcome = engine.ask("Why are there two tides?", score_everything=full)
    with engine_for([FIRST, SECOND], few) as engine:
        engine.ask("Why are there two tides?", score_everything=full)
    assert sorted(many.asked) == sorted(few.asked)
    assert [each.copies for each in outcome.candidates] == [3, 1]
    assert sorted(outcome.rewrites) == [0, 1] or not full
    assert outcome.scores.values.shape[1] == 2
    assert outcome.written == 4
    assert "copies:2" in outcome.flags
    assert "answers that repeat another one and count with it: 2" in outcome.explain()
    assert [each.get("copies") for each in outcome.to_dict()["candidates"]] == [3, None]


def test_the_n_best_are_different_answers() -> None:
    with engine_for(TEXTS, Lengths()) as engine:
        outcome = engine.ask("Why are there two tides?", n=3)
    assert sorted(outcome.order) == [0, 1]
    assert "fewer_choices:2" in outcome.flags


def test_nothing_is_scored_where_all_answers_are_the_same() -> None:
    scorer = Lengths()
    with engine_for([FIRST] * 8, scorer) as engine:
        outcome = engine.ask("Why are there two tides?", n=2, also_best_of_k=True)
        scored = engine.ask("Why are there two tides?", score_everything=True)
    assert outcome.answer == FIRST
    assert (outcome.decision, outcome.index, outcome.calls) == (None, 0, 0)
    assert outcome.flags == ["one_answer:8", "fewer_choices:1"]
    assert outcome.explain().startswith("all 8 answers are the same")
    assert outcome.to_dict()["candidates"][0]["copies"] == 8
    assert scored.decision is not None
    assert len(scorer.asked) == 3


def test_the_place_of_the_choice_counts_the_copies() -> None:
    texts = ["short", "short", "a longer answer", "short", "the longest answer of all"]
    with Engine(scorers=[Lengths()], n_aug=0, guard=False) as engine:
        outcome = engine.choose(PROMPT, texts, rule="mean")
        plain = engine.choose(PROMPT, texts[1:3], rule="mean")
    assert (outcome.index, outcome.place) == (2, 4)
    assert (plain.index, plain.place) == (1, 1)


def test_own_answers_with_the_same_text_are_merged_and_named() -> None:
    answers = {"old": FIRST, "new": SECOND, "pasted": FIRST + " "}
    with Engine(scorers=[Lengths()], n_aug=0, guard=False) as engine:
        outcome = engine.choose(PROMPT, answers)
    assert [each.name for each in outcome.candidates] == ["old", "new"]
    assert "old and pasted have the same text and count as one answer" in outcome.explain()


def test_pages_say_how_often_an_answer_was_written() -> None:
    with Engine(scorers=[Lengths()], n_aug=2, guard=False) as engine:
        outcome = engine.choose(PROMPT, TEXTS, score_everything=True)
    # Beside the picture, and in the table of the numbers.
    assert outcome.to_html().count("written 3 times") == 2
    assert outcome._repr_html_().count("written 3 times") == 1


@pytest.mark.parametrize("rule", ["soft", "poisson", "majority", "auto"])
def test_rules_hear_of_copies(rule: str) -> None:
    with engine_for(TEXTS, Lengths(), n_aug=0) as engine:
        outcome = engine.ask("Why are there two tides?", rule=rule)
    assert outcome.decision is not None
    known = outcome.decision.pools.side.get("copies")
    if rule == "auto":
        assert known is None
    else:
        assert known is not None
        assert known.tolist() == [[3, 1]]


def test_majority_counts_copies() -> None:
    longest = SECOND + " And that is all that there is to say about it."
    with engine_for([longest, FIRST, FIRST, longest, FIRST], Lengths(), n_aug=0) as engine:
        outcome = engine.ask("Why are there two tides?", rule="majority")
        best = engine.ask("Why are there two tides?", rule="mean")
    assert outcome.answer == FIRST
    assert best.answer == longest


def test_copies_that_come_in_waves_are_scored_once() -> None:
    scorer = Vowels()
    texts = [FIRST, f" {FIRST}", SECOND, FIRST]
    with engine_for(texts, scorer, n_aug=0, stop="pandora:cost=0,wave=2") as engine:
        outcome = engine.ask("Why are there two tides?")
    assert len(scorer.asked) == 2
    assert [each.copies for each in outcome.candidates] == [3, 1]


def test_answers_are_written_until_n_of_them_are_different() -> None:
    stop = "pandora:cost=9,wave=1"
    texts = [FIRST, FIRST, f"{FIRST} ", SECOND, "And more.", "And no more."]
    with engine_for(texts, Vowels(), n_aug=0, stop=stop) as engine:
        one = engine.ask("Why are there two tides?")
        two = engine.ask("Why are there two tides?", n=2)
    assert (one.written, len(one.order)) == (2, 1)
    assert (two.written, len(two.order)) == (4, 2)


@pytest.mark.parametrize("stop", [None, "pandora:cost=0,wave=2"])
def test_a_panel_grades_copies_once(stop: str | None) -> None:
    with FakeServer() as server:
        server.ignores.add("logprobs")
        server.reply = lambda body, _: "7"
        panel = [f"judge:fake@{server.url},key_env=", "3"]
        texts = [FIRST, f"{FIRST} ", SECOND, FIRST]
        with Engine(
            Repeating(texts),
            panel=panel,
            panel_mode="separate",
            sampling=SamplingParameters(k=4),
            stop=stop,
        ) as engine:
            outcome = engine.ask("Why are there two tides?", score_everything=True)
    assert len(server.bodies) == 2 * 3
    assert outcome.calls == outcome.most == 6

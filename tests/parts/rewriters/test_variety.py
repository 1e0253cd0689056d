import pytest
from tests.parts.rewriters.helpers import HERE, PROMPT
from tests.parts.rewriters.variety import LONG, answers_in, measure, plain_answers

from darc.parts.rewriters import RulesRewriter
from darc.parts.rewriters.rules_rewriter import DistinctTexts, neighbour_pairs, pair_distance


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "model", "chat"])
def test_style_rewrites_differ_in_words_and_scores(name: str) -> None:
    files = {"model": "answers.jsonl", "chat": "chat.jsonl"}
    answers = plain_answers() if name == "plain" else answers_in(HERE / files[name])
    measured = measure(answers, "style", LONG)
    print(name, measured)
    assert measured.accepted >= 7.5
    assert measured.worded >= 0.8
    assert measured.distinct >= 5.5
    assert measured.apart >= 0.1
    assert measured.any_spread >= 0.95
    assert measured.worded_spread >= 0.85


@pytest.mark.slow
def test_hybrid_pools_are_nearly_full() -> None:
    for answers in (plain_answers(), answers_in(HERE / "answers.jsonl")):
        assert measure(answers, "hybrid", LONG).accepted >= 6.0


def test_chat_answers_have_much_to_strip() -> None:
    rewriter = RulesRewriter()
    for _, text in answers_in(HERE / "chat.jsonl"):
        assert len(rewriter.rewrite(PROMPT, text, 8, "targeted", 0)) >= 4


def test_short_plain_answers_get_new_words() -> None:
    tides = (
        "The Moon pulls hardest on the near side of the Earth, so the water there heaps up. On the"
        " far side it pulls least, and a second bulge is left behind. As the planet turns, a coast"
        " passes through both."
    )
    for text in (
        tides,
        "Tides are a fascinating topic, and there are many things one could say about them.",
    ):
        measured = RulesRewriter().rewrite(PROMPT, text, 8, "style", 0)
        assert sum(neighbour_pairs(rewrite) != neighbour_pairs(text) for rewrite in measured) >= 6


def test_texts_that_lie_apart_come_first() -> None:
    varied = DistinctTexts("a b c d", 3)
    for text in ("a *b* c d", "a b c e", "x y z w"):
        assert not varied.is_full
        varied.add(text)
    assert varied.best == ["a b c e", "x y z w", "a *b* c d"]
    single = DistinctTexts("a b c d", 1)
    single.add("a b c e")
    assert single.is_full
    assert single.best == ["a b c e"]
    assert DistinctTexts("a b c d", 2).best == []


def test_distances() -> None:
    assert pair_distance(neighbour_pairs("It\u2019s **so**."), neighbour_pairs("it's so")) == 0
    assert pair_distance(neighbour_pairs("a b"), neighbour_pairs("c d")) == 1
    assert neighbour_pairs("a b") == {("", "a"), ("a", "b"), ("b", "")}

import random

import pytest
from tests.parts.scorers.answers import examples

from darc.parts.scorers.base import Pair
from darc.train.negatives import KINDS, balanced, negative, negatives_by_kind, sentences

PAIRS: list[Pair] = [(example.prompt, example.good) for example in examples()]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].id)
def test_sentences_and_gaps_give_the_text_back(pair: Pair) -> None:
    parts, between = sentences(pair[1])
    whole = "".join(part + gap for part, gap in zip(parts, [*between, ""], strict=True))
    assert whole == pair[1].strip()
    assert len(parts) > 1


def test_what_ends_a_sentence() -> None:
    text = 'Take a cup. Is it hot? "Yes!" she said.\n1. First one\n2. Second'
    assert sentences(text)[0] == [
        *("Take a cup.", "Is it hot?", '"Yes!"', "she said."),
        *("1. First one", "2. Second"),
    ]


def test_negatives_are_what_they_are_called() -> None:
    draw = random.Random(0)
    answers = {answer for _, answer in PAIRS}
    for pair in PAIRS:
        made = {kind: negative(kind, pair, PAIRS, draw) for kind in KINDS}
        assert made["mismatched"] in answers - {pair[1]}
        cut, mixed, longer = (made[kind] or "" for kind in KINDS[1:])
        assert pair[1].startswith(cut)
        assert 0.2 < len(cut.split()) / len(pair[1].split()) < 0.85
        assert cut[-1] not in ".!?:"
        if mixed:
            assert sorted(sentences(mixed)[0]) == sorted(sentences(pair[1])[0]) or "\n" in mixed
            assert mixed.split() != pair[1].split()
            assert sorted(mixed.split()) == sorted(pair[1].split())
        assert len(longer) > len(pair[1])
        rest = list(longer.split())
        for word in pair[1].split():
            rest.remove(word)
        assert rest


def test_one_negative_for_each_answer_and_round() -> None:
    found = balanced(PAIRS, 3, rounds=4)
    assert len(found) == 4 * len(PAIRS)
    shares = {kind: sum(k == kind for _, k in found) / len(found) for kind in KINDS}
    assert all(0.2 < share < 0.3 for share in shares.values())
    assert found == balanced(PAIRS, 3, rounds=4)
    assert found != balanced(PAIRS, 4, rounds=4)


def test_short_answers_are_not_spoilt_in_every_way() -> None:
    pair = (PAIRS[0][0], "Yes.")
    assert negatives_by_kind([pair], 0) == {kind: [] for kind in KINDS}
    assert balanced([pair, PAIRS[1]], 0, 1)[0][1] == "mismatched"

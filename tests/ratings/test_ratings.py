import weakref
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.errors import InputError
from darc.ratings.joining import join


def test_candidates_are_joined_by_id_in_the_proxys_order() -> None:
    proxy = make_source(4, 3, 5, kind="rewrite", name="run")
    human = make_source(4, 3, 4, seed=1, name="people")
    order = [2, 0]
    ids = [["c2", "c0"], ["c1"], ["x"], ["c0", "c1", "c2"]]
    shuffled = replace(human.subset([0, 1, 2, 3], [order, [1], [0], [0, 1, 2]]), candidate_ids=ids)
    pair = join(proxy, shuffled)
    assert pair.proxy.prompt_ids == pair.human.prompt_ids == ["p000", "p001", "p003"]
    assert pair.proxy.candidate_ids == pair.human.candidate_ids
    assert pair.proxy.candidate_ids[0] == ["c0", "c2"]
    assert np.array_equal(pair.human.samples[0, 0, 1], human.samples[0, 0, 2])
    assert np.array_equal(pair.proxy.samples[1, 0, 0], proxy.samples[1, 0, 1])
    assert np.isnan(pair.human.samples[1, 0, 1]).all()
    assert pair.unmatched == (12 - 6, 7 - 6)
    assert pair.halves.usable.all()


def test_a_square_side_input_is_cut_on_both_sides() -> None:
    square = np.arange(18.0).reshape(2, 3, 3)
    source = make_source(
        2, 3, 4, side={"similarity": square, "tokens": np.arange(6.0).reshape(2, 3)}
    )
    cut = source.subset([1], [[2, 0]])
    assert np.array_equal(cut.side["similarity"][0], square[1][np.ix_([2, 0], [2, 0])])
    assert cut.side["tokens"].tolist() == [[5.0, 3.0]]
    assert list(cut.texts) == [["answer 1 2", "answer 1 0"]]


def test_as_many_dropout_samples_as_candidates_are_no_square() -> None:
    passes = np.arange(2 * 8 * 8.0).reshape(2, 8, 8)
    cut = make_source(2, 8, 4, side={"dropout": passes}).subset([1], [[7, 0, 3]])
    assert np.array_equal(cut.side["dropout"], passes[[1]][:, [7, 0, 3]])


def test_ids_that_do_not_join_are_told_by_example() -> None:
    other = replace(make_source(name="people"), prompt_ids=[f"q{p}" for p in range(12)])
    with pytest.raises(InputError, match="share no candidate") as caught:
        join(make_source(kind="rewrite", name="run"), other)
    assert "'p000'" in str(caught.value)
    assert "'q0'" in str(caught.value)


def test_what_is_cut_from_a_source_does_not_keep_it() -> None:
    source = make_source(3, 3, 4)
    whole = weakref.ref(source.samples)
    cut = source.subset([1], [[2, 0]])
    del source
    assert whole() is None
    assert (cut.texts[0], cut.questions[0]) == (["answer 1 2", "answer 1 0"], "question 1")

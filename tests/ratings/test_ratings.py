import weakref

import numpy as np
from tests.analysis.helpers import make_source


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


def test_a_subset_does_not_keep_the_arrays_it_was_cut_from() -> None:
    source = make_source(3, 3, 4)
    samples = weakref.ref(source.samples)
    cut = source.subset([1], [[2, 0]])
    del source
    assert samples() is None
    assert (cut.texts[0], cut.questions[0]) == (["answer 1 2", "answer 1 0"], "question 1")


def test_a_batch_of_samples_is_clipped_and_names_raters_and_systems() -> None:
    ratings = make_source(4, 2, 3, systems=[["a", "b"]] * 3 + [["a", "c"]], bounds=[(4.0, 6.0)])
    batch = ratings.sample_batch(np.array([1, 3]), systems="recurring")
    assert batch.prompt_ids == ["p001", "p003"]
    assert batch.samples.min() >= 4.0
    assert batch.samples.max() <= 6.0
    assert batch.raters is not None
    assert batch.raters.names == ("r0", "r1", "r2")
    # Of the prompts in the batch, only one system wrote for both.
    assert batch.systems is not None
    assert batch.systems.codes[:, 0].tolist() == [0, 0]
    assert batch.systems.codes[1, 1] == -1
    assert ratings.sample_batch(systems="none").systems is None


def test_rewrites_are_not_raters() -> None:
    assert make_source(2, 2, 3, kind="rewrite").sample_batch().raters is None

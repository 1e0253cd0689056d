import numpy as np
import pytest

from darc.models.transformers.batching import batches_by_length, pad_batch


def test_batches_hold_rows_of_similar_length() -> None:
    batches = [batch.tolist() for batch in batches_by_length([5, 1, 9, 1, 5], 1000, max_rows=2)]
    assert batches == [[1, 3], [0, 4], [2]]
    assert list(batches_by_length([], 1000, max_rows=3)) == []


def test_batches_hold_no_more_than_so_many_padded_tokens() -> None:
    lengths = [5, 1, 9, 1, 5, 30]
    assert [b.tolist() for b in batches_by_length(lengths, 10)] == [[1, 3], [0, 4], [2], [5]]
    assert [b.tolist() for b in batches_by_length(lengths, 20)] == [[1, 3, 0, 4], [2], [5]]
    assert [b.tolist() for b in batches_by_length(lengths, 20, prefix=4)] == [
        [1, 3],
        [0, 4],
        [2],
        [5],
    ]
    assert [len(b) for b in batches_by_length(lengths, 1000, max_rows=4)] == [4, 2]
    assert [len(b) for b in batches_by_length([0, 0, 0], 1)] == [3]
    assert list(batches_by_length([], 3)) == []


@pytest.mark.hf
@pytest.mark.parametrize("left", [True, False])
def test_padding_on_either_side(left: bool) -> None:
    batch = pad_batch([[7], [8, 9, 7]], 0, "cpu", left)
    ids, mask, positions = (np.asarray(value) for value in batch.values())
    assert ids.tolist() == [[0, 0, 7] if left else [7, 0, 0], [8, 9, 7]]
    assert (mask == (ids != 0)).all()
    assert positions[1].tolist() == [0, 1, 2]
    assert positions[0][mask[0] == 1].tolist() == [0]

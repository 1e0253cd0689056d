import numpy as np
import pytest

from darc.models.transformers.batching import by_tokens, padded


def test_batches_hold_rows_of_similar_length() -> None:
    batches = [batch.tolist() for batch in by_tokens([5, 1, 9, 1, 5], 1000, rows=2)]
    assert batches == [[1, 3], [0, 4], [2]]
    assert list(by_tokens([], 1000, rows=3)) == []


def test_batches_hold_no_more_than_so_many_padded_tokens() -> None:
    lengths = [5, 1, 9, 1, 5, 30]
    assert [b.tolist() for b in by_tokens(lengths, 10)] == [[1, 3], [0, 4], [2], [5]]
    assert [b.tolist() for b in by_tokens(lengths, 20)] == [[1, 3, 0, 4], [2], [5]]
    assert [b.tolist() for b in by_tokens(lengths, 20, before=4)] == [[1, 3], [0, 4], [2], [5]]
    assert [len(b) for b in by_tokens(lengths, 1000, rows=4)] == [4, 2]
    assert [len(b) for b in by_tokens([0, 0, 0], 1)] == [3]
    assert list(by_tokens([], 3)) == []


@pytest.mark.hf
@pytest.mark.parametrize("left", [True, False])
def test_padding_on_either_side(left: bool) -> None:
    batch = padded([[7], [8, 9, 7]], 0, "cpu", left)
    ids, mask, positions = (np.asarray(value) for value in batch.values())
    assert ids.tolist() == [[0, 0, 7] if left else [7, 0, 0], [8, 9, 7]]
    assert (mask == (ids != 0)).all()
    assert positions[1].tolist() == [0, 1, 2]
    assert positions[0][mask[0] == 1].tolist() == [0]

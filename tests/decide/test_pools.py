import numpy as np
import pytest

from darc.decide.pools import Pools
from darc.errors import InputError


def test_who_may_be_chosen() -> None:
    nan = np.nan
    samples = np.array([[[[1.0, 2.0, 3.0, 4.0], [9.0, nan, nan, nan], [nan] * 4]]])
    pools = Pools(samples)
    assert pools.present.tolist() == [[True, True, False]]
    assert pools.eligible.tolist() == [[True, False, False]]
    assert pools.left_out.tolist() == [[False, True, False]]
    assert pools.keeping_few().eligible.tolist() == [[True, True, False]]
    assert Pools(samples, min_samples=5).eligible.tolist() == [[True, True, False]]
    with pytest.raises(InputError, match="prompt 1 has no candidate with a score"):
        Pools(np.concatenate([samples, np.full_like(samples, nan)])).check()


def test_written_answers_are_the_candidates_with_their_copies() -> None:
    samples = np.zeros((2, 1, 3, 2))
    samples[1, 0, 2] = np.nan
    plain = Pools(samples)
    assert plain.copies.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert plain.expanded().tolist() == [[0, 1, 2], [0, 1, 2]]
    pools = Pools(samples, side={"copies": np.array([[2.0, 1.0, 3.0], [1.0, 2.0, np.nan]])})
    assert pools.copies.tolist() == [[2, 1, 3], [1, 2, 1]]
    assert pools.expanded().tolist() == [[0, 0, 1, 2, 2, 2], [0, 1, 1, 2, -1, -1]]
    assert pools.part(slice(1, 2)).copies.tolist() == [[1, 2, 1]]

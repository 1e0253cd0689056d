import numpy as np
import pytest
from tests.decide.rules.test_auto import WORLDS, scores_of, world

from darc.decide.ids import Ids
from darc.decide.pools import Pools
from darc.errors import InputError


def test_groups_are_numbered_by_their_names_and_strangers_are_in_none() -> None:
    ids = Ids(np.array([[[0, 1, 2, -1]]]), ("ann", "bob", "cem"), {"ann": "old", "cem": "new"})
    grouped = ids.grouped()
    assert grouped.names == ("new", "old")
    assert grouped.codes.tolist() == [[[1, -1, 0, -1]]]
    assert ids.numbers({"bob": 2.5}, 0.0).tolist() == [[[0.0, 2.5, 0.0, 0.0]]]


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


def test_ids_are_names_however_they_are_written() -> None:
    made = world(*WORLDS[3])
    raters = made["rater_ids"]
    expected = scores_of(made)
    texts = [[[str(one) for one in row] for row in pool] for pool in raters]
    assert np.allclose(scores_of({**made, "rater_ids": texts}), expected, atol=1e-12)
    assert np.allclose(scores_of({**made, "rater_ids": np.array(texts)}), expected, atol=1e-12)
    # Lists of pools that differ in size, with ids of the same form.
    pools, named = [], []
    for pool, own in zip(made["scores"][:, 0], raters, strict=True):
        rows = [~np.isnan(row) for row in pool]
        pools.append([row[there].tolist() for row, there in zip(pool, rows, strict=True)])
        named.append([ids_[there].tolist() for ids_, there in zip(own, rows, strict=True)])
    found = scores_of({"scores": pools, "rater_ids": named})
    assert np.allclose(found, expected, atol=1e-12)


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

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


def test_ids_that_do_not_join_are_told_by_example() -> None:
    other = replace(make_source(name="people"), prompt_ids=[f"q{p}" for p in range(12)])
    with pytest.raises(InputError, match="share no candidate") as caught:
        join(make_source(kind="rewrite", name="run"), other)
    assert "'p000'" in str(caught.value)
    assert "'q0'" in str(caught.value)

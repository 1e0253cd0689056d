import numpy as np
from tests.decide.rules.test_auto import WORLDS, scores_of, world

from darc.decide.ids import UNKNOWN, Ids, rater_ids, recurring_systems, system_ids


def test_groups_are_numbered_by_their_names_and_strangers_are_in_none() -> None:
    ids = Ids(np.array([[[0, 1, 2, -1]]]), ("ann", "bob", "cem"), {"ann": "old", "cem": "new"})
    grouped = ids.grouped()
    assert grouped.names == ("new", "old")
    assert grouped.codes.tolist() == [[[1, -1, 0, -1]]]
    assert ids.numbers({"bob": 2.5}, 0.0).tolist() == [[[0.0, 2.5, 0.0, 0.0]]]


def test_ids_are_names_however_they_are_written() -> None:
    made = world(*WORLDS[3])
    raters = made["rater_ids"]
    expected = scores_of(made)
    texts = [[[str(one) for one in row] for row in pool] for pool in raters]
    assert np.allclose(scores_of({**made, "rater_ids": texts}), expected, atol=1e-12)
    assert np.allclose(scores_of({**made, "rater_ids": np.array(texts)}), expected, atol=1e-12)
    # Lists of pools that differ in size, with ids of the same form.
    pools = []
    named = []
    for pool, own in zip(made["scores"][:, 0], raters, strict=True):
        rows = [~np.isnan(row) for row in pool]
        pools.append([row[there].tolist() for row, there in zip(pool, rows, strict=True)])
        named.append([ids_[there].tolist() for ids_, there in zip(own, rows, strict=True)])
    found = scores_of({"scores": pools, "rater_ids": named})
    assert np.allclose(found, expected, atol=1e-12)


def test_raters_are_unknown_where_scorers_disagree_on_them() -> None:
    codes = np.array([[[[0, 1]], [[0, -1]]], [[[0, 1]], [[1, 0]]]])
    ids = rater_ids(codes, ["ann", "bob"])
    assert ids.codes.tolist() == [[[0, 1]], [[UNKNOWN, UNKNOWN]]]


def test_systems_of_one_prompt_teach_nothing() -> None:
    systems = system_ids([["b", "a"], ["a", "", "c"]], 3)
    assert systems.names == ("b", "a", "c")
    assert systems.codes.tolist() == [[0, 1, UNKNOWN], [1, UNKNOWN, 2]]
    recurring = recurring_systems(systems)
    assert recurring is not None
    assert recurring.names == ("a",)
    assert recurring.codes.tolist() == [[UNKNOWN, 0, UNKNOWN], [0, UNKNOWN, UNKNOWN]]
    assert recurring_systems(system_ids([["a"], ["b"]], 1)) is None

import numpy as np

from darc.tables.labels import Labels


def test_words_are_found_again_near_and_far() -> None:
    ids = [f"candidate {i} é\n{'x' * (i % 700)}" for i in range(500)]
    notes = ["" if i % 3 else "note" * 200 for i in range(500)]
    labels = Labels(("note",), 1000)
    offsets = labels.append([ids, notes], np.ones(500, dtype=bool))
    assert labels.ids(offsets) == ids
    assert labels.ids(offsets[::-7]) == ids[::-7]
    assert labels.ids(offsets[[499, 0]]) == [ids[499], ids[0]]
    assert [labels.cells(int(offset))["note"] for offset in offsets] == notes
    labels.close()


def test_only_chosen_rows_are_written() -> None:
    labels = Labels((), 1000)
    offsets = labels.append([["a", "b", "c"]], np.array([True, False, True]))
    assert labels.ids(offsets) == ["a", "c"]
    assert len(labels.append([["a"]], np.array([False]))) == 0
    labels.close()

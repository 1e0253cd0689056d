from pathlib import Path

from tests.study.making import config_for, finish, new_store, ready

from darc.study.lead_details import details


def test_details_are_those_of_the_labels_and_of_everyones_answers(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path, 2, quality={"share": 0.0}))
    ready(store, 1)
    finish(store, 1, 4.0)
    found = details(store, ["item 2"])
    assert list(found.texts) == ["item 2"]
    assert found.answers["r001"] == {4.0: 4}
    assert len(found.times) == 4
    store.close()

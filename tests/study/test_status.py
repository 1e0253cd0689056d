import re
from pathlib import Path

import pytest
from tests.study.making import config_for, finish, new_store, rate, ready

from darc.cli import main
from darc.errors import InputError
from darc.study.exclusions import exclude_by_name
from darc.study.links import issue_links
from darc.study.people import erase
from darc.study.status import close, status


def test_alpha_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path, 1))
    ready(store, 1, 2)
    finish(store, 1, 2.0)
    finish(store, 2, 9.0)
    store.close()
    assert main(["study", "status", "--database", str(tmp_path / "s.db")]) == 0
    told = re.findall(r"alpha, (.*)", capsys.readouterr().out)
    assert "(4)" in told[0]
    assert "2 of 5 items" in told[0]


def test_people_are_where_they_last_came_to(tmp_path: Path) -> None:
    config = config_for(tmp_path, study={"annotators": 6}, quality={"share": 0.0})
    store = new_store(str(tmp_path / "s.db"), config)
    issue_links(store, ["r002"])
    ready(store, 3, 4, 5, 6)
    finish(store, 4)
    exclude_by_name(store, "r005", "unfit")
    erase(store, "r006")
    states = ["no link", "invited", "working", "finished", "excluded", "erased"]
    assert [person.state for person in status(store).people] == states
    store.close()


def test_items_name_no_system_before_the_study_is_closed(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path, 2, quality={"share": 0.0}))
    ready(store, 1)
    rate(store, 1, 4.0)
    found = status(store)
    assert [item.label for item in found.items] == [f"item {n}" for n in range(1, 5)]
    assert {(item.prompt_id, item.candidates) for item in found.items} == {("", "")}
    assert (found.valid_ratings, found.complete) == (1, 0)
    assert close(store) == 4
    named = {(item.prompt_id, item.candidates) for item in status(store).items}
    assert named == {(p, system) for p in ("p0", "p1") for system in ("alpha", "beta")}
    with pytest.raises(InputError, match="closed already"):
        close(store)
    store.close()

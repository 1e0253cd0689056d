import csv
import io
import json
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.study.making import config_for, finish, new_store, ready, running
from tests.study.robots import Robot, obedient

from darc.cli import main
from darc.errors import InputError
from darc.study.backup import backup
from darc.study.exclusions import exclude_by_name
from darc.study.export import export, files
from darc.study.items import read_items
from darc.study.plan import design_of, plan
from darc.study.spreadsheets import is_formula
from darc.study.status import close, status
from darc.study.steps import next_step
from darc.study.store import open_store


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_excluded_ratings_stay_marked_and_are_passed_over(
    place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = new_store(place, config_for(tmp_path))
    ready(store, 1, 2, 3)
    finish(store, 1, 10.0)
    finish(store, 2, 4.0)
    exclude_by_name(store, "r001", "unfit")
    finish(store, 3, 6.0)
    with pytest.raises(InputError, match="open"):
        files(store)
    close(store)
    made = files(store)
    store.close()
    rows = rows_of(made["ratings.csv"])
    assert len(rows) == 36
    aside = [row for row in rows if row["valid"] == "false"]
    assert {(row["rater_id"], row["rating"], row["given"]) for row in aside} == {("r001", "", "10")}
    assert {row["exclusion_reason"] for row in aside} == {"unfit"}
    assert {row["kind"] for row in rows} == {"item"}
    kinds = {row["kind"] for row in rows_of(made["all_answers.csv"])}
    assert kinds == {"item", "attention"}
    (decision,) = rows_of(made["exclusions.csv"])
    assert (decision["rater_id"], decision["actor"], decision["reason"]) == (
        "r001",
        "lead",
        "unfit",
    )
    path = tmp_path / "ratings.csv"
    path.write_text(made["ratings.csv"])
    capsys.readouterr()
    assert main(["select", str(path), "--csv", "--rule", "mean"]) == 0
    assert {row["mean"] for row in rows_of(capsys.readouterr().out)} == {"5"}
    assert main(["eval", str(path), "--rule", "mean"]) == 0


def test_the_plan_is_frozen_and_made_again_from_the_design(tmp_path: Path) -> None:
    config = config_for(tmp_path)
    designs = []
    for name in ("a", "b"):
        store = new_store(str(tmp_path / f"{name}.db"), config)
        made = json.loads(files(store, unblind=True)["design.json"])
        designs.append(made)
        with store.read() as connection:
            again = design_of(connection, config)
        assert made["plans"]["r002"] == plan(again, 1)
        store.close()
    assert designs[0] == designs[1]


def test_a_backup_is_taken_while_serving(tmp_path: Path) -> None:
    with running(str(tmp_path / "s.db"), config_for(tmp_path)) as one:
        with Robot(one.url, one.links[0][1], obedient(lambda text: "5")) as robot:
            robot.work(6)
            backup(one.store, tmp_path / "copy.db")
            before = status(one.store).valid_ratings
            robot.work()
        copy = open_store(str(tmp_path / "copy.db"))
        assert status(copy).valid_ratings == before > 0
        copy.close()
    connection = sqlite3.connect(tmp_path / "copy.db")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_backup_of_postgresql(new_database: Callable[[], str], tmp_path: Path) -> None:
    store = new_store(new_database(), config_for(tmp_path))
    backup(store, tmp_path / "copy.dump")
    store.close()
    assert (tmp_path / "copy.dump").read_bytes().startswith(b"PGDMP")


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config_for(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["study", "init", "--items", "items.jsonl", "--ratings", "2", "--seed", "4"]) == 0
    assert "/lead/join/" in capsys.readouterr().out
    assert main(["study", "init"]) == 2
    assert "already" in capsys.readouterr().err
    assert main(["study", "links", "--url", "https://x.org", "--root-path", "/s"]) == 0
    links = rows_of(capsys.readouterr().out)
    assert [row["rater_id"] for row in links] == [f"r00{i}" for i in range(1, 6)]
    assert links[0]["link"].startswith("https://x.org/s/join/")
    for arguments in (
        ["links", "--add", "1"],
        ["links", "--renew", "r002"],
        ["links", "--revoke", "r002"],
        ["links", "--lead"],
        ["review", "--exclude", "r003", "--reason", "no show"],
        ["review"],
        ["review", "--reinstate", "r003"],
        ["review", "--clear-flags", "r003"],
        ["review", "--log"],
        ["erase", "r006"],
        ["backup", "copy.db"],
        ["status"],
        ["status", "--json"],
    ):
        assert main(["study", *arguments]) == 0, arguments
    out = capsys.readouterr().out
    assert "no show" in out
    assert json.loads(out.splitlines()[-1])["ratings"] == 2
    for arguments in (
        ["links", "--renew", "r0"],
        ["close"],
        ["export", "out"],
        ["links", "--enrolment"],
    ):
        assert main(["study", *arguments]) == 2, arguments
    assert main(["study", "close", "--force"]) == 0
    assert main(["study", "export", "out"]) == 0
    assert main(["study", "status", "--database", "nowhere.db"]) == 2
    assert not (tmp_path / "nowhere.db").exists()


def test_export_writes_whole_files_for_their_owner(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path))
    before = os.umask(0o022)
    try:
        paths = export(store, tmp_path / "new" / "out", unblind=True)
    finally:
        os.umask(before)
    store.close()
    assert stat.S_IMODE((tmp_path / "new" / "out").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
    assert {path.name for path in paths} == {
        "ratings.csv",
        "ratings.jsonl",
        "ratings.texts.jsonl",
        "all_answers.csv",
        "exclusions.csv",
        "design.json",
        "log.csv",
    }


FORMULAS = ("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1")


def test_no_cell_is_run_as_a_formula(tmp_path: Path) -> None:
    store = new_store(str(tmp_path / "s.db"), config_for(tmp_path, study={"annotators": 9}))
    names = [f"r{i:03d}" for i in range(1, 10)]
    ready(store, *range(1, 10))
    for number, (name, reason) in enumerate(zip(names, (*FORMULAS, "-1"), strict=True), 1):
        next_step(store, number)
        exclude_by_name(store, name, reason)
    made = files(store, unblind=True)
    store.close()
    expected = [*(f"'{reason.strip()}" for reason in FORMULAS), "-1"]
    assert [row["reason"] for row in rows_of(made["exclusions.csv"])] == expected
    told = [row["detail"] for row in rows_of(made["log.csv"]) if row["action"] == "excluded"]
    assert told == expected
    for name in (name for name in made if name.endswith(".csv")):
        for row in csv.reader(io.StringIO(made[name])):
            assert not any(is_formula(cell) for cell in row), (name, row)


def test_names_are_read_back_as_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = ("-1", "+2.5", "'quoted", "a=b", "p, 1", "ü")
    systems = ("base", "x@1", '"both"')
    config = config_for(tmp_path, quality={"share": 0.0})
    with (tmp_path / "items.jsonl").open("w") as file:
        for name in prompts:
            row = {"prompt_id": name, "prompt": "?", "responses": dict.fromkeys(systems, "text")}
            file.write(json.dumps(row) + "\n")
    store = new_store(str(tmp_path / "s.db"), config)
    ready(store, 1, 2)
    finish(store, 1, 4.0)
    finish(store, 2, 6.0)
    export(store, tmp_path / "out", unblind=True)
    store.close()
    capsys.readouterr()
    path = str(tmp_path / "out" / "ratings.csv")
    assert main(["select", path, "--rule", "mean", "--csv"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert {row["prompt_id"] for row in rows} == set(prompts)
    assert {row["candidate_id"] for row in rows} <= set(systems)
    assert main(["eval", path, "--rule", "mean"]) == 0
    texts = (tmp_path / "out" / "ratings.texts.jsonl").read_text().splitlines()
    assert {json.loads(line)["prompt_id"] for line in texts} == set(prompts)


@pytest.mark.parametrize("name", FORMULAS)
def test_names_that_are_formulas_are_refused(tmp_path: Path, name: str) -> None:
    for prompt_id, system in ((name, "base"), ("p", name)):
        config = config_for(tmp_path)
        row = {"prompt_id": prompt_id, "prompt": "?", "responses": {system: "text"}}
        (tmp_path / "items.jsonl").write_text(json.dumps(row) + "\n")
        with pytest.raises(InputError, match="as a formula"):
            read_items(config.items)

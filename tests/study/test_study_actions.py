import csv
import io
import json
import signal
import tomllib
from pathlib import Path

import pytest
from tests.study.making import config_for, new_store, write_items
from tests.study.process import Server

from darc.cli import main
from darc.study.links import add_links
from darc.study.settings import STUDIES, read_study_file, study_settings, study_toml
from darc.study.status import status
from darc.study.store import open_store

INIT = ["study", "init", "--items", "items.jsonl", "--ratings", "2", "--annotators", "2"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_items(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def links_of(text: str) -> dict[str, str]:
    return {row["rater_id"]: row["link"] for row in csv.DictReader(io.StringIO(text))}


@pytest.mark.parametrize(
    "wrong",
    [
        ["--items", "nowhere.jsonl"],
        ["--items", "bad.jsonl"],
        ["--ratings", "0"],
        ["--ratings", "9"],
        ["--annotators", "many"],
        ["--annotators", "5000"],
        ["--template", "safety", "--mode", "pairwise"],
        ["--database", "nowhere/study.db"],
    ],
)
def test_a_failed_init_leaves_nothing_behind(
    folder: Path, capsys: pytest.CaptureFixture[str], wrong: list[str]
) -> None:
    (folder / "bad.jsonl").write_text("{\n")
    before = sorted(folder.iterdir())
    assert main([*INIT, *wrong]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert sorted(folder.iterdir()) == before
    assert main(INIT) == 0


def test_a_failed_init_leaves_no_tables(place: str, folder: Path) -> None:
    (folder / "bad.jsonl").write_text("{\n")
    assert main([*INIT, "--database", place, "--items", "bad.jsonl"]) == 2
    assert main([*INIT, "--database", place]) == 0


@pytest.mark.parametrize("name", STUDIES)
def test_each_template_is_a_study(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main([*INIT, "--template", name]) == 0
    config = read_study_file(folder / "study.toml")
    assert config.study.title == STUDIES[name][0]
    assert config.pairwise == (name == "pairwise")
    assert len(config.comprehension) == 2
    assert "6 items" in capsys.readouterr().err or name != "pairwise"
    # The example of a question about people is one, once it is no comment.
    text = (folder / "study.toml").read_text()
    assert config.groups == ()
    lines = [line.removeprefix("# ") for line in text.splitlines() if "Questions about" not in line]
    asked = tomllib.loads("\n".join(lines))
    assert [each.name for each in study_settings(asked).groups] == ["age"]


def test_mode_pairwise_is_the_template_of_pairs(folder: Path) -> None:
    assert main([*INIT, "--mode", "pairwise"]) == 0
    assert read_study_file(folder / "study.toml").study.title == "Comparing answers"


def test_names_of_files_are_written_as_they_are() -> None:
    name = 'a "b" \\ ü.jsonl'
    assert tomllib.loads(study_toml([name], "safety", 1, "open", 3))["items"]["jsonl"] == [name]


def test_links_begin_with_what_serve_uses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*INIT, "--port", "9123"]) == 0
    assert links_of(capsys.readouterr().out)["lead"].startswith("http://127.0.0.1:9123/lead/join/")
    assert main(["study", "links"]) == 0
    assert links_of(capsys.readouterr().out)["r001"].startswith("http://127.0.0.1:9123/join/")
    server = Server(str(folder / "study.db"), folder / "log", "--root-path", "/rate")
    server.stop(signal.SIGTERM)
    base = f"http://127.0.0.1:{server.port}/rate"
    log = (folder / "log").read_text()
    assert f"links made before begin with http://127.0.0.1:9123; replace that by {base}" in log
    assert main(["study", "links", "--renew", "r001"]) == 0
    assert links_of(capsys.readouterr().out)["r001"].startswith(f"{base}/join/")
    assert main(["study", "links", "--lead", "--url", "https://x.org"]) == 0
    assert links_of(capsys.readouterr().out)["lead"].startswith("https://x.org/lead/join/")
    assert main(["study", "links", "--renew", "r001", "--port", "9000"]) == 0
    assert links_of(capsys.readouterr().out)["r001"].startswith("https://x.org/join/")


@pytest.mark.parametrize("url", ["study.example.org", "ftp://x.org", "https://", "http://x:y"])
def test_an_address_that_is_none_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    assert main([*INIT, "--url", url]) == 2
    assert f"--url is {url!r}; give it as https://NAME" in capsys.readouterr().err
    assert not (folder / "study.toml").exists()
    assert not (folder / "study.db").exists()


def test_a_link_names_no_wildcard(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(INIT) == 0
    server = Server(str(folder / "study.db"), folder / "log", "--host", "0.0.0.0")
    server.stop(signal.SIGTERM)
    capsys.readouterr()
    assert main(["study", "links", "--renew", "r001"]) == 0
    link = links_of(capsys.readouterr().out)["r001"]
    assert link.startswith(f"http://127.0.0.1:{server.port}/join/")


def test_links_have_a_limit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = new_store("study.db", config_for(folder, study={"most": 5}))
    assert len(add_links(store, 1)) == 1
    store.close()
    for count in ("2", "1000000000", "0", "-1"):
        assert main(["study", "links", "--add", count]) == 2
    found = capsys.readouterr().err.splitlines()[0]
    for fact in ("2 more", "6", "study.most is 5", "at most 1"):
        assert fact in found
    store = open_store("study.db")
    assert len(status(store).people) == 4
    store.close()


def test_an_adaptive_study_is_made_and_looked_at(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*INIT, "--adaptive"]) == 0
    assert "at most 24 ratings" in capsys.readouterr().err
    data = tomllib.loads((folder / "study.toml").read_text())
    assert data["study"]["design"] == "adaptive"
    assert data["adaptive"] == {"price": 0.005, "budget": 0}
    assert main(["study", "status"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("open: 0 of 14 valid ratings, 0 of 12 items complete")
    assert "the pilot asks for 14 ratings" in shown
    assert main(["study", "status", "--json"]) == 0
    waves = json.loads(capsys.readouterr().out)["adaptive"]
    assert (waves["wave"], waves["wave_ratings"], waves["fixed_ratings"]) == (0, 14, 24)
    assert waves["prompts"][0]["certainty"] is None
    Path("study.db").unlink()
    assert main(["study", "init", "--adaptive"]) == 2
    assert "design" in capsys.readouterr().err
    assert main(["study", "init"]) == 0


def test_pairs_are_not_compared_adaptively(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*INIT, "--adaptive", "--mode", "pairwise"]) == 2
    message = capsys.readouterr().err
    assert "study.design" in message
    assert "pairs" in message
    assert len(message.strip().splitlines()) == 1

"""The page of results on simulated people, with answers that are there already."""

import json
import re
import shutil
from pathlib import Path

import pytest
from benchmarks.results.__main__ import main
from benchmarks.results.equal_terms import scaled_rules
from benchmarks.results.page import tracked

from darc.cli import main as darc

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PEOPLE = ("--n-candidates", "4", "--crowd", "8", "--polarising", "0.4", "--gap", "4")
WAYS = (
    "Walk to the old bridge in the morning and look at the river from there.",
    "Take a warm coat, two sandwiches and a map, then follow the red signs uphill.",
    "It's probably best to ask at the station; they know when the next train leaves.",
    "I would stay at home today, since heavy rain is expected until the evening.",
)


def simulate(path: Path, prompts: int, raters: int) -> None:
    sizes = ("--n-prompts", str(prompts), "--n-raters", str(raters), "--set", "lure=1")
    assert darc(["simulate", *PEOPLE, *sizes, "--seed", "1", "--out", str(path)]) == 0


def write_answers(path: Path, prompts: int) -> None:
    rows = [
        {
            "prompt_id": f"prompt {p + 1}",
            "candidate_id": f"answer {letter}",
            "prompt": f"Where should we go on day {p + 1} of our trip?",
            "response": f"For day {p + 1}: {way} That is {p + k} miles in all.",
        }
        for p in range(prompts)
        for k, (letter, way) in enumerate(zip("ABCD", WAYS, strict=True))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the data, and with a page made of them by default names."""
    root = tmp_path_factory.mktemp("results")
    ratings = root / "data" / "ratings"
    ratings.mkdir(parents=True)
    simulate(ratings / "divided.csv", 30, 8)
    write_answers(ratings / "divided.texts.jsonl", 5)
    simulate(ratings / "three.csv", 30, 3)
    write_answers(root / "answers.jsonl", 12)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert make() == 0
    return root


def make(*more: str) -> int:
    pool = ("--generator", "given:answers.jsonl", "--prompts", "answers.jsonl")
    return main(["data", "--quick", *pool, *more])


@pytest.fixture(scope="module")
def page(made: Path) -> str:
    return (made / "build" / "results-quick.md").read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    found = re.search(rf"^##+ {re.escape(title)}$(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def table(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [line[2:-2].split(" | ") for line in lines if not line.startswith("| ---")]


def test_it_has_the_sections_of_the_published_page(made: Path, page: str) -> None:
    published = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    expected = re.findall(r"^## (.*)$", published, re.MULTILINE)
    expected[-1] = "A pool by given"
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == expected
    assert re.findall(r"^### (.*)$", page, re.MULTILINE) == [
        *("divided", "three", "On equal terms", "Families of rewrites")
    ]
    assert "A quick page" in page
    assert not (made / "docs").exists()


def test_numbers_are_those_that_the_command_prints(made: Path, page: str) -> None:
    output = json.loads((made / "build/results-quick/divided-eval.json").read_text())
    for row in output["frames"]["human"]["rows"]:
        if row["subset"] == "overall" and row["method"] != "mean":
            shown = {cells[0]: cells for cells in table(section(page, "divided"))}[row["method"]]
            for cell, measure in zip(shown[1:], ("mean", "tradeoff", "cvar_10"), strict=True):
                delta, low, high = (row[f"{part}_{measure}"] for part in ("delta", "low", "high"))
                star = "\\*" if low > 0 or high < 0 else ""
                assert cell == f"{delta:+.3f}{star} ({low:+.3f} to {high:+.3f})"


def test_sentences_say_what_the_stars_say(page: str) -> None:
    rules = section(page, "Rules on people's ratings")
    overview = {(row[0], row[1]): row[2:] for row in table(rules)}
    for column in range(3):
        starred: dict[str, list[str]] = {"raised": [], "lowered": []}
        for row in table(section(page, "divided"))[1:]:
            if "\\*" in row[1 + column]:
                starred["raised" if row[1 + column][0] == "+" else "lowered"].append(row[0])
        words = [f"{word} by {', '.join(found)}" for word, found in starred.items() if found]
        expected = "; ".join(words) or "changed by none"
        assert overview["divided", "overall"][column] == expected
    moved: dict[str, list[str]] = {"raised": [], "lowered": []}
    for part in "; ".join(cell for cells in overview.values() for cell in cells).split("; "):
        word, by, names = part.partition(" by ")
        if by and word in moved:
            moved[word] += names.split(", ")
    default = re.search(r"`auto`, the default, raises (\d+) and lowers (\d+) of its", rules)
    assert default is not None
    assert [int(n) for n in default.groups()] == [names.count("auto") for names in moved.values()]
    counts = re.findall(r"is raised in (\d+) and lowered in (\d+) of (\d+) comparisons", rules)
    raised, lowered = (len(names) - names.count("auto") for names in moved.values())
    assert sum(int(up) for up, _, _ in counts) == raised
    assert sum(int(down) for _, down, _ in counts) == lowered > 0
    more = (
        "cost more often than they help" if lowered > raised else "help more often than they cost"
    )
    assert raised == lowered or more in rules


def test_three_raters_cannot_judge_the_tradeoff(page: str) -> None:
    rules = section(page, "Rules on people's ratings")
    assert ["three", "overall"] in [row[:2] for row in table(rules) if row[3] == "cannot be judged"]
    assert "On three no split both selects and judges with a sigma" in rules
    assert table(section(page, "three"))[0] == ["rule", "mean", "CVaR 10 %"]
    assert "No texts are there for three." in page


def test_rules_without_their_inputs_are_listed_as_not_run(page: str) -> None:
    pool = section(page, "A pool by given")
    names = [row[0] for row in table(pool)[1:]]
    assert {"epsilon", "mbr", "uwo"} <= set(names)
    assert not {"mc_dropout", "rbon", "caution", "median"} & set(names)
    assert "mc_dropout (" in pool
    assert "rbon (there is no log_likelihood" in pool


def test_families_are_of_the_same_answers(made: Path, page: str) -> None:
    families = section(page, "Families of rewrites")
    assert {row[0] for row in table(families)[1:]} == {"style", "hybrid"}
    assert "rewritten by style and hybrid." in families
    # These answers have no flattery and no padding to strip.
    assert "Rewriting by targeted left nothing to compare." in families
    work = made / "build" / "results-quick"
    texts = {
        name: [
            (work / folder / "shards" / "00000" / f"{name}.jsonl").read_text()
            for folder in ("pool", "hybrid")
        ]
        for name in ("candidates", "variants")
    }
    assert texts["candidates"][0] == texts["candidates"][1]
    assert texts["variants"][0] != texts["variants"][1]


def test_it_goes_on_and_makes_again_what_changed(
    made: Path, page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made)
    assert make() == 0
    assert "darc eval" not in capsys.readouterr().err
    assert (made / "build/results-quick.md").read_text(encoding="utf-8") == page
    (made / "build/results-quick/pool-eval.json").unlink()
    with (made / "data/ratings/three.csv").open("a", encoding="utf-8") as file:
        file.write("prompt 1,answer A,another,1,\n")
    assert make("--out", "again.md") == 0
    steps = re.findall(r"^darc (\w+) (\S+)", capsys.readouterr().err, re.MULTILINE)
    ratings = "data/ratings/three.csv"
    without_ids = "build/results-quick/three-no-ids.csv"
    assert steps == [
        *(("eval", ratings), ("diagnose", ratings), ("tune", ratings)),
        *(("eval", without_ids), ("tune", without_ids)),
        ("eval", "build/results-quick/pool"),
    ]
    again = (made / "again.md").read_text(encoding="utf-8")
    assert section(again, "divided") == section(page, "divided")


def test_the_same_seed_makes_the_same_page(
    made: Path, page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(made / "data" / "ratings", tmp_path / "data" / "ratings")
    for name in ("three.csv", "divided.texts.jsonl"):
        (tmp_path / "data" / "ratings" / name).unlink()
    shutil.copy(made / "answers.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert make() == 0
    again = (tmp_path / "build" / "results-quick.md").read_text(encoding="utf-8")
    for title in ("divided", "Families of rewrites"):
        assert section(again, title) == section(page, title)
    assert table(section(again, "A pool by given")) == table(section(page, "A pool by given"))


def test_correlations_are_claimed_as_they_are() -> None:
    def said(value: float, high: float) -> str:
        return tracked([{"value": value, "low": 0.0, "high": high}], ["recipe"])

    assert "not tested under the paper's conditions" in said(0.1, 0.3)
    assert "though not every interval" in said(0.4, 0.7)
    assert "some sets reach that here" in said(0.7, 0.8)
    assert "those of recipe are recipes" in said(0.7, 0.8)


def test_a_folder_without_ratings_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["nowhere", "--quick"]) == 2
    assert "nowhere has no ratings/NAME.csv" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_equal_terms_count_by_the_band(page: str, made: Path) -> None:
    text = section(page, "On equal terms")
    assert "`auto`: better in" in text
    assert "the paper's rules at their defaults: better in" in text
    folder = made / "build" / "results-quick"
    lines = (folder / "divided-no-ids.csv").read_text(encoding="utf-8").splitlines()
    raters = [line.split(",")[2] for line in lines[1:]]
    assert len(set(raters)) == len(raters)
    output = json.loads((folder / "divided-equal-eval.json").read_text(encoding="utf-8"))
    better = [row for row in output["verdicts"] if row["verdict"] == "better"]
    for row in output["verdicts"]:
        assert (row["verdict"] == "level") == (abs(row["delta"]) <= row["margin"])
    assert f"`auto`: better in {sum(row['method'] == 'auto' for row in better)}" in text


def test_parameters_are_scaled_to_the_ratings() -> None:
    assert scaled_rules(10.0)[0] == "entropic:beta=1"
    assert scaled_rules(4.0)[0] == "entropic:beta=2.5"
    assert scaled_rules(4.0)[2] == "epsilon:epsilon=0.1,beta=2.5"

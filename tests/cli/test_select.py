"""`darc select` as a user runs it."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import TIDY, rows
from tests.helpers import run_command as darc

WIDE = "prompt_id,candidate_id,ann,bob,cid\np1,a,9,1,9\np1,b,6,6,6\n"
PAIRS = """prompt_id,left_id,right_id,rater_id,winner
p1,a,b,r1,left
p1,a,b,r2,right
p1,a,c,r1,left
p1,c,b,r2,tie
p1,b,c,r1,left
"""


def test_table_on_standard_output(tidy: Path) -> None:
    done = darc("select", tidy, "--rule", "mean", "--rule", "epsilon")
    assert done.returncode == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["prompt", "mean", "epsilon"]
    assert lines[2].split() == ["p1", "a", "b", "*"]
    assert lines[3].split() == ["p2", "d", "d"]
    assert "1 of 2" in done.stdout


def test_csv_keeps_extra_columns_of_the_choice(tidy: Path) -> None:
    done = darc("select", tidy, "--csv", "--rule", "mean", "--rule", "entropic:beta=2")
    table = rows(done.stdout)
    assert [(r["prompt_id"], r["rule"], r["candidate_id"], r["answer"]) for r in table] == [
        ("p1", "mean", "a", "bold"),
        ("p1", "entropic:beta=2", "b", "calm"),
        ("p2", "mean", "d", "two"),
        ("p2", "entropic:beta=2", "d", "two"),
    ]
    assert float(table[0]["mean"]) == pytest.approx(19 / 3)
    assert table[0]["samples"] == "3"


def test_json_lines(tidy: Path) -> None:
    told = ("--json", "--bounds", 0, 10, "--explain", "--flip")
    done = darc("select", tidy, "--rule", "epsilon", *told)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["prompt_id"] == "p1"
    assert first["candidate"] == "b"
    assert first["extra"] == {"answer": "calm"}
    assert first["lower_bound"] == 0.0
    assert first["explanation"].startswith("b, not a: a has the higher average (6.3 against 6.0)")
    assert (first["unhappy"], first["caution"], first["held"]) == (0, None, False)
    assert first["people"]["unhappy_below"] == 5
    assert [each["unhappy"] for each in first["people"]["answers"]] == [1, 0]
    assert first["flip"]["winner"] == 0
    assert second["candidates"][1]["value"] == 8.0


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl"])
def test_out_file_is_written_and_standard_output_is_quiet(tidy: Path, name: str) -> None:
    out = tidy.with_name(name)
    done = darc("select", tidy, "--out", out)
    assert done.returncode == 0
    assert done.stdout == ""
    assert out.read_text(encoding="utf-8").count("\n") == (3 if name.endswith("csv") else 2)
    assert [p.name for p in tidy.parent.iterdir()] == [tidy.name, name] or {
        p.name for p in tidy.parent.iterdir()
    } == {tidy.name, name}


def test_one_prompt_is_shown_in_full(tidy: Path) -> None:
    done = darc("select", tidy, "--prompt", "p1", "--rule", "mean", "--rule", "entropic")
    first, sentence, *rest = done.stdout.splitlines()
    assert first == "prompt p1"
    assert sentence.startswith("mean: a has the highest average")
    assert rest[0].startswith("entropic: b, not a: ")
    assert "a       6.333  1 of 3         3  mean" in rest
    assert "sigma" not in done.stdout
    assert done.stdout.count("unhappy: below 5, the middle of the scale 0 to 10") == 1
    missing = darc("select", tidy, "--prompt", "p9")
    assert missing.returncode == 2
    assert missing.stdout == ""
    assert "no prompt 'p9'" in missing.stderr


def chosen(*arguments: object, text: str = "") -> list[str]:
    """The candidates that are chosen."""
    done = darc("select", *arguments, "--csv", text=text)
    assert done.returncode == 0, done.stderr
    return [row["candidate_id"] for row in rows(done.stdout)]


DIVISIVE = "prompt_id,candidate_id,rater_id,rating\n" + "".join(
    f"q,{name},r{i},{rating}\n"
    for name, ratings in {"bold": [9] * 5 + [2] * 3, "calm": [5] * 8}.items()
    for i, rating in enumerate(ratings)
)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ([], "calm"),
        (["--caution", "none"], "bold"),
        (["--caution", "high"], "calm"),
        (["--caution", "0"], "bold"),
        (["--rule", "auto:lam=0"], "bold"),
        (["--rule", "auto:caution=2"], "calm"),
        (["--rule", "auto:caution=none"], "bold"),
        (["--rule", "auto:lam=0", "--caution", "high"], "bold"),
        (["--caution", "none", "--no-rating-below", "3"], "calm"),
    ],
)
def test_caution_decides_between_a_divisive_and_a_calm_answer(
    options: list[str], name: str
) -> None:
    assert chosen("-", *options, text=DIVISIVE) == [name]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--caution", "much"], "none, low, medium, high, or a number"),
        (["--rule", "auto:caution=-1"], "caution"),
        (["--rule", "mean", "--caution", "high"], "it belongs to auto"),
        (["--scale", "5"], "such as 1-5"),
        (["--scale", "5-1"], "does not rise"),
    ],
)
def test_options_about_people_are_checked(tidy: Path, options: list[str], words: str) -> None:
    done = darc("select", tidy, *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_scale_says_who_is_unhappy(tidy: Path) -> None:
    for options, unhappy, definition in (
        ([], "0 of 3", "unhappy: below 5, the middle of the scale 0 to 10; "),
        (["--scale", "1-15"], "3 of 3", "unhappy: below 8, the middle of the scale 1 to 15; "),
        (["--bounds", 1, 15], "3 of 3", "unhappy: below 8, the middle of the scale 1 to 15; "),
        (["--threshold", 6.5], "3 of 3", "unhappy: below 6.5\n"),
    ):
        done = darc("select", tidy, "--rule", "entropic", *options)
        assert f"p1      b       6.000  {unhappy}" in done.stdout
        assert done.stdout.count(definition) == 1
        assert done.stderr == ""


def test_many_prompts_are_told_by_people(tidy: Path) -> None:
    done = darc("select", tidy, "--explain")
    header, _, first, why, *rest = done.stdout.splitlines()
    assert header.split() == ["prompt", "chosen", "mean", "unhappy"]
    assert first.split() == ["p1", "b", "6.000", "0", "of", "3"]
    assert why.startswith("    b, not a: ")
    start = next(i for i, line in enumerate(rest) if line.startswith("rule"))
    assert rest[start].split()[:3] == ["rule", "mean", "unhappy"]
    assert rest[start + 2].split() == ["auto", "7.000", "0.0%", "1", "of", "2"]
    details = darc("select", tidy, "--details").stdout
    assert "sigma" in details
    assert "sigma" not in done.stdout


def test_when_no_answer_is_good_it_is_said_first() -> None:
    poor = DIVISIVE.replace(",5\n", ",2\n").replace(",9\n", ",1\n")
    done = darc("select", "-", "--scale", "0-10", text=poor)
    assert done.stdout.splitlines()[:2] == ["prompt q", "None of these answers is good."]
    assert done.stdout.count("None of these answers is good.") == 1
    assert done.returncode == 0
    done = darc("select", "-", "--scale", "0-10", "--csv", text=poor)
    assert rows(done.stdout)[0]["held"] == "true"


def test_scores_of_rewrites_are_about_wording() -> None:
    rewrites = re.sub(r",r(\d)", r",rewrite \1", DIVISIVE)
    done = darc("select", "-", "--caution", "high", text=rewrites)
    assert done.stderr.startswith("Note: rewrites measure sensitivity to wording; ")
    assert done.stderr.count("\n") == 1
    assert "spread over wordings" in done.stdout
    assert "unhappy" not in done.stdout
    assert darc("select", "-", text=rewrites).stderr == ""


@pytest.mark.parametrize("layout", ["wide", "pairwise"])
def test_other_layouts_from_standard_input(layout: str) -> None:
    text = WIDE if layout == "wide" else PAIRS
    done = darc("select", "-", "--csv", "--rule", "mean", text=text)
    assert done.returncode == 0
    assert rows(done.stdout)[0]["candidate_id"] == ("a" if layout == "wide" else "b")


@pytest.mark.parametrize("method", ["bradley-terry", "thurstone"])
def test_pairwise_by_a_fitted_score(method: str) -> None:
    done = darc("select", "--rule", "mean", "--scalarize", method, "--csv", text=PAIRS)
    assert rows(done.stdout)[0]["candidate_id"] == "b"


def test_gzip_and_jsonl_and_parquet_agree(tidy: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    expected = darc("select", tidy, "--csv").stdout
    table: list[dict[str, Any]] = [*rows(TIDY)]
    for row in table:
        row["rating"] = float(row["rating"])
    jsonl = tidy.with_suffix(".jsonl.gz")
    jsonl.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in table).encode()))
    parquet = tidy.with_suffix(".parquet")
    pq.write_table(pa.Table.from_pylist(table), parquet)
    tsv = TIDY.replace(",", "\t")
    assert darc("select", jsonl, "--csv").stdout == expected
    assert darc("select", parquet, "--csv").stdout == expected
    assert darc("select", "-", "--csv", text=tsv).stdout == expected


def test_side_inputs_from_a_file_or_a_column(tidy: Path) -> None:
    side = tidy.with_name("side.csv")
    side.write_text(
        "prompt_id,candidate_id,log_likelihood\np1,a,-900\np1,b,-1\np2,c,-1\np2,d,-2\n",
        encoding="utf-8",
    )
    done = darc("select", tidy, "--rule", "rbon", "--side-file", side, "--csv")
    assert [r["candidate_id"] for r in rows(done.stdout)] == ["b", "d"]
    column = TIDY.replace("answer", "atypicality").replace("bold", "0.99").replace("calm", "0.01")
    column = column.replace("one", "0").replace("two", "1")
    done = darc("select", "-", "--rule", "caution:a=9", "--csv", text=column)
    assert [r["candidate_id"] for r in rows(done.stdout)] == ["b", "c"]
    pairs = tidy.with_name("pairs.csv")
    pairs.write_text(
        "prompt_id,left_id,right_id,similarity\np1,a,b,0.5\np2,c,d,0.1\n", encoding="utf-8"
    )
    assert darc("select", tidy, "--rule", "mbr", "--side-file", pairs).returncode == 0


def test_dropout_samples_are_columns_of_a_file_or_of_the_ratings(tidy: Path) -> None:
    numbers = {"a": "5,5", "b": "9,0", "c": "1,1", "d": "0,2"}
    side = tidy.with_name("side.csv")
    lines = [f"{'p1' if c in 'ab' else 'p2'},{c},{passes}" for c, passes in numbers.items()]
    side.write_text("prompt_id,candidate_id,dropout_1,dropout_2\n" + "\n".join(lines) + "\n")
    column = TIDY.replace("answer", "dropout_1,dropout_2")
    for word, candidate in zip(("bold", "calm", "one", "two"), "abcd", strict=True):
        column = column.replace(word, numbers[candidate])
    for given in ([tidy, "--side-file", side], ["-"]):
        done = darc("select", *given, "--rule", "mc_dropout", "--csv", text=column)
        assert [r["candidate_id"] for r in rows(done.stdout)] == ["a", "c"], done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rule", "epsilom"], "unknown rule 'epsilom'; did you mean 'epsilon'?"),
        (["--rule", "epsilon:epsilom=1"], "unknown parameter 'epsilom' for rule 'epsilon'"),
        (["--rule", "epsilon:epsilon"], "is not KEY=VALUE"),
        (["--rule", "mean", "--caution", "low"], "'caution' is not a parameter of mean"),
        (["--rule", "mean", "--rule", "mean"], "given twice"),
        (["--beta", "-1"], "beta is -1.0"),
        (["--beta", "x"], "invalid float value: 'x'"),
        (["--rule", "rbon"], "rule 'rbon' needs 'log_likelihood' for every candidate"),
        (["--rule", "mc_dropout"], "such as those of the scorer dropout:MODEL, as columns"),
        (["--rule", "hedgetune"], "hedgetune cannot choose a rate from 2 prompts"),
        (["--bounds", "0", "5"], "outside the bounds"),
        (["--plot", "picture.doc"], "does not end in .png, .svg or .pdf"),
        (["--out", "no/such/folder/x.csv"], "no/such/folder"),
        (["--column", "prompt_id=question"], "question"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["--rules", "tau"], "unrecognized arguments: --rules tau; perhaps --rule;"),
        (["--config", "none.toml"], "none.toml cannot be read"),
    ],
)
def test_bad_options_are_one_sentence(tidy: Path, arguments: list[str], words: str) -> None:
    done = darc("select", tidy, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("prompt_id,candidate_id,rater_id,rating\n", "no rows"),
        (TIDY.replace("rating,", "ratings,"), "rating"),
        (TIDY.replace("p1,b,r2,6", "p1,b,r2,six"), "line 6"),
        (TIDY.replace("p1,b,r2,6", "p1,b,r2,inf"), "line 6"),
        (TIDY.replace("p2,c,r1,3", "p2,c,r1,").replace("p2,c,r2,4", "p2,c,r2,nan"), "'c'"),
    ],
)
def test_bad_files_are_one_sentence_and_leave_nothing(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "bad.csv"
    out = tmp_path / "out.csv"
    path.write_text(text, encoding="utf-8")
    out.write_text("what was there", encoding="utf-8")
    done = darc("select", path, "--out", out)
    assert done.returncode == 2
    assert words in done.stderr
    assert "bad.csv" in done.stderr
    assert done.stderr.count("\n") == 1
    assert out.read_text(encoding="utf-8") == "what was there"
    assert {p.name for p in tmp_path.iterdir()} == {"bad.csv", "out.csv"}


def test_missing_file_names_its_neighbour(tidy: Path) -> None:
    done = darc("select", tidy.with_name("rating.csv"))
    assert done.returncode == 2
    assert "ratings.csv" in done.stderr


@pytest.mark.parametrize("name", ["decision.png", "decision.svg"])
def test_plot(tidy: Path, name: str) -> None:
    picture = tidy.with_name(name)
    done = darc("select", tidy, "--rule", "mean", "--rule", "epsilon", "--plot", picture)
    assert done.returncode == 0
    assert "drew prompt 'p1'" in done.stderr
    start = picture.read_bytes()[:200]
    assert start.startswith(b"\x89PNG") if name.endswith("png") else b"<?xml" in start


def test_texts_beside_the_ratings_are_shown(tidy: Path) -> None:
    rows = [("p1", "a", "Tea is good."), ("p1", "b", "Tea is warm.")]
    with tidy.with_name(f"{tidy.stem}.texts.jsonl").open("w") as file:
        for prompt, name, text in rows:
            row = {"prompt_id": prompt, "candidate_id": name, "prompt": "Tea?", "response": text}
            file.write(json.dumps(row) + "\n")
    picture = tidy.with_name("decision.svg")
    done = darc("select", tidy, "--rule", "mean", "--prompt", "p1", "--plot", picture)
    assert done.returncode == 0
    taken = "Best-of-K (mean) took a (1 of 3 unhappy: r2): Tea is good."
    assert f"\n{taken}\n" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
def test_interrupt_writes_nothing_and_exits_with_130(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    process = subprocess.Popen(
        [sys.executable, "-m", "darc", "select", "-", "--out", str(out)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(TIDY)
    # More than a pipe holds: the write returns once the command is reading.
    process.stdin.write("".join(f"q{i},a,r,1,x\n" for i in range(40_000)))
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "darc: interrupted; nothing was written\n"
    assert list(tmp_path.iterdir()) == []


def test_reader_that_leaves_early_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    lines = [
        f"p{p},c{c},r{r},{(p * c + r) % 10}" for p in range(2000) for c in range(3) for r in (1, 2)
    ]
    path.write_text("prompt_id,candidate_id,rater_id,rating\n" + "\n".join(lines) + "\n")
    command = f'"{sys.executable}" -m darc select "{path}" --csv | head -n 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("prompt_id,rule")
    assert [line for line in done.stderr.splitlines() if not line.startswith("unhappy: ")] == []


def test_scattered_rows_give_the_same_decisions(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    lines = [
        f"p{p},c{c},r{r},{generator.integers(0, 11)}"
        for p in range(300)
        for c in range(4)
        for r in range(3)
    ]
    header = "prompt_id,candidate_id,rater_id,rating\n"
    together = darc("select", "-", "--csv", text=header + "\n".join(lines) + "\n")
    generator.shuffle(lines)
    apart = darc("select", "-", "--csv", text=header + "\n".join(lines) + "\n")
    first = {r["prompt_id"]: r for r in rows(together.stdout)}
    second = {r["prompt_id"]: r for r in rows(apart.stdout)}
    assert len(first) == len(second) == 300
    for prompt, row in first.items():
        if row["candidate_id"] != second[prompt]["candidate_id"]:
            # Exact ties go to the candidate that comes first in the file, which shuffling changes.
            assert float(row["mean"]) == pytest.approx(float(second[prompt]["mean"]))


def test_every_rule_runs_on_ratings_nobody_here_wrote() -> None:
    folder = os.environ.get("DARC_DATA", "")
    path = Path(folder) / "ratings" / "summeval.csv.gz"
    if not path.is_file():
        pytest.skip("set DARC_DATA to a folder with ratings/summeval.csv.gz")
    listed = [json.loads(line) for line in darc("rules", "--json").stdout.splitlines()]
    # A rule that needs more than ratings cannot run on them alone.
    names = [rule["name"] for rule in listed if not rule["needs"]]
    assert "auto" in names
    for name in names:
        started = time.perf_counter()
        done = darc("select", path, "--rule", name, "--csv")
        assert done.returncode == 0, done.stderr
        assert len(rows(done.stdout)) == 100
        elapsed = time.perf_counter() - started
        print(f"{name}: {elapsed:.2f} s")
        assert elapsed < 6


def test_copied_rows_are_noted_and_counted_once(tmp_path: Path) -> None:
    lines = [
        f"p{prompt},{candidate},r{rater},{(prompt * 7 + rater * 3 + place) % 5}\n"
        for prompt in range(6)
        for place, candidate in enumerate("ab")
        for rater in range(3)
    ]
    header = "prompt_id,candidate_id,rater_id,rating\n"
    once = tmp_path / "once.csv"
    once.write_text(header + "".join(lines), encoding="utf-8")
    copied = tmp_path / "copied.csv"
    renamed = [row.replace(",r", ",copy ") for row in lines]
    copied.write_text(header + "".join([*lines, *renamed]), encoding="utf-8")
    expected = darc("select", once, "--json")
    assert "copied" not in expected.stderr
    output = darc("select", copied, "--json")
    for line, expected_line in zip(
        output.stdout.splitlines(), expected.stdout.splitlines(), strict=True
    ):
        assert json.loads(line)["explanation"] == json.loads(expected_line)["explanation"]
    assert "copied rows" in output.stderr


def test_a_prompt_says_how_sure_its_choice_is(ratings_path: Path) -> None:
    printed = darc("select", str(ratings_path), "--prompt", "q").stdout
    assert "no other answer is clearly better" in printed
    assert "is expected to average" in printed
    assert "below the best answer" in printed
    lines = darc("select", str(ratings_path), "--json").stdout.splitlines()
    certainty = json.loads(lines[-1])["certainty"]
    assert certainty["low"] < certainty["expected_mean"] < certainty["high"]

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.runs.makers import (
    IDS,
    QUESTIONS,
    Lengths,
    Vowels,
    Words,
    contents,
    many,
    rows,
    start,
)

from darc.decide.method import Method
from darc.engine.score_cache import ScoreCache
from darc.errors import DarcError, InputError, MissingExtra
from darc.runs.folder import RunFolder, check_complete
from darc.runs.manifest import method_of
from darc.runs.outcomes import read_outcome
from darc.runs.questions import Question
from darc.runs.shard import ORDER
from darc.runs.summary import summarize_run
from darc.types import Candidate, Prompt

SCORES = "shards/00000/scores.jsonl"
STOP = "pandora:cost=0.3,wave=1"


def test_run_writes_every_stage_and_the_second_turn_sees_the_first(tmp_path: Path) -> None:
    folder = start(tmp_path / "run")
    assert list(rows(folder, "decisions.jsonl")) == IDS
    first = rows(folder, "decisions.jsonl")["tides"]["answer"]
    messages = rows(folder, "prompts.jsonl")["tides#2"]["messages"]
    assert [message["content"] for message in messages] == [
        "Why are there two tides?",
        first,
        "Say it shorter.",
    ]
    assert folder.manifest()["complete"] is True
    told = summarize_run(folder, method_of(folder))
    assert told["prompts"] == 5
    assert told["cost"]["generate"]["answers"] == 20
    assert told["cost"]["score"]["scores"] == 2 * (told["accepted"] + 20)
    outcome = read_outcome(folder, "bread", method_of(folder, Method.parse("mean")))
    assert outcome.prompt.category == "cooking"
    assert outcome.scores.values.shape == (2, 4, 4)
    assert outcome.answer == outcome.candidates[outcome.index].text


def test_same_run_gives_the_same_bytes_and_does_nothing_twice(tmp_path: Path) -> None:
    log = tmp_path / "log"
    scorer = Lengths()
    start(tmp_path / "one", generator=Words(log), scorers=[scorer], normalize="none")
    start(tmp_path / "two", scorers=[Lengths()], normalize="none")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    asked = len(scorer.asked)
    start(tmp_path / "one", generator=Words(log), scorers=[scorer], normalize="none")
    assert sorted(log.read_text().split()) == sorted(IDS)
    assert len(scorer.asked) == asked


def test_stages_add_up_to_at_most_the_time_that_passed(tmp_path: Path) -> None:
    begun = time.perf_counter()
    folder = start(tmp_path / "run", questions=many(12), n_aug=0)
    passed = time.perf_counter() - begun
    cost = summarize_run(folder, method_of(folder))["cost"]
    assert {"generate", "score"} <= set(cost)
    assert "rewrite" not in cost
    assert sum(stage["seconds"] for stage in cost.values()) <= passed


def test_stage_can_be_done_again_with_another_rule(tmp_path: Path) -> None:
    start(tmp_path / "run")
    before = contents(tmp_path / "run")
    with pytest.raises(InputError, match=r"its decision differs .*add --from decisions"):
        start(tmp_path / "run", rule="cvar")
    again = start(tmp_path / "run", rule="cvar", restart="decisions")
    assert {row["rule"] for row in rows(again, "decisions.jsonl").values()} == {"cvar"}
    assert contents(tmp_path / "run")[SCORES] == before[SCORES]
    start(tmp_path / "fresh", rule="cvar")
    assert contents(tmp_path / "run") == contents(tmp_path / "fresh")


def test_rule_can_use_the_side_inputs_of_the_generator(tmp_path: Path) -> None:
    folder = start(tmp_path / "run", rule="rbon:b=1000")
    assert {row["index"] for row in rows(folder, "decisions.jsonl").values()} == {0}
    with pytest.raises(MissingExtra, match=r"rule 'mbr' .similarities of answers. needs"):
        start(tmp_path / "other", rule="mbr")


def test_new_scorers_need_only_new_scores(tmp_path: Path) -> None:
    log = tmp_path / "log"
    start(tmp_path / "run", generator=Words(log))
    with pytest.raises(InputError, match=r"its scorers differs .*--from scores"):
        start(tmp_path / "run", scorers=[Vowels()], normalize="none", restart="decisions")
    start(
        tmp_path / "run",
        generator=Words(log),
        scorers=[Vowels()],
        normalize="none",
        restart="scores",
    )
    start(tmp_path / "fresh", scorers=[Vowels()], normalize="none")
    answered = log.read_text().split()
    # Another answer to the first turn makes the second turn another prompt.
    assert sorted(answered[:5]) == sorted(IDS)
    assert set(answered[5:]) <= {"tides#2"}
    assert contents(tmp_path / "run") == contents(tmp_path / "fresh")


class Static(Lengths):
    embeddings = "wordllama-256"


class Better(Lengths):
    embeddings = "all-MiniLM-L6-v2"


def test_other_embeddings_are_another_run(tmp_path: Path) -> None:
    folder = start(tmp_path / "run", scorers=[Static()], normalize="none")
    assert folder.manifest()["settings"]["scorers"][0]["embeddings"] == "wordllama-256"
    told = r'differs \(length: embeddings: "wordllama-256", not "all-MiniLM-L6-v2"\)'
    with pytest.raises(InputError, match=told):
        start(tmp_path / "run", scorers=[Better()], normalize="none")


@pytest.mark.parametrize("original", [True, False])
def test_lazy_run_chooses_the_same_and_can_be_completed(tmp_path: Path, original: bool) -> None:
    lazy_scorer = Lengths()
    full_scorer = Lengths()
    settings: dict[str, Any] = {"normalize": "none", "include_original": original}
    folder = start(tmp_path / "lazy", lazy=True, scorers=[lazy_scorer], **settings)
    full = start(tmp_path / "full", scorers=[full_scorer], **settings)
    assert len(lazy_scorer.asked) < len(full_scorer.asked)
    assert folder.manifest()["finished"] is True
    assert folder.manifest()["complete"] is False
    for prompt_id in IDS:
        one, two = (rows(each, "decisions.jsonl")[prompt_id]["index"] for each in (folder, full))
        assert one == two
        outcome = read_outcome(RunFolder(tmp_path / "lazy"), prompt_id, method_of(folder))
        assert outcome.index == one
    with pytest.raises(InputError, match=r"darc run --config .*run.toml --out .* --complete"):
        check_complete(folder)
    asked = len(lazy_scorer.asked)
    start(tmp_path / "lazy", lazy=True, scorers=[lazy_scorer], **settings)
    assert len(lazy_scorer.asked) == asked
    start(tmp_path / "lazy", scorers=[lazy_scorer], **settings)
    assert contents(tmp_path / "lazy") == contents(tmp_path / "full")
    assert len(lazy_scorer.asked) == len(full_scorer.asked)
    check_complete(RunFolder(tmp_path / "lazy"))


def test_other_rules_of_an_incomplete_run_are_refused(tmp_path: Path) -> None:
    folder = start(tmp_path / "lazy", lazy=True, n_aug=6)
    told: set[str] = set()
    for prompt_id in IDS:
        try:
            read_outcome(folder, prompt_id, method_of(folder, Method.parse("cvar:alpha=1")))
        except InputError as problem:
            told.add(problem.message.split(" ", 1)[1])
    assert told <= {"has only the scores that its own rule needed"}
    assert told


def test_kept_scores_are_not_asked_for_again(tmp_path: Path) -> None:
    with ScoreCache(tmp_path / "scores.sqlite") as cache:
        start(tmp_path / "one", scorers=[Lengths(version="1")], normalize="none", cache=cache)
        second = Lengths(version="1")
        third = Lengths(version="2")
        start(tmp_path / "two", scorers=[second], normalize="none", cache=cache)
        start(tmp_path / "three", scorers=[third], normalize="none", cache=cache)
    assert not second.asked
    assert third.asked
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.parametrize("lazy", [False, True])
def test_writing_stops_where_more_is_not_worth_it(tmp_path: Path, lazy: bool) -> None:
    scorer = Lengths()
    every = start(tmp_path / "all", scorers=[Lengths()], normalize="none", lazy=lazy)
    folder = start(tmp_path / "few", scorers=[scorer], normalize="none", lazy=lazy, stop=STOP)
    written = rows(folder, "candidates.jsonl")
    whole = rows(every, "candidates.jsonl")
    for prompt_id, row in written.items():
        few = len(row["candidates"])
        if not prompt_id.endswith("#2"):
            assert row["candidates"] == whole[prompt_id]["candidates"][:few]
        assert few + row.get("saved", 0) == 4
        flags = rows(folder, "decisions.jsonl")[prompt_id]["flags"]
        assert ("stopped_early" in flags) == ("saved" in row)
    saved = sum(row.get("saved", 0) for row in written.values())
    told = summarize_run(folder, method_of(folder))
    assert 0 < saved == told["saved"] == 20 - told["answers"]
    assert folder.manifest()["settings"]["sampling"]["stop"] == {
        "cost": 0.3, "wave": 1, "least": 2
    }  # fmt: skip
    assert len(set(scorer.asked)) == len(scorer.asked)
    stopped = next(name for name, row in written.items() if "saved" in row)
    outcome = read_outcome(folder, stopped, method_of(folder))
    assert outcome.saved == written[stopped]["saved"]
    assert "not worth their cost" in outcome.explain()
    start(tmp_path / "again", scorers=[Lengths()], normalize="none", lazy=lazy, stop=STOP, window=1)
    assert contents(tmp_path / "again") == contents(tmp_path / "few")
    with pytest.raises(InputError, match="its sampling differs"):
        start(tmp_path / "few", scorers=[Lengths()], normalize="none", lazy=lazy)


KILLED = """
import sys
from pathlib import Path
from tests.runs.makers import Lengths, Words, start
folder, mode, log = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
how = {"lazy": mode == "lazy", "stop": "pandora:cost=0.3,wave=1" if mode == "stop" else None}
scorer = Lengths(log=log, seconds=0.02)
start(folder, generator=Words(seconds=0.1), scorers=[scorer], normalize="none", **how)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
@pytest.mark.slow
@pytest.mark.parametrize(("mode", "kills"), [("full", 20), ("lazy", 8), ("stop", 8)])
def test_killed_runs_end_with_the_same_bytes(mode: str, kills: int, tmp_path: Path) -> None:
    how: dict[str, Any] = {"lazy": mode == "lazy", "stop": STOP if mode == "stop" else None}
    start(tmp_path / "alone", scorers=[Lengths()], normalize="none", **how)
    root = Path(__file__).parents[2]
    log = tmp_path / "log"
    folder = tmp_path / "killed"
    generator = np.random.default_rng(0)
    log.touch()
    for _ in range(kills):
        written = (
            set(rows(RunFolder(folder), "scores.jsonl"))
            if (folder / "manifest.json").exists()
            else set()
        )
        before = len(log.read_text().splitlines())
        process = subprocess.Popen([sys.executable, "-c", KILLED, folder, mode, log], cwd=root)
        time.sleep(float(generator.uniform(0.3, 1.0)))
        process.send_signal(signal.SIGKILL)
        process.wait()
        asked = set(log.read_text().splitlines()[before:])
        if mode == "full":
            assert not asked & written
    subprocess.run([sys.executable, "-c", KILLED, folder, mode, log], cwd=root, check=True)
    assert contents(folder) == contents(tmp_path / "alone")


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    start(tmp_path / "run")
    manifest = RunFolder(tmp_path / "run").manifest()
    code = (
        "import sys; from pathlib import Path; from darc.runs.folder import RunFolder\n"
        "folder = RunFolder(Path(sys.argv[1])); folder._lock.acquire()\n"
        "print('taken', flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "run"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "taken\n"
        with pytest.raises(InputError, match=r"another run is at work in .*; wait for it"):
            RunFolder(tmp_path / "run").open(manifest)
        # The lock of a process that died keeps nobody out.
        process.kill()
    first = RunFolder(tmp_path / "run")
    first.open(manifest)
    with pytest.raises(InputError, match="another run is at work"):
        RunFolder(tmp_path / "run").open(manifest)
    first.close()
    second = RunFolder(tmp_path / "run")
    second.open(manifest)
    second.close()


def test_other_runs_and_folders_are_refused(tmp_path: Path) -> None:
    start(tmp_path / "run")
    with pytest.raises(InputError, match="its prompts differ"):
        start(tmp_path / "run", questions=[Question("x", ("Why?",)), *QUESTIONS])
    with pytest.raises(InputError, match=r"its rewrites differs \(n_aug: 3, not 2\)"):
        start(tmp_path / "run", n_aug=2)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        start(tmp_path / "full")
    with pytest.raises(InputError, match="is not a run folder"):
        RunFolder(tmp_path / "none").manifest()
    newer = tmp_path / "run" / "manifest.json"
    newer.write_text(json.dumps({"schema": 99}))
    with pytest.raises(InputError, match="schema 99, newer than 2"):
        RunFolder(tmp_path / "run").manifest()
    folder = start(tmp_path / "again")
    with pytest.raises(InputError, match="no prompt 'x'"):
        read_outcome(folder, "x", method_of(folder))


@pytest.mark.slow
def test_a_poison_prompt_is_named_and_the_others_finish(tmp_path: Path) -> None:
    class Picky(Lengths):
        poison = True

        def score(self, pairs: Any) -> Any:
            if self.poison and any(prompt.id == "7" for prompt, _ in pairs):
                raise RuntimeError("poison")
            return super().score(pairs)

    scorer = Picky()
    options: dict[str, Any] = {"questions": many(12), "shard_size": 4, "normalize": "none"}
    with pytest.raises(DarcError, match=r"prompt '7': it failed \(poison\)"):
        start(tmp_path / "run", scorers=[scorer], **options)
    folder = RunFolder(tmp_path / "run")
    assert len(rows(folder, "decisions.jsonl")) == 16
    assert [shard.seal_data is None for shard in folder.shards()] == [False, True, False]
    scorer.poison = False
    start(tmp_path / "run", scorers=[scorer], **options)
    start(tmp_path / "alone", scorers=[Lengths()], **options)
    assert contents(tmp_path / "run") == contents(tmp_path / "alone")


def test_summary_of_a_finished_run_is_what_was_noted_of_its_rows(tmp_path: Path) -> None:
    whole = start(tmp_path / "all", shard_size=2)
    least = start(tmp_path / "least", shard_size=2, keep="decisions")
    told, noted = (summarize_run(each, method_of(each)) for each in (whole, least))
    for shard in whole.shards():
        shard.seal([*shard.rows("prompts.jsonl")])  # without notes
    again = summarize_run(whole, method_of(whole))
    assert told.pop("cost").keys() == noted.pop("cost").keys() == again.pop("cost").keys()
    assert told == noted == again
    assert told["accepted"] > 0


def test_folders_of_the_first_schema_are_read(tmp_path: Path) -> None:
    folder = start(tmp_path / "run")
    expected = {name: rows(folder, name) for name in ORDER}
    shard = tmp_path / "run" / "shards" / "00000"
    for name in (*ORDER, "timings.jsonl"):
        (shard / name).rename(tmp_path / "run" / name)
    shutil.rmtree(tmp_path / "run" / "shards")
    path = tmp_path / "run" / "manifest.json"
    known = ("input", "seed", "versions", "settings", "finished", "complete")
    data = json.loads(path.read_text())
    path.write_text(json.dumps({"schema": 1, **{key: data[key] for key in known}}))
    first = RunFolder(tmp_path / "run")
    assert {name: rows(first, name) for name in ORDER} == expected
    check_complete(first)
    assert summarize_run(first, method_of(first))["prompts"] == 5
    assert read_outcome(first, "bread", method_of(first)).prompt.category == "cooking"


class Repeats(Words):
    """Writes its first answer to every prompt three times, and its second once."""

    def _one(self, prompt: Prompt, index: int) -> Candidate:
        made = super()._one(prompt, (0, 1, 0, 0)[index])
        return replace(made, index=index, seed=index)


def test_answers_that_repeat_are_recorded_once_with_their_number(tmp_path: Path) -> None:
    scorer = Lengths()
    folder = start(tmp_path / "run", generator=Repeats(), scorers=[scorer], normalize="none")
    for row in rows(folder, "candidates.jsonl").values():
        assert [each.get("copies", 1) for each in row["candidates"]] == [3, 1]
    assert len(scorer.asked) == len(set(scorer.asked))
    assert all(row["copies"] == [3, 1] for row in rows(folder, "side.jsonl").values())
    assert all("copies:2" in row["flags"] for row in rows(folder, "decisions.jsonl").values())
    total = summarize_run(folder, method_of(folder))
    assert total["answers"] == total["cost"]["generate"]["answers"] == 20
    assert total["flags"]["copies"] == 5
    outcome = read_outcome(folder, "bread", method_of(folder))
    assert (outcome.written, [each.copies for each in outcome.candidates]) == (4, [3, 1])
    assert "copies:2" in outcome.flags
    majority = method_of(folder, Method.parse("majority"))
    assert read_outcome(folder, "bread", majority).index == 0


@pytest.mark.parametrize("stage", ["candidates", "variants", "scores", "decisions"])
def test_run_with_repeated_answers_goes_on_to_the_same_bytes(tmp_path: Path, stage: str) -> None:
    start(tmp_path / "whole", generator=Repeats())
    start(tmp_path / "parts", generator=Repeats())
    shard = RunFolder(tmp_path / "parts").shard(0)
    shard.forget(stage)
    start(tmp_path / "parts", generator=Repeats())
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_lazy_run_with_repeated_answers_is_completed_to_the_same_bytes(tmp_path: Path) -> None:
    start(tmp_path / "whole", generator=Repeats())
    lazy = start(tmp_path / "lazy", generator=Repeats(), lazy=True)
    early = {key: row["index"] for key, row in rows(lazy, "decisions.jsonl").items()}
    start(tmp_path / "lazy", generator=Repeats())
    assert contents(tmp_path / "lazy") == contents(tmp_path / "whole")
    whole = rows(RunFolder(tmp_path / "whole"), "decisions.jsonl")
    assert early == {key: row["index"] for key, row in whole.items()}


def test_run_from_before_answers_were_merged_is_read_as_it_is(tmp_path: Path) -> None:
    start(tmp_path / "run")
    shard = RunFolder(tmp_path / "run").shard(0)
    shard.forget("scores")
    path = tmp_path / "run" / "shards" / "00000" / "candidates.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["candidates"][2]["text"] = line["candidates"][0]["text"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    folder = start(tmp_path / "run")
    outcome = read_outcome(folder, "bread", method_of(folder))
    assert len(outcome.candidates) == 4
    assert not any(flag.startswith("copies") for flag in outcome.flags)

import shutil
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.runs.makers import IDS, Words, rows, start

from darc.analysis.evaluate.methods import compared_methods
from darc.analysis.report.cost_tables import latency_table, token_table
from darc.analysis.run_ratings import load_run
from darc.errors import InputError
from darc.ratings.splitting import NOBODY
from darc.runs.records import read_scores
from darc.types import Candidate, Prompt


def test_run_folder_as_a_source(tmp_path: Path) -> None:
    folder = start(tmp_path / "run")
    source = load_run(tmp_path / "run")
    assert source.prompt_ids == IDS
    assert source.shape == (5, 2, 4, 4)
    assert source.name == "run"
    assert (source.generator, source.family, source.kind) == ("words", "style", "rewrite")
    assert source.scorers == ["length", "vowels"]
    missing = np.isnan(source.samples)
    assert np.array_equal(source.raters == NOBODY, missing)
    assert (source.raters[..., 0] == 0).all()
    lengths = [[len(text) for text in own] for own in source.texts]
    assert np.array_equal(source.samples[:, 0, :, 0], lengths)
    assert np.array_equal(source.side["log_likelihood"], np.tile([-1.0, -2.0, -3.0, -4.0], (5, 1)))
    assert source.costs["generate answers"] == 20
    accepted, refused = (source.costs[f"rewrites {what}"] for what in ("accepted", "refused"))
    assert accepted == (~np.isnan(source.samples[:, 0, :, 1:])).sum()
    rejected = rows(folder, "rejected.jsonl").values()
    assert refused == sum(len(row["rejected"]) for row in rejected)
    frame = latency_table(source)
    spent = {str(row[1]): (float(str(row[2])), float(str(row[3]))) for row in frame.rows}
    assert spent["rewrite"][1] == 0
    assert spent["score"][1] < spent["score"][0]
    assert spent["generate"][0] == spent["generate"][1]
    assert "% to the time without any" in frame.note
    note = latency_table(replace(source, generator="given")).note
    assert "%" not in note
    assert "answers were given" in note
    assert list(source.bounds or ()) == [(0.0, 1000.0), (0.0, 1.0)]
    assert folder.manifest()["complete"]


def test_tokens_of_every_rule(tmp_path: Path) -> None:
    folder = start(tmp_path / "run")
    source = load_run(tmp_path / "run")
    answers = rows(folder, "candidates.jsonl")["bread"]["candidates"]
    variants = rows(folder, "variants.jsonl")["bread"]["variants"]
    generated = sum(answer["tokens"] for answer in answers)
    each = [answer["tokens"] / len(answer["text"]) for answer in answers]
    rewrites = sum(each[v["candidate"]] * len(v["text"]) for v in variants)
    only = source.subset([IDS.index("bread")], [[0, 1, 2, 3]])
    specs = compared_methods(["epsilon", "caution:reward=original", "rbon:reward=original"])
    frame = token_table(only, specs)
    assert frame.column("method") == ["mean", "epsilon", "rbon:reward=original"]
    found = {str(record["method"]): record for record in frame.records()}
    for name in ("mean", "epsilon"):
        # Rules made the rewrites, which cost no tokens; two scorers read everything.
        assert found[name]["generated"] == generated
        assert found[name]["rewritten"] == 0
        assert found[name]["scored"] == pytest.approx(2 * (generated + rewrites))
        assert found[name]["total"] == pytest.approx(3 * generated + 2 * rewrites)
    assert found["rbon:reward=original"]["scored"] == pytest.approx(2 * generated)
    assert found["rbon:reward=original"]["lazily"] is None
    lazily = found["mean"]["lazily"]
    assert isinstance(lazily, float)
    assert generated < lazily <= 3 * generated + 2 * rewrites + 1e-9


def test_rewrites_by_a_model_cost_tokens(tmp_path: Path) -> None:
    folder = start(tmp_path / "run")
    shard = folder.shard(0)
    shard.begin()
    for name in ("variants", "rejected"):
        path = shard.path / f"{name}.jsonl"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"rewriter": "rules"', '"rewriter": "llm"'), encoding="utf-8")
    folder.shard(0).seal(IDS)
    source = load_run(tmp_path / "run")
    texts = rows(folder, "variants.jsonl")["sky"]["variants"]
    texts += rows(folder, "rejected.jsonl")["sky"]["rejected"]
    answers = rows(folder, "candidates.jsonl")["sky"]["candidates"]
    for k, answer in enumerate(answers):
        length = sum(len(each["text"]) for each in texts if each["candidate"] == k)
        expected = length * answer["tokens"] / len(answer["text"])
        assert source.tokens_spent["rewritten"][IDS.index("sky"), k] == pytest.approx(expected)


def test_lazy_run_is_refused(tmp_path: Path) -> None:
    start(tmp_path / "lazy", lazy=True)
    with pytest.raises(InputError, match="--complete"):
        load_run(tmp_path / "lazy")


def test_texts_are_read_from_the_shards_when_they_are_looked_at(tmp_path: Path) -> None:
    start(tmp_path / "run", shard_size=2)
    source = load_run(tmp_path / "run")
    answers = [[text.split()[0] for text in own] for own in source.texts]
    turned = source.subset([4, 0], [[2, 1], [0, 3]])
    assert [[text.split()[0] for text in own] for own in turned.texts] == [
        [answers[4][2], answers[4][1]],
        [answers[0][0], answers[0][3]],
    ]
    assert turned.questions[0] == source.questions[4] != source.questions[0]
    assert source.texts[:2] == [source.texts[0], source.texts[1]]
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(InputError):
        list(source.texts)


def test_what_a_run_is_read_by_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start(tmp_path / "run", shard_size=2)
    seen: list[weakref.ref[object]] = []

    def noted(*given: Any) -> Any:
        scores = read_scores(*given)
        seen.append(weakref.ref(scores.values))
        return scores

    monkeypatch.setattr("darc.runs.records.read_scores", noted)
    source = load_run(tmp_path / "run")
    assert len(seen) == len(source.prompt_ids)
    assert not any(each() is not None for each in seen)


class SometimesRepeats(Words):
    """Writes its first answer twice, to some prompts only."""

    def _one(self, prompt: Prompt, index: int) -> Candidate:
        repeated = index == 3 and prompt.id in ("bread", "rain")
        made = super()._one(prompt, 0 if repeated else index)
        return replace(made, index=index)


def test_rules_of_an_evaluation_hear_of_copies(tmp_path: Path) -> None:
    start(tmp_path / "run", generator=SometimesRepeats())
    source = load_run(tmp_path / "run")
    copies = dict(zip(source.prompt_ids, source.side["copies"].tolist(), strict=True))
    assert copies["sky"] == [1, 1, 1, 1]
    assert copies["bread"][:3] == [2, 1, 1]
    assert np.isnan(copies["bread"][3])
    tokens = source.lengths[source.prompt_ids.index("bread"), :3]
    spent = source.tokens_spent["generated"][source.prompt_ids.index("bread"), :3]
    assert spent.tolist() == (tokens * [2, 1, 1]).tolist()


def test_runs_without_copies_have_no_such_side_input(tmp_path: Path) -> None:
    start(tmp_path / "run")
    assert "copies" not in load_run(tmp_path / "run").side

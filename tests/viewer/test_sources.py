import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.engine.test_panel_samples import VIEWS, graded, pool
from tests.fakes import FakeServer
from tests.runs.makers import rows, start
from tests.serve.running import QUESTION, parts, read_audit, running
from tests.viewer.makers import index_of, write_ratings

import darc
from darc.decide.method import Method
from darc.decide.standards import Standards
from darc.errors import InputError, TableError
from darc.ratings import read_ratings
from darc.ratings.decisions import decide_table
from darc.runs.new_method import NewMethod
from darc.runs.outcomes import read_outcome
from darc.viewer.index import DecisionIndex
from darc.viewer.open_source import SourceOptions, open_source
from darc.viewer.query import Query
from darc.viewer.source import DecisionView

IN_ORDER = Query(sort="file")


def views(index: DecisionIndex) -> Iterator[tuple[dict[str, Any], DecisionView]]:
    """What list and page show of each decision of the first source, in its order."""
    for entry in index.entries(IN_ORDER, limit=1000):
        row = entry["first"]
        yield row, index.sources[0].decision_view(index.details(row["number"]))


@pytest.mark.parametrize("rule", ["auto", "mean", "auto:caution=high"])
def test_ratings_are_shown_as_select_decides_them(toasts: Path, rule: str) -> None:
    method = Method.parse(rule, standards=Standards(scale=(0.0, 10.0)))
    with read_ratings(toasts) as table:
        (batch,) = decide_table(table, [method])
        expected = list(batch.decisions[0])
    with index_of(toasts, rules=[rule]) as index:
        shown = list(views(index))
    assert len(shown) == len(expected) == 12
    for (row, view), decision in zip(shown, expected, strict=True):
        opinions = decision.opinions
        assert opinions is not None
        chosen = opinions.answer(decision.index)
        assert row["chosen"] == row["system"] == decision.name
        assert row["mean"] == pytest.approx(chosen.mean)
        assert (row["unhappy"], row["ratings"]) == (chosen.unhappy, chosen.count)
        assert bool(row["differs"]) == (opinions.best_mean != decision.index)
        assert row["best_of_k"] == opinions.answer(opinions.best_mean).name
        assert view.explanation == decision.explain()
        assert view.sure == decision.sure_sentence
        assert view.picture is not None
        dots = {dot.name: dot.value for dot in view.picture.rows[0].strips[0].dots}
        assert dots == {rating.rater: rating.value for rating in chosen.ratings}
        assert view.picture.rows[0].text.startswith("A ") or "script" in view.picture.rows[0].text
        assert view.ratings_header == ["rater", "roast", "story", "poem"]
        assert len(view.ratings) == 8
    assert any(row["differs"] for row, _ in shown) == (rule != "mean")


def test_groups_with_unhappy_people_are_known(toasts: Path) -> None:
    with index_of(toasts, rules=["mean"]) as index:
        assert index.names("group") == ["old"]
        assert index.count(Query(group="old")) == 12
        assert index.names("system") == ["roast"]


def test_texts_may_stand_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    lines = ["prompt_id,candidate_id,rater_id,rating,question,response"]
    for rater in range(4):
        lines += [f"p,a,{rater},5,Why?,Because.", f"p,b,{rater},{rater},Why?,Who knows."]
    path.write_text("\n".join(lines) + "\n")
    with index_of(path) as index:
        ((row, view),) = views(index)
    assert (row["question"], row["answer"]) == ("Why?", "Because.")
    assert view.picture is not None
    assert [each.text for each in view.picture.rows] == ["Because.", "Who knows."]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_run_is_shown_as_it_was_decided(tmp_path: Path, lazy: bool) -> None:
    folder = start(tmp_path / "run", lazy=lazy, shard_size=2)
    decisions = rows(folder, "decisions.jsonl")
    with index_of(folder.path) as index:
        shown = list(views(index))
    assert [row["prompt_id"] for row, _ in shown] == list(decisions)
    for row, view in shown:
        stored = decisions[row["prompt_id"]]
        assert row["chosen"] == f"candidate {stored['index']}"
        assert view.explanation == stored["explanation"]
        assert view.picture is not None
        assert view.picture.rows[0].text == stored["answer"]
        captions = {strip.caption for strip in view.picture.rows[0].strips}
        assert len(captions) == 2
        assert view.ratings_header[0] == "wording"


def test_a_run_is_decided_again_by_another_rule(tmp_path: Path) -> None:
    folder = start(tmp_path / "run")
    with index_of(folder.path, rules=["mean"]) as index:
        shown = list(views(index))
    method = NewMethod(rule="mean").method(folder)
    for row, view in shown:
        outcome = read_outcome(folder, row["prompt_id"], method)
        assert row["chosen"] == f"candidate {outcome.index}"
        assert outcome.decision is not None
        assert view.explanation == outcome.decision.explain()
    lazy = start(tmp_path / "lazy", lazy=True)
    if not lazy.manifest()["complete"]:
        with pytest.raises(InputError, match="lazy"):
            open_source(lazy.path, SourceOptions(rule="mean"))


def test_a_run_without_scores_shows_the_answers(tmp_path: Path) -> None:
    folder = start(tmp_path / "run", keep="decisions")
    with index_of(folder.path) as index:
        shown = list(views(index))
    assert [row["answer"] for row, _ in shown]
    assert all(view.picture is None and view.explanation for _, view in shown)


def test_a_log_of_a_gateway_is_shown_as_it_was_decided(
    tmp_path: Path, openai_server: FakeServer
) -> None:
    path = tmp_path / "audit.jsonl"
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = graded(pool(2))
    grading = parts(panel=darc.Panel(mode="separate"))
    with running(openai_server, parts=grading, k=4, audit=path) as gateway:
        for seed in range(2):
            body = {"model": "mine", "messages": QUESTION, "seed": 0, "darc": {"full": seed == 0}}
            reply = httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=30)
            assert reply.status_code == 200, reply.text
    logged = read_audit(path)
    with index_of(path) as index:
        shown = list(views(index))
    assert [row["answer"] for row, _ in shown] == [row["answer"] for row in logged]
    assert [row["occurrence"] for row, _ in shown] == [0, 1]
    assert {row["system"] for row, _ in shown} == {"mine"}
    for (_, view), row in zip(shown, logged, strict=True):
        assert view.explanation == row["explanation"]
        assert view.picture is not None
        chosen = view.picture.rows[0]
        assert chosen.text == row["answer"]
        assert {dot.name for dot in chosen.strips[0].dots} == set(VIEWS)
        values = [dot.value for dot in chosen.strips[0].dots]
        assert sorted(values) == sorted(row["scores"][0][row["index"]])
        assert view.sure.startswith("How sure: ")


def test_a_report_stands_for_its_ratings(tmp_path: Path) -> None:
    ratings = write_ratings(tmp_path / "toasts.csv")
    report = tmp_path / "report"
    report.mkdir()
    (report / "report.html").write_text("<html></html>")
    with pytest.raises(InputError, match="does not say"):
        open_source(report, SourceOptions())
    (report / "sources.json").write_text(json.dumps({"sources": ["../toasts.csv"]}))
    assert open_source(report, SourceOptions()).name == "toasts"
    (report / "sources.json").write_text(json.dumps({"sources": ["../toasts.csv"] * 2}))
    with pytest.raises(InputError, match="several sources"):
        open_source(report, SourceOptions())
    ratings.unlink()
    with pytest.raises(InputError, match="is not there"):
        open_source(report, SourceOptions())


def test_what_cannot_be_shown_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no"):
        open_source(tmp_path / "nowhere", SourceOptions())
    log = tmp_path / "audit.jsonl"
    row = {
        "prompt_id": "p",
        "request_id": "r",
        "rule": "auto",
        "index": 0,
        "flags": [],
        "candidates": [{"index": 0, "value": None, "mean": 1.0, "sigma": None}],
        "answer": "yes",
    }
    log.write_text(json.dumps(row) + "\n" + json.dumps({**row, "index": 7}) + "\n")
    with pytest.raises(InputError, match="as it was decided"):
        open_source(log, SourceOptions(rule="mean"))
    with pytest.raises(TableError, match="line 2"), index_of(log):
        pass

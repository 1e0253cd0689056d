"""What the gateway counts and logs, and that dashboards and alerts ask for what there is."""

import io
import json
import logging
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from tests.fakes import FakeServer
from tests.serve.running import QUESTION, Running, parts, running

import darc
from darc.serve import metrics as metrics_module
from darc.serve.metrics import Metrics
from darc.serve.model_labels import ModelLabels
from darc.web.logs import log_as_json

DEPLOY = Path(__file__).parents[2] / "deploy"
VIEWS = ("expert", "beginner", "hurried")
# What each rater gives each answer: the first has the higher mean and one unhappy rater.
GRADES = {"Answer 0": (10, 10, 4), "Answer 1": (7, 7, 7)}
METRIC = re.compile(r"\bdarc_[a-z_]+")
# Set by Prometheus or by the histogram, not by the gateway.
FOREIGN_LABELS = {"le"}


@pytest.fixture
def log_lines() -> Iterator[io.StringIO]:
    """What is logged at the level info."""
    stream = io.StringIO()
    handlers = logging.root.handlers[:]
    level = logging.root.level
    log_as_json("info", stream)
    yield stream
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.fixture
def server(openai_server: FakeServer) -> FakeServer:
    openai_server.ignores |= {"logprobs"}

    def reply(body: dict[str, Any], index: int) -> str:
        conversation = json.dumps(body["messages"])
        for answer, grades in GRADES.items():
            if answer in conversation:
                for view, grade in zip(VIEWS, grades, strict=True):
                    if view in conversation:
                        return str(grade)
        return f"Answer {index}"

    openai_server.reply = reply
    return openai_server


def panel_parts() -> Any:
    from darc.parts.scorers.panel import Rater

    raters = tuple(Rater(name=view, view=f"You are the {view}.") for view in VIEWS)
    return parts(panel=darc.Panel(raters=raters, mode="separate"))


def chat(gateway: Running, model: str = "fake", **more: Any) -> httpx.Response:
    body = {"model": model, "messages": QUESTION, **more}
    return httpx.post(f"{gateway.url}/v1/chat/completions", json=body, timeout=20)


def samples(gateway: Running) -> dict[tuple[str, ...], float]:
    """The values by names of metrics and values of labels."""
    text = httpx.get(f"{gateway.url}/metrics").text
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_choice_is_counted_and_logged(server: FakeServer, log_lines: io.StringIO) -> None:
    with running(server, parts=panel_parts(), k=2, model="fake") as gateway:
        answer = chat(gateway, darc={"metadata": True, "full": True})
        assert answer.status_code == 200
        found = samples(gateway)
    result = answer.json()["darc"]
    people = {row["index"]: row for row in result["people"]["answers"]}
    assert (result["best_of_k"], people[0]["unhappy"], people[1]["unhappy"]) == (0, 1, 0)
    differs = float(result["index"] != 0)
    calls = answer.json()["usage"]["upstream"]["calls"]
    tokens = answer.json()["usage"]["upstream"]["tokens"]
    assert found["darc_choices_total", "fake"] == found["darc_compared_total",] == 1
    assert found["darc_other_choices_total",] == differs
    assert found["darc_raters_total", "choice"] == found["darc_raters_total", "best_of_k"] == 3
    assert found["darc_unhappy_raters_total", "best_of_k"] == 1
    assert found["darc_unhappy_raters_total", "choice"] == people[result["index"]]["unhappy"]
    assert found["darc_request_calls_sum", "fake"] == calls
    assert found["darc_request_tokens_sum", "fake"] == tokens > 0
    assert found["darc_disagreement_count",] == 1
    for stage in ("generate", "score", "total"):
        assert found["darc_stage_seconds_count", stage] == 1
    rows = [json.loads(line) for line in log_lines.getvalue().splitlines()]
    (row,) = [row for row in rows if row.get("path") == "/v1/chat/completions"]
    assert (row["model"], row["rule"], row["k"]) == ("fake", "auto", 2)
    assert (row["held"], row["other_choice"]) == (result["held"], bool(differs))
    assert (row["calls"], row["tokens"]) == (calls, tokens)
    assert (row["raters"], row["best_of_k_unhappy"]) == (3, 1)
    assert row["flags"] == result["flags"]
    assert row["disagreement"] == pytest.approx(found["darc_disagreement_sum",])
    assert set(row["stage_milliseconds"]) >= {"generate", "score", "total"}


def test_streams_and_the_playground_are_logged_too(
    server: FakeServer, log_lines: io.StringIO
) -> None:
    with running(server, keep_alive=0.05) as gateway:
        server.latency = 0.3
        chat(gateway, stream=True)
        body = {"model": "fake", "messages": QUESTION}
        httpx.post(f"{gateway.url}/v1/playground", json=body, timeout=20)
    rows = [json.loads(line) for line in log_lines.getvalue().splitlines()]
    paths = [row["path"] for row in rows if "stage_milliseconds" in row]
    assert paths == ["/v1/chat/completions", "/v1/playground"]


def test_clients_cannot_make_labels(openai_server: FakeServer) -> None:
    openai_server.models = ["listed"]
    with running(openai_server, model="mine", model_list_seconds=60.0) as gateway:
        while gateway.gateway.model_labels.label("listed") != "listed":
            assert httpx.get(f"{gateway.url}/healthz").status_code == 200
        for model in ("mine", "listed", "made-up-1", "made-up-2"):
            assert chat(gateway, model).status_code == 200
        assert chat(gateway, "made-up-3", darc={"k": 1}).status_code == 200
        found = samples(gateway)
    assert {key[1]: found[key] for key in found if key[0] == "darc_choices_total"} == {
        "mine": 1,
        "listed": 1,
        "other": 2,
    }
    assert found["darc_passed_through_total", "other"] == 1
    assert not any("made-up" in label for key in found for label in key)


def test_the_number_of_listed_models_is_bounded() -> None:
    labels = ModelLabels(["mine", ""])
    labels.add(f"model-{number}" for number in range(1000))
    assert labels.label("model-0") == "model-0"
    assert labels.label("model-999") == "other"
    assert (labels.label("mine"), labels.label("")) == ("mine", "default")


def dashboard_queries() -> list[str]:
    dashboard = json.loads((DEPLOY / "grafana.json").read_text())
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def alert_rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DEPLOY / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_files_that_come_and_go_while_they_are_read_are_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problems: list[Exception] = [struct.error("empty"), FileNotFoundError("gone")]

    def read_files() -> bytes:
        if problems:
            raise problems.pop()
        return b"# all"

    monkeypatch.setattr(metrics_module, "_text_of_all_processes", read_files)
    metrics = Metrics({})
    monkeypatch.setattr(metrics, "_is_shared", True)
    assert metrics.text() == b"# all"
    problems += [struct.error("empty")] * 9
    with pytest.raises(struct.error):
        metrics.text()


def test_dashboard_and_alerts_ask_for_metrics_that_exist(server: FakeServer) -> None:
    with running(server, parts=panel_parts(), k=2) as gateway:
        assert chat(gateway).status_code == 200
        # With a flag, since a label that was never used is not exported.
        assert chat(gateway, darc={"budget": {"calls": 0}}).status_code == 200
        families = list(text_string_to_metric_families(httpx.get(f"{gateway.url}/metrics").text))
    labels: dict[str, set[str]] = {}
    for family in families:
        for sample in family.samples:
            labels.setdefault(sample.name, set()).update(sample.labels)
    queries = [*dashboard_queries(), *(rule["expr"] for rule in alert_rules())]
    assert len(queries) > 15
    for query in queries:
        names = METRIC.findall(query)
        assert names, query
        grouped = re.findall(r"by \(([^)]*)\)", query)
        filtered = re.findall(r"([a-z]+)=~?\"", query)
        wanted = {name.strip() for group in grouped for name in group.split(",")} | set(filtered)
        for name in names:
            assert name in labels, query
            assert wanted - FOREIGN_LABELS <= labels[name] | {"le"}, query


def test_panels_of_the_dashboard_have_places_of_their_own() -> None:
    panels = json.loads((DEPLOY / "grafana.json").read_text())["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels) == len({panel["id"] for panel in panels})


def test_alerts_have_what_prometheus_needs() -> None:
    rules = alert_rules()
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+m", rule["for"])
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"].endswith(".")


def test_prometheus_accepts_the_alerts_and_queries(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    subprocess.run([promtool, "check", "rules", DEPLOY / "alerts.yaml"], check=True)
    queries = [query.replace("$__rate_interval", "5m") for query in dashboard_queries()]
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    subprocess.run([promtool, "check", "rules", path], check=True)

"""`darc mcp` in a process of its own, called by the official client over stdio."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import FakeServer
from tests.helpers import ECHO, run_command

mcp = pytest.importorskip("mcp")

from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

ROAST = [9.0, 9, 9, 9, 9, 9, 9, 2, 2, 2]
STORY = [6.0, 6, 6, 6, 7, 6, 6, 6, 6, 6]
SYSTEMS = {"kind": (4, 5, 4, 5), "rude": (2, 1, 2, 1)}


def with_server(work: Callable[[Any], Awaitable[Any]], folder: Path, *options: str) -> Any:
    """Start `darc mcp`, do some work with a client of it, and return what that returns."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "darc", "mcp", *options],
        env={**os.environ, "OPENAI_API_KEY": ""},
        cwd=folder,
    )

    async def run() -> Any:
        with (folder / "log").open("w") as log:
            async with mcp.Client(stdio_client(parameters, log)) as client:
                return await work(client)

    return asyncio.run(asyncio.wait_for(run(), 120))


def results_of(
    calls: list[tuple[str, dict[str, Any]]], folder: Path, *options: str
) -> list[dict[str, Any]]:
    """The results of some calls, one after the other, none of which fails."""

    async def work(client: Any) -> list[Any]:
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    results = with_server(work, folder, *options)
    for result in results:
        assert not result.is_error, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
    return [result.structured_content for result in results]


def errors_of(calls: list[tuple[str, dict[str, Any]]], folder: Path, *options: str) -> list[str]:
    """The errors of some calls, all of which fail."""

    async def work(client: Any) -> list[Any]:
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    results = with_server(work, folder, *options)
    assert all(result.is_error for result in results)
    errors = [result.content[0].text for result in results]
    assert not any("\n" in error or "Traceback" in error for error in errors)
    return errors


def rating_rows() -> list[dict[str, Any]]:
    """Ratings of two systems on four prompts by two people."""
    return [
        {"prompt_id": f"p{prompt}", "system": system, "rater_id": rater, "rating": rating}
        for system, ratings in SYSTEMS.items()
        for prompt, rating in enumerate(ratings)
        for rater in ("ann", "bob")
    ]


def write_ratings(path: Path) -> None:
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    lines += ["{prompt_id},{system},{rater_id},{rating}".format(**row) for row in rating_rows()]
    path.write_text("\n".join(lines) + "\n")


def test_tools_are_listed_with_typed_schemas(tmp_path: Path) -> None:
    listed = with_server(lambda client: client.list_tools(), tmp_path).tools
    tools = {tool.name: tool for tool in listed}
    assert set(tools) == {"ask", "choose", "compare", "explain"}
    for tool in listed:
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
        for field in tool.input_schema["properties"].values():
            assert field["description"]
    assert tools["ask"].input_schema["required"] == ["question"]
    assert tools["choose"].input_schema["properties"]["ratings"]["type"] == "array"


def test_ratings_decide_and_the_decision_can_be_explained(tmp_path: Path) -> None:
    ratings = {"ratings": [ROAST, STORY], "names": ["roast", "story"], "scale": "0-10"}
    choice, best_of_k, explanation = results_of(
        [
            ("choose", {**ratings, "answers": ["You old fool.", "We met in May."]}),
            ("choose", {**ratings, "rule": "mean"}),
            ("explain", {"decision_id": "decision-1"}),
        ],
        tmp_path,
    )
    assert (choice["name"], choice["index"], choice["answer"]) == ("story", 1, "We met in May.")
    assert [candidate["unhappy"] for candidate in choice["candidates"]] == [3, 0]
    assert choice["candidates"][0]["mean"] == pytest.approx(6.9)
    assert best_of_k["name"] == "roast"
    assert explanation["explanation"] == choice["explanation"]
    assert explanation["details"] != choice["explanation"]
    assert explanation["candidates"][0]["why_not"]


def test_missing_ratings_are_null_or_left_out(tmp_path: Path) -> None:
    (choice,) = results_of([("choose", {"ratings": [[5, None, 5], [3]]})], tmp_path)
    assert choice["name"] == "answer 1"
    assert [candidate["ratings"] for candidate in choice["candidates"]] == [2, 1]


def test_a_model_answers_and_is_loaded_once(tmp_path: Path, openai_server: FakeServer) -> None:
    generator = ("--generator", f"openai:fake@{openai_server.url}", "-k", "3")
    first, second, given = results_of(
        [
            ("ask", {"question": "Why are there two tides?"}),
            ("ask", {"question": "Why is the sky blue?", "rule": "mean"}),
            ("choose", {"question": "Why?", "answers": ["Because it is so.", "Because."]}),
        ],
        tmp_path,
        *generator,
        *("--scorer", "form", "--n-aug", "2"),
    )
    assert first["answer"] in [candidate["text"] for candidate in first["candidates"]]
    assert first["explanation"]
    assert second["rule"] == "mean"
    assert given["answer"] in ("Because it is so.", "Because.")
    assert second["decision_id"] != first["decision_id"]
    questions = {body["messages"][-1]["content"] for body in openai_server.bodies}
    assert questions == {"Why are there two tides?", "Why is the sky blue?"}


def test_systems_are_compared_by_data_and_by_file(tmp_path: Path) -> None:
    write_ratings(tmp_path / "ratings.csv")
    by_data, by_file = results_of(
        [("compare", {"ratings": rating_rows()}), ("compare", {"file": "ratings.csv"})],
        tmp_path,
        *("--allow-folder", "."),
    )
    assert [row["system"] for row in by_data["standings"]] == ["kind", "rude"]
    assert [row["mean"] for row in by_data["standings"]] == pytest.approx([4.5, 1.5])
    assert by_file["standings"] == by_data["standings"]


def test_a_decision_of_a_run_is_explained(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("Why is it so?\n")
    run = tmp_path / "run"
    done = run_command("run", "--prompts", prompts, "--out", run, *ECHO, "--json")
    assert done.returncode == 0, done.stderr
    decision = json.loads(next(run.rglob("decisions.jsonl")).read_text().splitlines()[0])
    prompt_id = decision["prompt_id"]
    (explanation,) = results_of(
        [("explain", {"run": "run", "prompt_id": prompt_id})],
        tmp_path,
        *("--allow-folder", str(tmp_path)),
    )
    assert explanation["index"] == decision["index"]
    assert len(explanation["candidates"]) == 3


def test_no_file_outside_the_allowed_folders_is_read(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    secret = tmp_path / "secret.csv"
    write_ratings(secret)
    write_ratings(allowed / "ratings.csv")
    (allowed / "link.csv").symlink_to(secret)
    (allowed / "beside.csv").write_text((allowed / "ratings.csv").read_text())
    (allowed / "beside.texts.jsonl").symlink_to(secret)
    run = allowed / "run"
    run.mkdir()
    (run / "manifest.json").symlink_to(secret)
    names = ["../secret.csv", str(secret), "link.csv", "beside.csv", "run", "/etc/passwd", "/no"]
    calls: list[tuple[str, dict[str, Any]]] = [("compare", {"file": name}) for name in names]
    calls.append(("explain", {"run": "run", "prompt_id": "1"}))
    for error in errors_of(calls, tmp_path, "--allow-folder", "allowed"):
        assert "outside the folders" in error
    calls = [("compare", {"file": "allowed/ratings.csv"})]
    (error,) = errors_of(calls, tmp_path)
    assert "--allow-folder" in error


def test_wrong_arguments_are_refused_in_one_sentence_that_names_them(tmp_path: Path) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("asc", {}, "did you mean 'ask'"),
        ("ask", {}, "question is missing"),
        ("ask", {"question": "Why?", "model": "x"}, "model is unknown"),
        ("choose", {}, "give answers, ratings or both"),
        ("choose", {"ratings": [[1, "x"]]}, "ratings[0][1] is 'x'"),
        ("choose", {"ratings": [[1], [2]], "names": ["a"]}, "1 names for 2 answers"),
        ("choose", {"ratings": [[1], [2]], "rule": "maen"}, "did you mean 'mean'"),
        ("choose", {"ratings": [[1], [2]], "rule": "auto:calibration=x"}, "rule is"),
        ("choose", {"ratings": [[1], [2]], "caution": "much"}, "caution is 'much'"),
        ("choose", {"ratings": [[1], [2]], "scale": "five"}, "five"),
        ("compare", {}, "give either ratings or a file"),
        ("explain", {"decision_id": "decision-9"}, "decision-9"),
        ("explain", {"run": "x"}, "go together"),
    ]
    errors = errors_of([(name, arguments) for name, arguments, _ in cases], tmp_path)
    for (_, _, expected), error in zip(cases, errors, strict=True):
        assert expected in error


def test_standard_output_carries_the_protocol_alone(tmp_path: Path) -> None:
    """A client that sends one message gets JSON lines, and everything else is in the log."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        [sys.executable, "-m", "darc", "mcp", "--log-level", "debug"],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply["id"] for reply in replies] == [1]
    assert replies[0]["result"]["serverInfo"]["name"] == "darc"
    assert "Model Context Protocol" in done.stderr


def test_a_folder_that_is_missing_is_refused_at_the_start(tmp_path: Path) -> None:
    done = run_command("mcp", "--allow-folder", tmp_path / "nowhere")
    assert done.returncode == 2
    assert "nowhere is not a folder" in done.stderr

"""The adapters in darc.integrations, each with the real library, over the fake server."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.clients.conftest import KEY
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients
# Answers to tell apart, the best of which no rule can miss.
ANSWERS = ["no", "nope", "The Moon pulls on the sea, so there are two tides a day."]
ENGINE: dict[str, Any] = {"rule": "mean", "scorers": ["form"], "n_aug": 2, "guard": False}


@pytest.fixture
def server(backend: FakeServer) -> FakeServer:
    """Says another of the answers each time it is asked."""
    turns = iter(range(1000))
    backend.reply = lambda body, index: ANSWERS[next(turns) % len(ANSWERS)]
    return backend


def test_langchain_runnable(server: FakeServer) -> None:
    openai = pytest.importorskip("langchain_openai")
    from darc.integrations.langchain import BestOfRunnable

    chat = openai.ChatOpenAI(model="fake", base_url=f"{server.url}/v1", api_key=KEY)
    chain = BestOfRunnable(chat, k=3, **ENGINE) | (lambda answer: answer)
    message = chain.invoke("Why are there two tides?")
    assert message.content == ANSWERS[2]
    assert message.response_metadata["darc"]["explanation"].startswith("candidate")
    assert len(server.received) == 3
    assert asyncio.run(chain.ainvoke([("system", "Be short."), ("user", "Why?")])).content
    assert len(server.received) == 6


def test_dspy_module(server: FakeServer) -> None:
    dspy = pytest.importorskip("dspy")
    from darc.integrations.dspy import BestOfModule

    turns = iter(range(1000))
    form = "[[ ## answer ## ]]\n{}\n\n[[ ## completed ## ]]"
    server.reply = lambda body, index: form.format(ANSWERS[next(turns) % len(ANSWERS)])
    model = dspy.LM("openai/fake", api_base=f"{server.url}/v1", api_key=KEY, cache=False)
    module = BestOfModule(dspy.Predict("question -> answer"), k=3, **ENGINE)
    with dspy.context(lm=model):
        prediction = module(question="Why are there two tides?")
        assert prediction.answer == ANSWERS[2]
        assert "candidate" in prediction.darc["explanation"]
        assert asyncio.run(module.acall(question="Why are there two tides?")).answer in ANSWERS
    assert len(server.received) == 6


def test_llm_plugin(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llm")
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    from click.testing import CliRunner
    from llm.cli import cli

    chosen = {"generator": f"openai:fake@{server.url}/v1", "k": "3", "scorer": "form"}
    options = [word for name, value in chosen.items() for word in ("-o", name, value)]
    result = CliRunner().invoke(cli, ["-m", "darc", *options, "Why are there two tides?"])
    assert result.exit_code == 0, result.output
    # Only standard output: other libraries may log while the command runs.
    assert result.stdout.strip() == ANSWERS[2]


def test_inspect_ai_solver_and_reducer(server: FakeServer, tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import get_model
    from inspect_ai.scorer import includes

    from darc.integrations.inspect_ai import best_of, entropic_value

    model = get_model("openai-api/mine/fake", base_url=f"{server.url}/v1", api_key=KEY)
    task = inspect_ai.Task(
        dataset=[Sample(input="Why are there two tides?", target="Moon")],
        solver=best_of(k=3, **ENGINE),
        scorer=includes(),
        epochs=inspect_ai.Epochs(2, entropic_value()),
    )
    # One after the other: the server gives its answers in turn, so that each time has all three.
    (log,) = inspect_ai.eval(
        task, model=model, log_dir=str(tmp_path), display="none", max_samples=1
    )
    assert log.status == "success", log.error
    assert [sample.output.completion for sample in log.samples] == [ANSWERS[2]] * 2
    (scores,) = log.results.scores
    assert scores.reducer == "darc_value"
    assert scores.metrics["accuracy"].value == pytest.approx(1.0)
    assert len(server.received) == 6

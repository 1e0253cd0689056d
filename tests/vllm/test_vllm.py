"""Real vLLM: candidates in one call, log-probabilities, and rewards behind every path."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests import checkpoints
from tests.vllm.server import serving

from darc.models.installed import Installed
from darc.models.transformers.loading import resolve
from darc.parts.generators.base import SamplingParameters
from darc.parts.scorers import HttpScorer, RewardScorer
from darc.registry import generators
from darc.train.base_model import load_base
from darc.train.recipe import TrainingRecipe
from darc.types import Message, Prompt

pytestmark = pytest.mark.vllm
QUESTION = "Why are there two tides a day?"
PROMPT = Prompt("tides", (Message("user", QUESTION),))
ANSWERS = ("The Moon pulls on the sea.", "Ask somebody else.", "Bread needs flour and salt.")


@pytest.fixture(scope="module")
def chat(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """SmolLM2 from the installed GGUF file, its weights expanded: vLLM reads GGUF by a plugin."""
    folder = tmp_path_factory.mktemp("chat")
    model, tokenizer = load_base(resolve(str(installed.path)), TrainingRecipe())
    for part in (model, tokenizer):
        part.save_pretrained(folder / "model")
    with serving(str(folder / "model"), folder / "log") as url:
        yield url


@pytest.fixture(scope="module", params=[1, 3], ids=["one class", "three classes"])
def rewards(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str, int]]:
    """A tiny random Llama with a reward head: its URL, its folder, its classes."""
    folder = tmp_path_factory.mktemp("rewards")
    # vLLM's attention on CPUs wants heads of 32 numbers at least.
    model = checkpoints.reward(folder / "model", num_labels=request.param, hidden_size=128)
    with serving(model, folder / "log", "--runner", "pooling") as url:
        yield url, model, request.param


def darc(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "darc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


def findings(url: str) -> dict[str, Any]:
    done = darc("check", url, "--json", "--timeout", "300")
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    data["by"] = {one["what"]: one["result"] for one in data["findings"]}
    return data


def test_check_says_what_a_chat_server_can_do(chat: str) -> None:
    data = findings(chat)
    assert (data["kind"], data["model"], data["options"]) == ("chat", "tiny", {})
    expected = {
        "max_tokens": "kept",
        "seed": "honoured",
        "n": "3 choices in one call",
        "logprobs": "given, with top_logprobs",
        "system role": "accepted",
        "response_format": "JSON as asked",
    }
    assert {name: data["by"][name] for name in expected} == expected
    assert data["by"]["chat template"].startswith("applied")
    assert data["by"]["tools"].startswith("refused (400)")


def test_one_call_writes_candidates_with_likelihoods(chat: str) -> None:
    generator = generators.make(f"openai:tiny@{chat}")
    settings = SamplingParameters(k=4, max_tokens=24, seed=3)
    (found,) = generator.generate([PROMPT], settings)
    assert len({one.text for one in found}) == 4
    assert all(one.log_likelihood is not None and one.log_likelihood < 0 for one in found)
    assert "n" not in generator.model.unsupported
    (again,) = generators.make(f"openai:tiny@{chat},n=false").generate([PROMPT], settings)
    assert len({one.text for one in again}) == 4


def test_ask_with_candidates_and_rewards_of_servers(
    chat: str, rewards: tuple[str, str, int]
) -> None:
    url, _, classes = rewards
    label = "" if classes == 1 else ",label=1"
    done = darc(
        *("ask", QUESTION, "--generator", f"openai:tiny@{chat}", "-k", "3", "--max-tokens", "24"),
        *("--scorer", f"http:{url}/classify{label}", "--n-aug", "1", "--json", "--no-cache"),
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["answer"]
    assert data["index"] in range(3)


@pytest.mark.parametrize("path", ["/classify", "/pooling"])
def test_rewards_are_raw_and_those_of_the_model(rewards: tuple[str, str, int], path: str) -> None:
    url, model, classes = rewards
    pairs = [(PROMPT, answer) for answer in ANSWERS]
    served = [HttpScorer(url + path, label=label).score(pairs) for label in range(classes)]
    assert len(set(np.round(served, 4).ravel())) == classes * len(pairs)
    if classes == 1:
        here = RewardScorer(model).score(pairs)
        np.testing.assert_allclose(served[0], here, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("path", ["", "/classify", "/pooling", "/score"])
def test_check_says_what_a_reward_server_can_do(rewards: tuple[str, str, int], path: str) -> None:
    url, _, classes = rewards
    if path == "/score" and classes > 1:
        pytest.skip("vLLM scores pairs of texts with one class only")
    data = findings(url + path)
    assert (data["kind"], data["url"]) == ("reward", url + (path or "/classify"))
    assert data["by"]["classes"] == str(classes)
    assert data["by"]["raw scores"] == "yes, and squeezed ones when asked"
    assert data["by"]["repeatable"].startswith("the same pair has the same")
    assert ("label" in data["options"]) == (classes > 1)

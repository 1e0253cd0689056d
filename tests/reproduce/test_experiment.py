from pathlib import Path

import pytest

from darc.decide.method import Method
from darc.errors import InputError, UnknownName
from darc.parts.scorers.reward import RewardScorer
from darc.registry import scorers
from darc.reproduce.experiment import EXPERIMENTS, Experiment, GeneratorConfig, read_experiment
from darc.settings.toml_file import read_toml
from darc.settings.validation import validate_settings

PAPER = EXPERIMENTS / "paper.toml"


def test_paper_states_the_papers_numbers() -> None:
    experiment = read_experiment("paper")
    sampling = experiment.sampling
    assert (sampling.k, sampling.temperature, sampling.top_p, sampling.max_tokens) == (
        16,
        0.8,
        0.98,
        320,
    )
    assert experiment.rewrites.n_aug == 8
    assert experiment.rewrites.families == ("style", "targeted", "hybrid")
    assert [generator.name for generator in experiment.generators] == [
        "Llama-3.1-8B-Instruct",
        "Qwen2.5-7B-Instruct",
        "Qwen2.5-14B-Instruct",
    ]
    assert len(experiment.reward_models) == 3
    assert experiment.reward_models[0].max_length == 1024
    assert experiment.dropout is not None
    assert experiment.dropout.passes == 8
    assert experiment.deal is not None
    assert experiment.deal.model_dump() == {
        "k": 8,
        "lookahead": 16,
        "g": 0.05,
        "max_tokens": 512,
        "reward_tokens": 256,
    }
    assert [policy.label_noise for policy in experiment.policies] == [0.1, 0.1]
    assert experiment.latency is not None
    assert experiment.latency.n_aug == (0, 4, 8, 16)


def test_every_rule_of_the_paper_exists() -> None:
    for method in read_experiment("paper").methods:
        Method.parse(method.rule)


def test_reward_models_are_scorers_with_the_papers_limits() -> None:
    pytest.importorskip("torch")
    scorer = scorers.make(read_experiment("paper").reward_models[0].spec)
    assert isinstance(scorer, RewardScorer)
    assert scorer.name == "RM1"
    assert scorer.max_length == 1024
    assert scorer.bounds == (-10.0, 10.0)


@pytest.mark.parametrize(
    ("model", "spec", "weights", "chat_model"),
    [
        ("Qwen/Q", "transformers:Qwen/Q", "Qwen/Q", "transformers:Qwen/Q"),
        ("openai:Q@http://localhost:8000/v1", "openai:Q@http://localhost:8000/v1", "", None),
        ("embedded", "embedded", "", "embedded"),
    ],
)
def test_generators(model: str, spec: str, weights: str, chat_model: str | None) -> None:
    generator = GeneratorConfig(name="g", model=model, benchmarks=(), scorers=())
    assert generator.spec == spec
    assert generator.weights_name == weights
    assert generator.chat_model == (chat_model or "Q@http://localhost:8000/v1")


def test_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(PAPER.read_text(encoding="utf-8") + "\n[sampling2]\nk = 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="sampling2"):
        read_experiment(str(path))


def test_unknown_experiment_and_missing_file() -> None:
    with pytest.raises(UnknownName, match="papr"):
        read_experiment("papr")
    with pytest.raises(InputError, match=r"none\.toml"):
        read_experiment("none.toml")


@pytest.mark.parametrize(
    ("section", "change", "name"),
    [
        ("human", {"generator": "GPT"}, "GPT"),
        ("latency", {"benchmark": "MMLU"}, "MMLU"),
    ],
)
def test_names_that_nothing_has_are_refused(
    section: str, change: dict[str, str], name: str
) -> None:
    data = read_toml(PAPER)
    data[section] |= change
    with pytest.raises(InputError, match=name):
        validate_settings(Experiment, data)


def test_files_are_those_beside_the_experiment(tmp_path: Path) -> None:
    text = PAPER.read_text(encoding="utf-8")
    text = text.replace("# ratings = {", "ratings = {")
    start = text.index("prompts = ")
    end = text.index("\n", start)
    text = text[:start] + 'prompts = "own.jsonl"' + text[end:]
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    (tmp_path / "own.jsonl").write_text('{"prompt": "Why?"}\n', encoding="utf-8")
    experiment = read_experiment(str(tmp_path / "own.toml"))
    assert experiment.benchmarks[0].prompts == str(tmp_path / "own.jsonl")
    assert experiment.human is not None
    assert experiment.human.ratings["Base"] == tmp_path / "ratings.csv"

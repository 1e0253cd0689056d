"""The forms of the Caution model that need torch."""

import json
from pathlib import Path

import pytest
from tests.checkpoints import pair_reward, reward

from darc.cli import main
from darc.parts.scorers import Caution
from darc.parts.scorers.caution_models import Predictor
from darc.train.examples import read_examples

pytestmark = pytest.mark.train

DATA = Path(__file__).parents[1] / "parts" / "scorers" / "discrimination.jsonl"


def test_encoder_is_trained_saved_and_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = pair_reward(tmp_path / "bert")
    out = tmp_path / "caution"
    command = ["train", "caution", "--data", str(DATA), "--out", str(out), "--json"]
    assert main([*command, "--form", "encoder", "--encoder", model, "--max-epochs", "2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["auc"]) >= {"mismatched", "truncated"}
    assert {path.suffix for path in (out / "encoder").iterdir()} <= {".json", ".safetensors"}
    pairs = read_examples(DATA)[:5]
    scores = Caution(str(out)).score(pairs)
    assert ((scores > 0) & (scores < 1)).all()
    assert len(set(scores.round(9))) == 5


def test_features_of_a_reward_model_are_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = reward(tmp_path / "reward")
    out = tmp_path / "caution.json"
    command = ["train", "caution", "--data", str(DATA), "--out", str(out), "--json"]
    assert main([*command, "--form", "features", "--target", model]) == 0
    assert json.loads(capsys.readouterr().out)["form"] == "features"
    caution = Caution(str(out))
    assert isinstance(caution.model, Predictor)
    assert len(caution.model.features) == 32
    assert len(caution.score(read_examples(DATA)[:3])) == 3
    assert caution.version

"""The Caution model on the hand-written answers, and the choices that it changes."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.parts.scorers.answers import examples
from tests.parts.scorers.embedding import embedder

import darc
from darc.cli import main
from darc.errors import InputError
from darc.parts.scorers import Caution
from darc.parts.scorers.base import sigmoid
from darc.parts.scorers.caution_models import Classifier, Predictor, read_model, write_model
from darc.train.caution import fit_classifier, fit_predictor
from darc.train.caution_report import split_examples
from darc.train.examples import divide, read_examples

DATA = Path(__file__).parents[1] / "parts" / "scorers" / "discrimination.jsonl"
SEED = 7


def silent(_: str) -> None:
    pass


@cache
def classifier() -> Classifier:
    return fit_classifier(read_examples(DATA), SEED, embedder(), silent)


@cache
def predictor() -> Predictor:
    return fit_predictor(read_examples(DATA), SEED, embedder(), tell=silent)


def test_auc_on_held_out_answers_by_kind() -> None:
    for model in (classifier(), predictor()):
        found = model.report["auc"]
        print(model.form, {kind: round(value, 3) for kind, value in found.items()})
        assert found["mismatched"] > 0.75
        assert found["truncated"] > 0.9
        assert found["all, 1:1"] > 0.65
        assert set(found) == {"mismatched", "truncated", "shuffled", "inserted", "all, 1:1"}
    assert classifier().report["auc"]["mismatched"] > 0.85
    assert classifier().report["auc"]["inserted"] > 0.55


def scorer(folder: Path, model: Classifier | Predictor) -> Caution:
    path = folder / "caution.json"
    write_model(model, path)
    return Caution(str(path), embedder())


@pytest.mark.parametrize("form", ["classifier", "features"])
def test_picks_differ_from_best_of_k_where_candidates_are_off_topic(
    tmp_path: Path, form: str
) -> None:
    model = classifier() if form == "classifier" else predictor()
    caution = scorer(tmp_path, model)
    known = {prompt.question for prompt, _ in split_examples(read_examples(DATA), SEED)[2]}
    own = [example for example in examples() if example.prompt.question in known]
    draw = np.random.default_rng(0)
    planted = {"mean": 0, "caution": 0}
    for example in own:
        strangers = [other.good for other in own if other is not example][:3]
        pairs = [(example.prompt, text) for text in (example.good, *strangers)]
        # A reward that has been fooled: the off-topic answers are rated as well as the good one.
        rewards = draw.normal(size=(4, 6)) * 0.2 + np.array([0.0, 0.1, 0.1, 0.1])[:, None]
        side = caution.score(pairs)
        assert ((side >= 0) & (side <= 1)).all()
        planted["mean"] += darc.select(rewards, "mean").index != 0
        chosen = darc.select(rewards, "caution", a=2.0, atypicality=side).index
        planted["caution"] += chosen != 0
    print(form, planted, "of", len(own))
    assert planted["mean"] >= len(own) // 2
    limit = planted["mean"] // 2 if form == "classifier" else planted["mean"] - 1
    assert planted["caution"] <= limit


def test_the_scorer_needs_no_torch_and_is_versioned(tmp_path: Path) -> None:
    import subprocess
    import sys

    write_model(classifier(), tmp_path / "caution.json")
    code = (
        "import sys, darc.parts.scorers\n"
        "from darc.registry import scorers\n"
        "from darc.types import Message, Prompt\n"
        f"made = scorers.make('caution:{tmp_path / 'caution.json'}')\n"
        "prompt = Prompt('p', (Message('user', 'Why is the sky blue?'),))\n"
        "print(made.score([(prompt, 'Because air scatters blue light.')])[0], made.version)\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 0 <= float(done.stdout.split()[0]) <= 1
    one = Caution(str(tmp_path / "caution.json"))
    assert one.version
    assert one.version in done.stdout
    assert scorer(tmp_path, predictor()).version == "", "embeddings of one's own have no version"
    assert Caution(str(tmp_path / "caution.json")).version not in ("", one.version)
    assert one.score([]).shape == (0,)


def test_models_survive_their_files(tmp_path: Path) -> None:
    for model in (classifier(), predictor()):
        write_model(model, tmp_path / "x.json")
        assert read_model(tmp_path / "x.json") == model
    for text, said in (
        ("{}", "not a model"),
        ("[", "not valid JSON"),
        ('{"schema": 9, "form": "classifier"}', "schema 9"),
        ('{"schema": 1, "form": "pickle"}', "not a model"),
    ):
        (tmp_path / "x.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            read_model(tmp_path / "x.json")
    with pytest.raises(InputError, match="darc train caution"):
        read_model(tmp_path / "absent.json")
    write_model(Classifier(["other"], [0.0], [1.0], [0.0, 0.0], 0.0), tmp_path / "x.json")
    with pytest.raises(InputError, match="other features"):
        Caution(str(tmp_path / "x.json"))


def test_data_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"prompt": "Why?"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        read_examples(path)
    path.write_text('{"prompt": "Why?", "response": "So."}\n', encoding="utf-8")
    with pytest.raises(InputError, match="fewer than 8"):
        read_examples(path)


def test_divide_keeps_prompts_together() -> None:
    pairs = [pair for pair in read_examples(DATA) for _ in range(2)]
    kept, apart = divide(pairs, 0.25, 1)
    assert len(apart) == 32
    assert not {p.question for p, _ in kept} & {p.question for p, _ in apart}


def test_the_rule_takes_the_model_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    write_model(classifier(), tmp_path / "caution.json")
    known = {prompt.question for prompt, _ in split_examples(read_examples(DATA), SEED)[2]}
    own = [example for example in examples() if example.prompt.question in known][:6]
    off_topic = {"mean": 0, "caution:a=3": 0}
    for place, example in enumerate(own):
        answers = tmp_path / "answers.json"
        texts = [example.good, *(own[place - shift].good for shift in (1, 2, 3))]
        answers.write_text(json.dumps(texts), encoding="utf-8")
        command = ["ask", example.prompt.question, "--answers", str(answers), "--json"]
        # `form` does not look at the subject, so that an answer to something else can win.
        command += ["--scorer", "form", "--n-aug", "2", "--full", "--no-guard"]
        command += ["--side", f"atypicality=caution:{tmp_path / 'caution.json'}"]
        for rule in off_topic:
            assert main([*command, "--rule", rule]) == 0
            off_topic[rule] += json.loads(capsys.readouterr().out)["index"] != 0
    assert off_topic["mean"] >= 3
    assert off_topic["caution:a=3"] <= 1


def made(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(count, 3))
    labels = (draw.random(count) < sigmoid(2.0 * rows[:, 0] - rows[:, 1] + 0.5)).astype(float)
    return rows, labels

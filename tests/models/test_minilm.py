import json
from pathlib import Path

import numpy as np
import pytest
from tests.checkpoints import tiny
from tests.conftest import MINILM

from darc.errors import InputError
from darc.models.catalogue import lookup
from darc.models.embeddings import MiniLM, states
from darc.models.installing import install
from darc.types import Message, Prompt


@pytest.mark.hf
def test_states_are_those_of_transformers() -> None:
    torch = pytest.importorskip("torch")
    model = tiny("Bert", "BertModel").model
    draw = np.random.default_rng(0)
    tokens = draw.integers(6, 90, (3, 12))
    known = np.arange(12) < np.array([[12], [7], [3]])
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    with torch.no_grad():
        expected = model(torch.tensor(tokens), torch.tensor(known.astype(int))).last_hidden_state
    found = states(weights, tokens, known, model.config.num_attention_heads)
    assert np.abs(found - expected.numpy())[known].max() < 1e-4


def test_short_name() -> None:
    assert lookup("minilm") is lookup("all-MiniLM-L6-v2")


@pytest.mark.model
def test_paraphrases_are_closer_than_other_things(tmp_path: Path) -> None:
    installed = install("minilm", cache=MINILM)
    assert installed.quantisation == "F32"
    texts = ["A cat sits on the mat.", "A feline rests on a rug.", "Stock prices fell on Monday."]
    embeddings = MiniLM(installed.path.parent)
    found = embeddings.embed([*texts, texts[0] + " " * 3])
    close = found @ found.T
    assert found.shape == (4, 384)
    assert np.allclose(np.diag(close), 1, atol=1e-5)
    assert close[0, 1] > 0.5 > 0.2 > abs(close[0, 2])
    assert close[0, 3] == pytest.approx(1, abs=1e-5)
    assert np.allclose(embeddings.embed(texts[:1]), found[:1], atol=1e-5)
    assert embeddings.embed([]).shape == (0, 384)


@pytest.mark.model
def test_heads_are_fitted_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.train.test_head import rows

    from darc.cli import main
    from darc.parts.scorers import Head

    pairs = tmp_path / "pairs.jsonl"
    head = tmp_path / "head.npz"
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    install("minilm", cache=MINILM)
    monkeypatch.setenv("DARC_CACHE", str(MINILM))
    assert main(["train", "head", str(pairs), "--out", str(head)]) == 0
    made = Head(str(head))
    assert made.preference.embedding == "all-MiniLM-L6-v2"
    prompt = Prompt("p", (Message("user", "What about tea?"),))
    kind, rude = made.score([(prompt, "I am glad to help."), (prompt, "Nobody cares, go away.")])
    assert kind > rude
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="darc models install minilm"):
        Head(str(head)).score([(prompt, "So.")])

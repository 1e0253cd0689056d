import random
from dataclasses import replace
from pathlib import Path

import pytest
from tests.checkpoints import causal, real

from darc.errors import InputError, UnknownName
from darc.models.chat_models import chat_model
from darc.models.completion import Request
from darc.models.installed import Installed
from darc.models.transformers import TransformersModel
from darc.types import Message

pytestmark = pytest.mark.hf

HELLO = (Message("user", "Hello"),)
LONG = (Message("system", "Be brief, and kind."), Message("user", "Tell me of the sea. " * 4))


def load_chat(text: str) -> TransformersModel:
    made = chat_model(f"transformers:{text}")
    assert isinstance(made, TransformersModel)
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return causal(tmp_path_factory.mktemp("causal"))


@pytest.fixture(scope="module")
def model(folder: str) -> TransformersModel:
    return load_chat(f"{folder},batch_size=5")


def requests() -> list[Request]:
    return [
        Request(messages, max_tokens=tokens, temperature=heat, seed=seed)
        for seed, (messages, tokens, heat) in enumerate(
            [(HELLO, 24, 0.8), (LONG, 12, 1.2), (HELLO, 30, 0.0), (LONG, 20, 0.8)] * 3
        )
    ]


def test_the_same_row_alone_and_in_any_batch(model: TransformersModel) -> None:
    asked = requests()
    counted: list[tuple[int, int]] = []
    together = model.complete(asked, lambda done, total: counted.append((done, total)))
    assert counted == [(5, 12), (10, 12), (12, 12)]
    shuffled = random.Random(0).sample(range(12), 12)
    again = dict(zip(shuffled, model.complete([asked[i] for i in shuffled]), strict=True))
    for place, request in enumerate(asked):
        (alone,) = model.complete([request])
        assert alone.text == together[place].text == again[place].text
        assert alone.tokens == together[place].tokens <= request.max_tokens
        assert alone.truncated == together[place].truncated
        assert alone.log_likelihood == pytest.approx(together[place].log_likelihood, abs=1e-5)
    assert len({one.text for one in together}) == 10  # the three greedy rows are one text


def test_limits_and_ends(model: TransformersModel) -> None:
    made = model.complete(
        [Request(HELLO, max_tokens=150, temperature=2.0, seed=s) for s in range(8)]
    )
    ended = [one for one in made if not one.truncated]
    assert ended
    assert all(one.tokens < 150 for one in ended)
    assert all(one.tokens == 150 for one in made if one.truncated)
    assert model.complete([]) == []


def test_stop_strings_end_the_answer(model: TransformersModel) -> None:
    base = Request(HELLO, max_tokens=30, seed=3)
    (free,) = model.complete([base])
    stop = free.text[5:7]
    (stopped,) = model.complete([replace(base, stop=[stop])])
    assert stopped.text == free.text[: free.text.index(stop)]
    assert (stopped.truncated, stopped.tokens) == (False, len(stopped.text) + 2)


def test_the_context_is_a_limit(tmp_path: Path) -> None:
    small = TransformersModel(causal(tmp_path / "small", max_position_embeddings=48))
    made = small.complete([Request(HELLO, max_tokens=100, seed=seed) for seed in range(6)])
    assert any(one.truncated for one in made)
    # The prompt takes 24 tokens.
    assert {one.tokens for one in made if one.truncated} == {48 - 24}
    with pytest.raises(InputError, match="the model takes 48"):
        small.complete([Request(LONG)])
    small.close()


def test_settings_of_the_checkpoint_do_not_sample(tmp_path: Path) -> None:
    from transformers import GenerationConfig

    plain = causal(tmp_path / "plain")
    changed = causal(tmp_path / "changed")
    GenerationConfig(
        repetition_penalty=5.0, top_k=1, do_sample=True, eos_token_id=2
    ).save_pretrained(changed)
    asked = requests()[:4]
    ours, theirs = (TransformersModel(one).complete(asked) for one in (plain, changed))
    assert [one.text for one in ours] == [one.text for one in theirs]


def test_without_a_chat_template(tmp_path: Path) -> None:
    from darc.models.transformers.batching import apply_template, prompt_ids

    bare = TransformersModel(causal(tmp_path / "bare", template=False))
    tokenizer = bare.checkpoint.loaded.tokenizer
    assert tokenizer.decode(prompt_ids(tokenizer, LONG[:1])) == "Be brief, and kind.\n\n"
    tokenizer.chat_template = "{{ raise_exception('no such role') }}"
    with pytest.raises(InputError, match="refuses the conversation: no such role"):
        apply_template(tokenizer, LONG, answered=False)


def test_options_are_read(folder: str, model: TransformersModel) -> None:
    assert (model.batch_size, model.name) == (5, f"transformers:{folder}")
    half = load_chat(f"{folder},dtype=bf16,device=cpu")
    assert str(half.checkpoint.loaded.model.dtype) == "torch.bfloat16"
    assert half.version != model.version
    assert model.version.endswith("-fp32")
    with pytest.raises(UnknownName, match="dtype"):
        load_chat(f"{folder},dtype=fp31")
    with pytest.raises(InputError, match="no device 'nowhere'"):
        load_chat(f"{folder},device=nowhere").complete([Request(HELLO)])
    for wrong in ("size=4", "batch_size=x", "batch_size=0"):
        with pytest.raises(InputError, match="size"):
            load_chat(f"{folder},{wrong}")


def test_the_embedded_model_from_its_file(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.conftest import SHARED

    monkeypatch.setenv("DARC_CACHE", str(SHARED))
    small = load_chat("embedded")
    assert small.checkpoint.source.gguf == installed.path.name
    small.checkpoint = real(str(installed.path))
    question = (Message("user", "What is the capital of France? Answer in one word."),)
    greedy, *sampled = small.complete(
        [Request(question, 16, 0.0), *(Request(question, 16, seed=s) for s in range(2))]
    )
    assert "Paris" in greedy.text
    assert not greedy.truncated
    (alone,) = small.complete([Request(question, 16, seed=1)])
    assert alone.text == sampled[1].text

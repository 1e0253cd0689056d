from pathlib import Path

import numpy as np
import pytest
from tests.checkpoints import causal, real, texts, tiny

from darc.errors import InputError
from darc.models.installed import Installed
from darc.models.transformers import TransformersModel
from darc.parts.generators import ChatGenerator, SamplingParameters
from darc.parts.scorers import LogLikelihood
from darc.parts.scorers.base import source_version
from darc.parts.scorers.loglik import SOURCES
from darc.registry import scorers
from darc.types import Message, Prompt

pytestmark = pytest.mark.hf

HELLO = Prompt("h", (Message("user", "Hello there"),))
SEA = Prompt("s", (Message("system", "Be brief."), Message("user", "Tell me of the sea.")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return causal(tmp_path_factory.mktemp("causal"))


def agreement(generator: ChatGenerator, scorer: LogLikelihood, settings: SamplingParameters) -> int:
    """Compare where encoding the text gives back its tokens; how many those were."""
    rows = generator.generate([HELLO, SEA], settings)
    tokenizer = scorer.checkpoint.loaded.tokenizer
    candidates_kept = []
    for prompt, row in zip((HELLO, SEA), rows, strict=True):
        for one in row:
            ids = tokenizer(one.text, add_special_tokens=False)["input_ids"]
            # A text of as many tokens as were sampled; special tokens leave no text.
            if one.tokens and len(ids) == one.tokens:
                candidates_kept.append((prompt, one))
    scores = scorer.score([(prompt, one.text) for prompt, one in candidates_kept])
    expected = np.array([one.log_likelihood for _, one in candidates_kept])
    print(f"{len(candidates_kept)} texts, largest difference {np.abs(scores - expected).max():.1e}")
    assert np.allclose(scores, expected, atol=1e-4)
    return len(candidates_kept)


def test_it_agrees_with_the_generator(folder: str) -> None:
    generator = ChatGenerator(TransformersModel(folder))
    settings = SamplingParameters(k=16, max_tokens=10, temperature=1.3, top_p=1.0)
    assert agreement(generator, LogLikelihood(folder, batch_size=5), settings) > 8


def test_it_agrees_on_a_real_model(installed: Installed) -> None:
    model = TransformersModel(str(installed.path))
    scorer = LogLikelihood(str(installed.path))
    model.checkpoint = scorer.checkpoint = real(str(installed.path))
    assert agreement(ChatGenerator(model), scorer, SamplingParameters(k=4, max_tokens=16)) > 2
    right, wrong = scorer.score([(SEA, "The sea is deep."), (SEA, "Deep the is sea qx.")])
    assert right > wrong + 1


def test_batches_sums_and_plain_forward_passes(folder: str) -> None:
    import torch

    scorer = scorers.make(f"loglik:{folder},batch_size=3")
    texts = ["a", "some words", "x" * 70, "Yes.", "No, never, I think."]
    pairs = [(prompt, text) for text in texts for prompt in (HELLO, SEA)]
    together = scorer.score(pairs)
    assert np.allclose(np.concatenate([scorer.score([p]) for p in pairs]), together, atol=1e-5)
    sums = scorers.make(f"loglik:{folder},sum=true").score(pairs)
    assert np.allclose(sums, together * [len(text) for _, text in pairs], atol=1e-4)
    loaded = scorer.checkpoint.loaded
    turns = [{"role": "user", "content": "Hello there"}]
    prompt = loaded.tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    ids = loaded.tokenizer(prompt + "Yes.", add_special_tokens=False, return_tensors="pt")
    with torch.no_grad():
        logs = loaded.model(**ids).logits[0].log_softmax(-1)
    expected = sum(float(logs[place - 1, ids["input_ids"][0, place]]) for place in range(-4, 0))
    assert sums[6] == pytest.approx(expected, abs=1e-4)


def test_answers_that_share_a_prompt_get_what_they_get_alone(folder: str) -> None:
    scorer = LogLikelihood(folder, max_length=256, sum=True)
    prompts = [Prompt(c, (Message("user", c * 90),)) for c in "ab"]
    texts = ["", "a", "some words", "some words", "x" * 70, "No, never, I think.", "y" * 200]
    pairs = [(prompt, text) for text in texts for prompt in prompts]
    shared = scorer.score(pairs)
    assert scorer.checkpoint.loaded.continues == {False: True}
    alone = np.concatenate([scorer.score([pair]) for pair in pairs])
    assert np.abs(shared - alone).max() < 1e-4
    assert shared[0] == scorer.bounds[0]
    assert (
        scorer.version == f"{scorer.checkpoint.version}-{source_version(*SOURCES)}-256-True-prefix"
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, f"{name}ForCausalLM") for name in ("Llama", "Qwen3", "Gemma2", "OPT", "Bloom")),
        ("Gemma3Text", "Gemma3ForCausalLM"),
        ("GPT2", "GPT2LMHeadModel"),
    ],
)
def test_architectures_share_a_prompt(name: str, kind: str) -> None:
    from darc.models.transformers.scoring import token_sums

    model = tiny(name, kind)
    prompt, *answers = texts(50, [0, 1, 20, 8, 3, 13])
    rows = [(prompt, answer[50:]) for answer in answers]
    shared = token_sums(model, rows, 300)
    assert set(model.continues.values()) == {True}
    alone = [token_sums(model, [row], 300)[0] for row in rows]
    assert np.allclose(shared, alone, rtol=0, atol=1e-4)


def test_long_texts_and_empty_ones(folder: str) -> None:
    from darc.models.transformers.scoring import fit_to_limit

    assert fit_to_limit([1, 2, 3, 4, 5, 6], [7, 8], 4) == ([5, 6], [7, 8])
    assert fit_to_limit([1, 2, 3, 4, 5, 6], [7, 8], 6) == ([3, 4, 5, 6], [7, 8])
    assert fit_to_limit([1], [7, 8, 9, 9], 4) == ([1], [7, 8, 9])
    scorer = LogLikelihood(folder, max_length=64)
    assert scorer.score([]).shape == (0,)
    cut, same, empty = scorer.score([(HELLO, "x" * 100), (HELLO, "x" * 500), (HELLO, "")])
    assert cut == pytest.approx(same)
    assert empty == scorer.bounds[0] == -20
    with pytest.raises(InputError, match="max_length=2"):
        LogLikelihood(folder, max_length=2)


def test_memory_bounds_the_batch(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from darc.models.transformers import scoring

    scorer = LogLikelihood(folder)
    pairs = [(HELLO, "some words"), (SEA, "other words here"), (HELLO, "x")]
    before = scorer.score(pairs)
    monkeypatch.setattr(scoring, "_MAX_LOGITS", 1)
    assert np.allclose(scorer.score(pairs), before, atol=1e-5)


def test_adapters_and_folders_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no model"):
        LogLikelihood(str(tmp_path))

import random
from pathlib import Path

import numpy as np
import pytest
from tests.checkpoints import pair_reward, reward

from darc.errors import InputError
from darc.parts.scorers import RewardScorer
from darc.parts.scorers.base import source_version
from darc.parts.scorers.reward import PRESETS, SOURCES
from darc.registry import scorers
from darc.types import Message, Prompt

HELLO = Prompt("h", (Message("system", "Be kind."), Message("user", "Hello there")))


def test_presets_are_hub_names() -> None:
    assert PRESETS["skywork"] == "Skywork/Skywork-Reward-Llama-3.1-8B-v0.2"
    assert all(name.count("/") == 1 for name in PRESETS.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return reward(tmp_path_factory.mktemp("reward"))


@pytest.fixture(scope="module")
def scorer(folder: str) -> RewardScorer:
    reward_scorer = scorers.make(f"transformers:{folder},batch_size=4")
    assert isinstance(reward_scorer, RewardScorer)
    return reward_scorer


def pairs() -> list[tuple[Prompt, str]]:
    dice = random.Random(0)
    texts = [
        "".join(dice.choices("abc d.", k=length)) for length in (0, 1, 3, 40, 80, 7, 200, 5, 9)
    ]
    return [(HELLO, text) for text in texts]


@pytest.mark.hf
def test_scores_do_not_depend_on_the_batch(scorer: RewardScorer) -> None:
    together = scorer.score(pairs())
    assert together.shape == (9,)
    assert len(set(together)) == 9
    assert np.allclose(scorer.score(pairs()[::-1])[::-1], together, rtol=0, atol=1e-4)
    alone = np.concatenate([scorer.score([pair]) for pair in pairs()])
    assert np.allclose(alone, together, rtol=0, atol=1e-4)
    assert scorer.score([]).shape == (0,)


@pytest.mark.hf
def test_scores_are_raw_outputs_of_the_templated_conversation(scorer: RewardScorer) -> None:
    import torch

    loaded = scorer.checkpoint.loaded
    turns = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello there"}]
    turns.append({"role": "assistant", "content": "General"})
    ids = loaded.tokenizer.apply_chat_template(turns, return_tensors="pt", return_dict=True)
    with torch.no_grad():
        expected = float(loaded.model(**ids).logits[0, 0])
        loaded.model.score.weight.mul_(100)
        (large,) = scorer.score([(HELLO, "General")])
        loaded.model.score.weight.div_(100)
    assert scorer.score([(HELLO, "General")])[0] == pytest.approx(expected, abs=1e-5)
    assert large == pytest.approx(100 * expected, rel=1e-4)
    assert abs(large) > scorer.bounds[1]


@pytest.mark.hf
def test_long_inputs_lose_their_middle(scorer: RewardScorer) -> None:
    from darc.models.transformers.scoring import cut_middle, encode_answer

    assert cut_middle(list(range(10)), 8) == [0, 1, 4, 5, 6, 7, 8, 9]
    assert cut_middle([1, 2], 8) == [1, 2]
    tokenizer = scorer.checkpoint.loaded.tokenizer
    row = encode_answer(tokenizer, HELLO.messages, "x" * 3000 + "the end", 1024)["input_ids"]
    assert len(row) == 1024
    text = tokenizer.decode(row)
    assert text.startswith("<bos><turn>system\nBe kind.")
    assert text.endswith("xxthe end<end>")
    same, other, short = scorer.score(
        [(HELLO, head + "x" * 3000 + "the end") for head in ("x" * 9, "x" * 90)]
        + [(HELLO, "x" * 30 + "the end")]
    )[[0, 1, 2]]
    assert same == pytest.approx(other, abs=1e-4)
    assert same != pytest.approx(short, abs=1e-4)


def long_pairs() -> list[tuple[Prompt, str]]:
    """Answers to two prompts, mixed; the last of each is shortened at 300 tokens."""
    dice = random.Random(1)
    prompts = [
        Prompt(name, (Message("user", name + "".join(dice.choices("abc d.", k=120))),))
        for name in ("a", "b")
    ]
    return [
        (prompt, "".join(dice.choices("xyz .", k=length)))
        for length in (0, 3, 40, 9, 0, 90, 40, 400, 500)
        for prompt in prompts
    ]


@pytest.mark.hf
@pytest.mark.parametrize("side", ["left", "right"])
def test_answers_that_share_a_prompt_get_the_scores_they_get_alone(folder: str, side: str) -> None:
    from darc.models.transformers.scoring import forward

    reward_scorer = RewardScorer(folder, max_length=300, batch_size=3)
    loaded = reward_scorer.checkpoint.loaded
    loaded.tokenizer.padding_side = side
    rows = reward_scorer._encode(loaded, long_pairs())
    plain = np.concatenate([forward(loaded, [row]) for row in rows])[:, 0]
    assert [len(row["input_ids"]) == 300 for row in rows] == [False] * 14 + [True] * 4
    assert np.abs(reward_scorer.score(long_pairs()) - plain).max() < 1e-4
    assert loaded.continues == {False: True}
    alone = np.concatenate([reward_scorer.score([pair]) for pair in long_pairs()])
    assert np.abs(alone - plain).max() < 1e-4


@pytest.mark.hf
def test_coarse_numbers_share_a_prompt_too(folder: str) -> None:
    exact, coarse = (RewardScorer(folder, dtype=dtype) for dtype in ("fp32", "bf16"))
    assert np.allclose(coarse.score(long_pairs()), exact.score(long_pairs()), atol=0.1)
    assert coarse.checkpoint.loaded.continues == {False: True}


@pytest.mark.hf
def test_options(folder: str, scorer: RewardScorer, tmp_path: Path) -> None:
    assert (scorer.bounds, scorer.location, scorer.scale) == ((-10.0, 10.0), None, None)
    reward_scorer = scorers.make(
        f"transformers:{folder},dtype=bf16,max_length=64,low=-5,high=5,location=1,scale=2"
    )
    assert (reward_scorer.bounds, reward_scorer.location, reward_scorer.scale) == (
        (-5.0, 5.0),
        1.0,
        2.0,
    )
    assert reward_scorer.version != scorer.version
    # Scores kept from passes over whole texts are not quite these.
    assert scorer.version == f"{scorer.checkpoint.version}-{source_version(*SOURCES)}-1024--prefix"
    assert np.allclose(reward_scorer.score(pairs()[:3]), scorer.score(pairs()[:3]), atol=0.1)
    names = {0: "bad", 1: "good"}
    two = reward(tmp_path / "two", num_labels=2, id2label=names, label2id={"bad": 0, "good": 1})
    with pytest.raises(InputError, match=r"2 labels; give label= one of 0 \(bad\), 1 \(good\)"):
        scorers.make(f"transformers:{two}").score(pairs())
    with pytest.raises(InputError, match="none is 'best'"):
        scorers.make(f"transformers:{two},label=best").score(pairs())
    good, first = (
        scorers.make(f"transformers:{two},label={x}").score(pairs()) for x in ("good", 1)
    )
    bad = scorers.make(f"transformers:{two},label=0").score(pairs())
    assert np.array_equal(good, first)
    assert not np.allclose(good, bad)
    with pytest.raises(InputError, match="low below high"):
        scorers.make(f"transformers:{folder},low=3,high=2")


@pytest.mark.hf
def test_pairs_without_a_template(tmp_path: Path) -> None:
    reward_scorer = RewardScorer(pair_reward(tmp_path / "pair"), batch_size=4)
    together = reward_scorer.score(pairs())
    alone = np.concatenate([reward_scorer.score([pair]) for pair in pairs()])
    assert np.allclose(alone, together, rtol=0, atol=1e-5)
    assert reward_scorer.checkpoint.loaded.context == 64
    (row,) = reward_scorer._encode(reward_scorer.checkpoint.loaded, [(HELLO, "hi")])
    assert reward_scorer.checkpoint.loaded.tokenizer.decode(row["input_ids"]) == (
        "[CLS]Hello there[SEP]hi[SEP]"
    )
    assert row["token_type_ids"] == [0] * 13 + [1] * 3

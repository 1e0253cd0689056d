import random
from typing import Any

import numpy as np
import pytest
from tests.checkpoints import DECODERS, ENCODERS, texts, tiny

from darc.models.transformers import Loaded

pytestmark = pytest.mark.hf

# One of its layers keeps a running state instead.
QWEN_NEXT = {
    "head_dim": 8,
    "layer_types": ["linear_attention", "full_attention"],
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "num_experts": 0,
    "mlp_only_layers": [0, 1],
}


def both(model: Loaded, rows: list[list[int]], most: int = 600) -> tuple[Any, Any]:
    """Scores of one group of rows, and those of a plain pass over each row alone."""
    from darc.models.transformers.scoring import forward, logits

    given = [{"input_ids": row} for row in rows]
    plain = np.concatenate([forward(model, [row]) for row in given])
    return logits(model, given, most, [0] * len(rows)), plain


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("prefix", [12, 70])
def test_decoders_read_what_rows_begin_with_once(name: str, prefix: int) -> None:
    model = tiny(name)
    rows = texts(prefix, [1, 40, 3, 25, 9, 40, 17, 2, 30, 5, 33, 21])
    shared, plain = both(model, rows)
    assert set(model.continues.values()) == {True}
    assert np.abs(shared - plain).max() < 1e-4
    assert len(set(plain[:, 0].round(6))) == len(rows)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.parametrize("name", ENCODERS)
def test_encoders_read_every_row_in_full(name: str) -> None:
    model = tiny(name)
    shared, plain = both(model, texts(70, [1, 40, 3, 25, 9, 40, 17]))
    assert model.continues == {}
    assert np.abs(shared - plain).max() < 1e-4


@pytest.mark.parametrize("name", ["Llama", "GPT2", "Gemma2"])
def test_sliding_windows_and_caches_are_tried_on_either_side(name: str) -> None:
    model = tiny(name)
    for prefix in (12, 30, 15, 16, 17):
        shared, plain = both(model, texts(prefix, [5] * 14, seed=prefix))
        assert np.abs(shared - plain).max() < 1e-4
    assert model.continues == ({False: True, True: True} if name == "Gemma2" else {False: True})


def forwarded(model: Loaded) -> list[tuple[int, int]]:
    """The shape of every input that goes through the model's layers from here on."""
    shapes: list[tuple[int, int]] = []

    def note(_: Any, args: Any, options: dict[str, Any]) -> None:
        shapes.append(tuple((args[0] if args else options["input_ids"]).shape))

    model.model.base_model.register_forward_pre_hook(note, with_kwargs=True)
    return shapes


def test_memory_and_work_are_bounded_in_tokens() -> None:
    from darc.models.transformers.scoring import logits

    model = tiny("Llama")
    rows = [{"input_ids": row} for row in texts(100, list(range(1, 51)))]
    model.continues[False] = True
    shapes = forwarded(model)
    logits(model, rows, 1000, [0] * 50)
    assert shapes[0] == (1, 100)
    assert sum(count for count, _ in shapes) == 51
    assert max(count * (100 + length) for count, length in shapes[1:]) <= 1000
    assert sum(count * length for count, length in shapes) < 100 + 50 * 30
    shapes.clear()
    logits(model, rows, 10, [0] * 50)
    assert shapes[1:] == [(1, length) for length in range(1, 51)]


def test_groups_are_apart_and_a_few_rows_go_alone() -> None:
    from darc.models.transformers.scoring import forward, logits

    model = tiny("Qwen2")
    ids = texts(45, [9, 4, 7, 2], seed=1) + texts(50, [6, 1, 8, 3], seed=2) + texts(60, [4], seed=3)
    order = random.Random(0).sample(range(9), 9)
    rows = [{"input_ids": ids[i]} for i in order]
    model.continues[False] = True
    shapes = forwarded(model)
    shared = logits(model, rows, 4096, ["abcd"[i // 4] for i in order])
    assert sorted(shapes) == [(1, 45), (1, 50), (1, 64), (4, 8), (4, 9)]
    plain = np.concatenate([forward(model, [row]) for row in rows])
    assert np.abs(shared - plain).max() < 1e-4


@pytest.mark.parametrize("rows", [texts(80, [12]), texts(80, [0] * 6), texts(80, [0, 0, 0, 9])])
def test_single_equal_and_empty_rows(rows: list[list[int]]) -> None:
    shared, plain = both(tiny("Llama"), rows)
    assert np.abs(shared - plain).max() < 1e-4


def test_padding_tokens_inside_a_text_are_no_padding() -> None:
    model = tiny("Llama")
    start = texts(60, [1, 2, 5, 9])
    rows = [[*row, 0, 0] for row in start] + [[*start[0][:60], 0, 0, 0], [*start[0][:60], 0]]
    shared, plain = both(model, rows)
    assert model.continues == {False: True}
    assert np.abs(shared - plain).max() < 1e-4
    all_padding, alone = both(model, [[0] * 70] * 4)
    assert np.abs(all_padding - alone).max() < 1e-4


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Llama", {"is_causal": False}),
        ("Gemma3Text", {"use_bidirectional_attention": True}),
        ("Qwen3Next", QWEN_NEXT),
    ],
)
def test_what_cannot_go_on_from_keys_and_values_is_found_out(
    name: str, changes: dict[str, Any]
) -> None:
    model = tiny(name, **changes)
    for seed in (0, 1):
        shared, plain = both(model, texts(40, [1, 9, 30, 5, 17, 12], seed))
        assert np.abs(shared - plain).max() < 1e-4
    assert set(model.continues.values()) == {False}


def test_a_model_in_training_shares_nothing() -> None:
    from darc.models.transformers.prefix_cache import takes_cache

    model = tiny("Llama")
    assert takes_cache(model.model)
    model.model.train()
    assert not takes_cache(model.model)
    assert not takes_cache(tiny("Bert").model)


def test_adapters_share_unless_they_put_tokens_in_front() -> None:
    from peft import LoraConfig, PromptTuningConfig, get_peft_model

    from darc.models.transformers.prefix_cache import takes_cache

    plain = tiny("Llama")
    lora = get_peft_model(plain.model, LoraConfig(task_type="SEQ_CLS", init_lora_weights=False))
    model = Loaded(lora.eval(), plain.tokenizer, plain.device, plain.context)
    shared, alone = both(model, texts(60, [3, 9, 1, 20]))
    assert model.continues == {False: True}
    assert np.abs(shared - alone).max() < 1e-4
    tokens = PromptTuningConfig(task_type="SEQ_CLS", num_virtual_tokens=4)
    assert not takes_cache(get_peft_model(tiny("Llama").model, tokens).eval())

"""Tiny random checkpoints on disk, made on the spot; one character per token."""

import random
import string
from functools import cache
from pathlib import Path
from typing import Any

from darc.models.transformers import Checkpoint, Loaded
from darc.models.transformers.loading import require_torch

SPECIAL = ["<pad>", "<bos>", "<end>", "<turn>", "[CLS]", "[SEP]"]
TEMPLATE = (
    "<bos>{% for m in messages %}<turn>{{ m['role'] }}\n{{ m['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant\n{% endif %}"
)
SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "initializer_range": 0.3,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}

# Nothing but the constants of an architecture; its sizes are those of all tiny checkpoints.
GEMMA = {"head_dim": 8, "query_pre_attn_scalar": 8}
SLIDING = {"sliding_window": 16}
DECODERS: dict[str, dict[str, Any]] = {
    "Llama": {},
    "Qwen2": {},
    "Qwen3": {"head_dim": 8},
    "Mistral": SLIDING,
    "Gemma2": {**GEMMA, **SLIDING},
    "Gemma3Text": {**GEMMA, **SLIDING},
    "Phi3": {},
    "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 512},
    "GPTNeoX": {},
    "OPT": {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "Bloom": {"n_layer": 2, "n_head": 4},
    "Falcon": {"multi_query": False},
}
ENCODERS: dict[str, dict[str, Any]] = {
    "Bert": {},
    "Roberta": {"max_position_embeddings": 514},
    "DebertaV2": {
        "relative_attention": True,
        "position_biased_input": False,
        "pos_att_type": ["p2c", "c2p"],
    },
    "ModernBert": {"local_attention": 16, "global_attn_every_n_layers": 2},
}


def tokenizer(template: bool = True, pairs: bool = False) -> Any:
    """Printable ASCII, so that whatever is sampled survives decoding and encoding."""
    require_torch("a tiny checkpoint")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = [" ", "\n", *string.ascii_letters, *string.digits, *string.punctuation]
    coded = {" ": "Ġ", "\n": "Ċ"}
    vocabulary = {text: place for place, text in enumerate(SPECIAL)}
    vocabulary |= {coded.get(c, c): place for place, c in enumerate(letters, len(SPECIAL))}
    plain = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    if pairs:
        plain.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 4), ("[SEP]", 5)],
        )
    made = PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<end>",
        model_input_names=["input_ids", *(["token_type_ids"] if pairs else []), "attention_mask"],
    )
    made.add_special_tokens({"additional_special_tokens": ["<turn>", "[CLS]", "[SEP]"]})
    if template:
        made.chat_template = TEMPLATE
    return made


def save(folder: Path, model: Any, **options: bool) -> str:
    """Write a model and its tokenizer into a folder; the folder as text."""
    model.save_pretrained(folder)
    tokenizer(**options).save_pretrained(folder)
    return str(folder)


def size() -> int:
    """How many tokens there are."""
    return len(tokenizer())


def causal(folder: Path, seed: int = 0, template: bool = True, **changes: Any) -> str:
    """A tiny Llama."""
    require_torch("a tiny checkpoint")
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    settings = LlamaConfig(vocab_size=size(), **{**SHAPE, **changes})
    return save(folder, LlamaForCausalLM(settings), template=template)


def reward(folder: Path, seed: int = 1, **changes: Any) -> str:
    """A tiny Llama with a reward head."""
    require_torch("a tiny checkpoint")
    import torch
    from transformers import LlamaConfig, LlamaForSequenceClassification

    torch.manual_seed(seed)
    settings = LlamaConfig(vocab_size=size(), **{**SHAPE, "num_labels": 1, **changes})
    return save(folder, LlamaForSequenceClassification(settings))


def pair_reward(folder: Path, **changes: Any) -> str:
    """A tiny BERT with a reward head that reads question and answer as a pair."""
    require_torch("a tiny checkpoint")
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(2)
    shape = {name: SHAPE[name] for name in list(SHAPE)[:4]}
    settings = BertConfig(
        vocab_size=size(),
        **{**shape, "max_position_embeddings": 64, "num_labels": 1, "pad_token_id": 0, **changes},
    )
    return save(folder, BertForSequenceClassification(settings), template=False, pairs=True)


def tiny(name: str, kind: str = "", **changes: Any) -> Loaded:
    """A tiny random model of any architecture in memory, a reward model unless `kind` names one."""
    require_torch("a tiny model")
    import torch
    import transformers

    torch.manual_seed(3)
    own = {**SHAPE, **DECODERS.get(name, ENCODERS.get(name, {})), "num_labels": 1, **changes}
    settings = getattr(transformers, f"{name}Config")(vocab_size=size(), **own)
    model = (
        getattr(transformers, kind or f"{name}ForSequenceClassification")
        ._from_config(settings)
        .eval()
    )
    return Loaded(model, tokenizer(), torch.device("cpu"), 512)


def texts(prefix: int, suffixes: list[int], seed: int = 0) -> list[list[int]]:
    """Rows of random tokens with a common beginning."""
    dice = random.Random(seed)
    common = dice.choices(range(6, 90), k=prefix)
    return [[*common, *dice.choices(range(6, 90), k=count)] for count in suffixes]


@cache
def real(path: str) -> Checkpoint:
    """The installed model, whose half gigabyte is loaded once for all tests."""
    return Checkpoint(path)

"""Tiny random models with a vocabulary of English words, made on the spot for a rehearsal."""

from pathlib import Path
from typing import Any

from darc.models.transformers.loading import quiet, require_torch

_SPECIAL = ("<pad>", "<bos>", "<end>", "<turn>", "[CLS]", "[SEP]", "[UNK]")
_TEMPLATE = (
    "<bos>{% for m in messages %}<turn>{{ m['role'] }} {{ m['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant {% endif %}"
)
_WORDS = (
    "a about also answer and are because begin big buy can children city cold day easy end every "
    "family fast find food for friends get go good great happy help home hot house however idea "
    "important in is it keep kind large learn life long look make many money morning most need new "
    "often old on people place plan quickly read reason road school see simple small start story "
    "the they think this time to town travel try use very walk want warm water way week well when "
    "with work world write year you young your user assistant system"
)
_SHAPE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
    "initializer_range": 0.3,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


def make_chat_model(path: Path, seed: int, family: str = "Llama") -> str:
    """Make a tiny chat model.

    Args:
        path: The folder to write.
        seed: The seed of its weights.
        family: The architecture, as transformers calls it.

    Returns:
        The folder as text. One that exists is left as it is.
    """
    return _make(path, seed, family, "ForCausalLM")


def make_reward_model(path: Path, seed: int, family: str = "Llama") -> str:
    """Make a tiny reward model, with the arguments of `make_chat_model`."""
    return _make(path, seed, family, "ForSequenceClassification", num_labels=1)


def make_encoder(path: Path, seed: int) -> str:
    """Make a tiny encoder that reads pairs of texts, with a reward head."""
    changes = {"num_labels": 1, "max_position_embeddings": 512}
    return _make(path, seed, "Bert", "ForSequenceClassification", pairs=True, **changes)


def _make(
    path: Path, seed: int, family: str, kind: str, pairs: bool = False, **changes: Any
) -> str:
    if (path / "config.json").is_file():
        return str(path)
    require_torch("a rehearsal")
    import torch
    import transformers

    tokenizer = _tokenizer(pairs)
    torch.manual_seed(seed)
    config = getattr(transformers, f"{family}Config")(
        vocab_size=len(tokenizer), **{**_SHAPE, **changes}
    )
    with quiet():
        model = getattr(transformers, f"{family}{kind}")(config)
        tokenizer.save_pretrained(path)
        model.save_pretrained(path)
    return str(path)


def _tokenizer(pairs: bool) -> Any:
    """One token per word, so that what is sampled consists of words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    words = [*_WORDS.split(), ".", ",", "?"]
    vocabulary = {text: place for place, text in enumerate((*_SPECIAL, *words))}
    plain = Tokenizer(models.WordLevel(vocab=vocabulary, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]
    )
    plain.decoder = decoders.WordPiece(prefix="##")
    inputs = ["input_ids", "attention_mask"]
    if pairs:
        inputs.insert(1, "token_type_ids")
        plain.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
        )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<end>",
        unk_token="[UNK]",
        model_input_names=inputs,
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<turn>", "[CLS]", "[SEP]"]})
    if not pairs:
        tokenizer.chat_template = _TEMPLATE
    return tokenizer

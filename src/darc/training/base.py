"""The model that is trained: plain weights with a tokenizer."""

from pathlib import Path
from typing import Any

from darc.errors import InputError, MissingExtra
from darc.models.transformers.loading import (
    CAUSAL,
    DTYPES,
    EMBEDDED,
    Source,
    load,
    need,
    quiet,
    readable,
    resolve,
)
from darc.training.presets import Recipe


def need_training(purpose: str) -> None:
    """Import torch; raise `MissingExtra` unless everything of the extra `train` is there."""
    import importlib.util

    for name in ("torch", "transformers", "peft", "trl", "datasets"):
        if importlib.util.find_spec(name) is None:
            raise MissingExtra(purpose, "train")
    need(purpose)


def source_of(model: str) -> Source:
    """Where the weights are; an adapter cannot be trained on."""
    if not model:
        raise InputError("there is no model to train", "name one: --model MODEL")
    source = resolve(model)
    if source.adapter:
        raise InputError(f"{model} is an adapter", "name the model below it")
    return source


def base_name(source: Source) -> str:
    """What an adapter's configuration calls its base, so that it is found from anywhere."""
    if source.text == EMBEDDED:
        return EMBEDDED
    if source.gguf:
        return str((Path(source.weights) / source.gguf).resolve())
    return str(Path(source.weights).resolve()) if source.local else source.weights


def load_base(source: Source, recipe: Recipe, expanded: Path) -> tuple[Any, Any]:
    """The model and its tokenizer.

    Weights from a GGUF file carry the mark of a quantised model, on which no trainer works: they
    are expanded, cleared of it, written to the folder `expanded` and read from there.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if recipe.quantised:
        return _quantised(source)
    place = source.weights
    if source.gguf:
        expand(source, recipe.dtype, expanded)
        place = str(expanded)
    with quiet(), readable(source.text):
        tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            place, dtype=getattr(torch, DTYPES[recipe.dtype]), trust_remote_code=False
        )
    return model, _padded(tokenizer)


def expand(source: Source, dtype: str, folder: Path) -> None:
    """Write a GGUF file's weights to a folder as an ordinary model, unless that is done already."""
    done = folder / "complete"
    if done.is_file():
        return
    loaded = load(source, CAUSAL, dtype, "cpu")
    model = loaded.model
    for name in ("hf_quantizer", "quantization_method"):
        if hasattr(model, name):
            setattr(model, name, None)
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    with quiet():
        model.save_pretrained(folder)
        loaded.tokenizer.save_pretrained(folder)
    done.touch()


def _quantised(source: Source) -> tuple[Any, Any]:
    """4-bit NF4 weights with double quantisation, computed with in bf16."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    if source.gguf:
        raise InputError("weights of a GGUF file cannot be quantised again", "use the original")
    settings = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    with quiet(), readable(source.text):
        tokenizer = AutoTokenizer.from_pretrained(source.weights, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            source.weights,
            quantization_config=settings,
            dtype=torch.bfloat16,
            device_map={"": 0},
            trust_remote_code=False,
        )
    return model, _padded(tokenizer)


def _padded(tokenizer: Any) -> Any:
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer

"""The model that a training run starts from."""

from pathlib import Path
from typing import Any

from darc.errors import InputError
from darc.models.transformers import loading
from darc.models.transformers.loading import ModelSource
from darc.train.recipe import TrainingRecipe


def base_name(source: ModelSource) -> str:
    """What an adapter's configuration calls its base, so that it is found from anywhere."""
    if source.text == loading.EMBEDDED:
        return loading.EMBEDDED
    path = Path(source.weights, source.gguf)
    if source.gguf or path.is_dir():
        return str(path.resolve())
    return source.weights


def load_base(source: ModelSource, recipe: TrainingRecipe) -> tuple[Any, Any]:
    """Load the model that is trained.

    Args:
        source: Where the weights are.
        recipe: How to train.

    Returns:
        The model and its tokenizer.

    Raises:
        InputError: The model cannot be loaded, or not in that precision.
    """
    if recipe.quantised:
        return _load_quantised(source)
    loaded = loading.load(source, loading.CAUSAL, recipe.dtype, "cpu")
    if source.gguf:
        _clear_quantisation(loaded.model)
    return loaded.model, loaded.tokenizer


def _clear_quantisation(model: Any) -> None:
    """Remove the mark of a quantised model, on which no trainer works.

    Weights from a GGUF file carry it, although they were expanded.
    """
    model.hf_quantizer = None
    model.quantization_method = None
    model.is_quantized = False
    vars(model.config).pop("quantization_config", None)


def _load_quantised(source: ModelSource) -> tuple[Any, Any]:
    """The model with weights in NF4, computed with in bf16, on the first GPU."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    if source.gguf:
        raise InputError("weights of a GGUF file cannot be quantised again", "use the original")
    quantisation = BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )
    with loading.quiet(), loading.translate_errors(source.text):
        tokenizer = AutoTokenizer.from_pretrained(source.weights, trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            source.weights,
            quantization_config=quantisation,
            dtype=torch.bfloat16,
            device_map={"": 0},
            trust_remote_code=False,
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model, tokenizer

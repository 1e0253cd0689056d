"""The model that is trained, and whether this machine can do it."""

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darc.errors import DarcError, InputError, MissingExtra
from darc.models.transformers.loading import (
    CAUSAL,
    DTYPES,
    EMBEDDED,
    ModelSource,
    import_torch,
    load,
    need,
    quiet,
    readable,
    resolve,
)
from darc.training.recipe import TrainingRecipe

# Working memory beside the weights: the runtime, activations, adapters and their optimizer.
OVERHEAD = 1_200_000_000
NF4_BYTES = 0.56
BYTES = {"fp32": 4.0, "bf16": 2.0}
GIGA = 1e9


def need_training(purpose: str) -> None:
    """Import torch; raise `MissingExtra` unless everything of the extra `train` is there."""
    for name in ("torch", "transformers", "peft", "trl", "datasets"):
        if importlib.util.find_spec(name) is None:
            raise MissingExtra(purpose, "train")
    need(purpose)


def source_of(model: str) -> ModelSource:
    """Where the weights are; an adapter cannot be trained on."""
    if not model:
        raise InputError("there is no model to train", "name one: --model MODEL")
    source = resolve(model)
    if source.adapter:
        raise InputError(f"{model} is an adapter", "name the model below it")
    return source


def base_name(source: ModelSource) -> str:
    """What an adapter's configuration calls its base, so that it is found from anywhere."""
    if source.text == EMBEDDED:
        return EMBEDDED
    if source.gguf:
        return str((Path(source.weights) / source.gguf).resolve())
    return str(Path(source.weights).resolve()) if source.local else source.weights


def load_base(source: ModelSource, recipe: TrainingRecipe, expanded: Path) -> tuple[Any, Any]:
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


def expand(source: ModelSource, dtype: str, folder: Path) -> None:
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


def _quantised(source: ModelSource) -> tuple[Any, Any]:
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


@dataclass(frozen=True)
class Machine:
    """Free bytes of the largest GPU (None without one) and of memory, and what is installed."""

    gpu: int | None
    memory: int | None
    bitsandbytes: bool


def this_machine() -> Machine:
    """What is here."""
    import_torch()
    import torch

    gpu = None
    if torch.cuda.is_available():
        gpu = max(torch.cuda.mem_get_info(place)[0] for place in range(torch.cuda.device_count()))
    return Machine(gpu, _available(), importlib.util.find_spec("bitsandbytes") is not None)


def check_machine(recipe: TrainingRecipe, parameters: int | None, machine: Machine) -> None:
    """Raise a `DarcError` that names what is missing; `parameters` is None where unknown."""
    if recipe.quantised:
        if machine.gpu is None:
            raise DarcError(
                "training on 4-bit weights (QLoRA, NF4) needs a CUDA GPU, and there is none here",
                "use --preset cpu-small, or a machine with a GPU",
            )
        if not machine.bitsandbytes:
            raise DarcError(
                "training on 4-bit weights needs bitsandbytes, which is not installed",
                "install it with: pip install bitsandbytes",
            )
    if parameters is None:
        return
    size = NF4_BYTES if recipe.quantised else BYTES[recipe.dtype]
    needed = parameters * size + OVERHEAD
    free = machine.memory if machine.gpu is None else machine.gpu
    if free is not None and needed > free:
        place = "memory" if machine.gpu is None else "GPU memory"
        raise DarcError(
            f"a model of {parameters / 1e6:.0f} million parameters needs about "
            f"{needed / GIGA:.1f} GB of {place}, and {free / GIGA:.1f} GB are free",
            "choose a smaller model" + ("" if recipe.quantised else " or --dtype bf16"),
        )


def count_parameters(source: ModelSource) -> int | None:
    """How many numbers a model has, read from its files' headers; None for one on the hub."""
    folder = Path(source.weights)
    if source.gguf:
        from gguf import GGUFReader

        return sum(int(tensor.n_elements) for tensor in GGUFReader(folder / source.gguf).tensors)
    files = sorted(folder.glob("*.safetensors")) if folder.is_dir() else []
    if not files:
        return None
    from safetensors import safe_open

    total = 0
    for path in files:
        with safe_open(path, framework="np") as opened:
            for name in opened.keys():  # noqa: SIM118 - no dictionary
                size = 1
                for length in opened.get_slice(name).get_shape():
                    size *= length
                total += size
    return total


def _available() -> int | None:
    """Bytes of memory that can be had without swapping; None where that is not told."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return int(os.sysconf("SC_AVPHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError, AttributeError):
        return None

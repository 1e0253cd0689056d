"""Whether a model can be trained on this machine."""

import importlib.util
import math
from dataclasses import dataclass
from pathlib import Path

from darc.errors import DarcError, InputError
from darc.models.transformers import loading
from darc.models.transformers.loading import ModelSource
from darc.train.recipe import TrainingRecipe

# Working memory beside the weights: the runtime, activations, adapters and their optimizer.
_OVERHEAD_BYTES = 1_200_000_000
_NF4_BYTES = 0.56
_BYTES_PER_PARAMETER = {"fp32": 4.0, "bf16": 2.0}
_GIGABYTE = 1e9


@dataclass(frozen=True)
class Machine:
    """What a machine has."""

    #: Free bytes of the largest GPU; None without one.
    gpu: int | None
    #: Free bytes of memory.
    memory: int
    #: Whether bitsandbytes is installed.
    bitsandbytes: bool


def check_training(recipe: TrainingRecipe) -> ModelSource:
    """Check that a model can be trained here, reading nothing but the headers of its files.

    Args:
        recipe: How to train.

    Returns:
        Where the weights are.

    Raises:
        MissingExtra: torch, peft, TRL or datasets is not installed.
        InputError: The recipe names no model that can be trained.
        DarcError: The machine is too small.
    """
    loading.require_torch("training", "peft", "trl", "datasets", extra="train")
    if not recipe.model:
        raise InputError("there is no model to train", "name one: --base-model MODEL")
    machine = _inspect_machine()
    # A missing GPU is reported before the model is looked for.
    check_machine(recipe, None, machine)
    source = loading.resolve(recipe.model)
    if source.adapter:
        raise InputError(f"{recipe.model} is an adapter", "name the model below it")
    check_machine(recipe, count_parameters(source), machine)
    return source


def _inspect_machine() -> Machine:
    import psutil
    import torch

    free_bytes = [torch.cuda.mem_get_info(place)[0] for place in range(torch.cuda.device_count())]
    return Machine(
        gpu=max(free_bytes, default=None),
        memory=psutil.virtual_memory().available,
        bitsandbytes=importlib.util.find_spec("bitsandbytes") is not None,
    )


def check_machine(recipe: TrainingRecipe, parameters: int | None, machine: Machine) -> None:
    """Check that a machine can train a model.

    Args:
        recipe: How to train.
        parameters: How many numbers the model has; None if that is not known.
        machine: The machine.

    Raises:
        DarcError: Something is missing, which the message names.
    """
    if recipe.quantised and machine.gpu is None:
        raise DarcError(
            "training on 4-bit weights (QLoRA, NF4) needs a CUDA GPU, and there is none here",
            "use --preset cpu-small, or a machine with a GPU",
        )
    if recipe.quantised and not machine.bitsandbytes:
        raise DarcError(
            "training on 4-bit weights needs bitsandbytes, which is not installed",
            "install it with: pip install bitsandbytes",
        )
    if parameters is not None:
        _check_memory(recipe, parameters, machine)


def _check_memory(recipe: TrainingRecipe, parameters: int, machine: Machine) -> None:
    if recipe.quantised:
        bytes_per_parameter = _NF4_BYTES
        hint = "choose a smaller model"
    else:
        bytes_per_parameter = _BYTES_PER_PARAMETER[recipe.dtype]
        hint = "choose a smaller model or --dtype bf16"
    if machine.gpu is None:
        free = machine.memory
        place = "memory"
    else:
        free = machine.gpu
        place = "GPU memory"
    needed = parameters * bytes_per_parameter + _OVERHEAD_BYTES
    if needed > free:
        raise DarcError(
            f"a model of {parameters / 1e6:.0f} million parameters needs about "
            f"{needed / _GIGABYTE:.1f} GB of {place}, and {free / _GIGABYTE:.1f} GB are free",
            hint,
        )


def count_parameters(source: ModelSource) -> int | None:
    """Count the numbers of a model, from the headers of its files.

    Args:
        source: Where the weights are.

    Returns:
        How many there are; None for a model on the hub.
    """
    folder = Path(source.weights)
    if source.gguf:
        from gguf import GGUFReader

        return sum(int(tensor.n_elements) for tensor in GGUFReader(folder / source.gguf).tensors)
    total = 0
    for path in folder.glob("*.safetensors"):
        from safetensors import safe_open

        with safe_open(path, framework="np") as tensors:
            for name in tensors.keys():  # noqa: SIM118 - it is not a dictionary
                total += math.prod(tensors.get_slice(name).get_shape())
    return total or None

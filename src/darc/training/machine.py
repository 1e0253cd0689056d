"""Whether this machine can train what is asked for, said before anything is loaded."""

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from darc.errors import DarcError
from darc.models.transformers.loading import Source, import_torch
from darc.training.presets import Recipe

# Working memory beside the weights: the runtime, activations, adapters and their optimizer.
OVERHEAD = 1_200_000_000
NF4_BYTES = 0.56
BYTES = {"fp32": 4.0, "bf16": 2.0}
GIGA = 1e9


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


def check_machine(recipe: Recipe, parameters: int | None, machine: Machine) -> None:
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


def count_parameters(source: Source) -> int | None:
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

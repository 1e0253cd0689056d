"""How to train: every number by name, and the named sets of them."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from darc.errors import InputError, UnknownName


@dataclass(frozen=True)
class Recipe:
    """The settings of a training run.

    `quantised` loads the weights as 4-bit NF4 with double quantisation; `dtype` is what is computed
    in (bf16 or fp32). LoRA has rank `rank`, scale `alpha` and `dropout`. A step sees `batch` times
    `accumulation` pairs; `steps`, if not 0, ends the training before its `epochs` do. A prompt
    loses its beginning beyond `prompt_tokens`, an answer its end beyond `response_tokens`.
    A checkpoint is written and the held-out margin measured every `every` steps.
    """

    model: str = ""
    quantised: bool = False
    dtype: str = "fp32"
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    beta: float = 0.1
    learning_rate: float = 1e-5
    batch: int = 1
    accumulation: int = 16
    epochs: float = 5.0
    steps: int = 0
    prompt_tokens: int = 512
    response_tokens: int = 512
    every: int = 50
    seed: int = 7

    def __post_init__(self) -> None:
        for name in ("rank", "alpha", "batch", "accumulation", "every"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}", "give at least 1")
        for name in ("beta", "learning_rate", "epochs"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name):g}", "give more than 0")
        if min(self.prompt_tokens, self.response_tokens) < 1 or self.steps < 0:
            raise InputError("a limit of tokens or steps is negative", "give 1 or more")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout is {self.dropout:g}", "give 0 or more, below 1")
        if self.dtype not in ("fp32", "bf16"):
            raise UnknownName("dtype", self.dtype, ("fp32", "bf16"))

    def changed(self, **changes: Any) -> "Recipe":
        """The recipe with what is not None changed."""
        return replace(self, **{k: v for k, v in changes.items() if v is not None})

    def plain(self) -> dict[str, Any]:
        """The settings by name, for files."""
        return asdict(self)


NAMES = tuple(field.name for field in fields(Recipe))

PRESETS = {
    "paper": Recipe(model="meta-llama/Llama-3.1-8B-Instruct", quantised=True, dtype="bf16"),
    "cpu-small": Recipe(
        model="embedded",
        rank=8,
        alpha=16,
        learning_rate=1e-4,
        accumulation=4,
        epochs=1.0,
        prompt_tokens=128,
        response_tokens=128,
        every=5,
    ),
}

# The paper names its base model, but no preference data.
DATA = {
    "paper": "preference pairs of yours (--data): the paper does not name its own",
    "cpu-small": "preference pairs of yours (--data)",
}


def preset(name: str) -> Recipe:
    """The recipe of this name; raises `UnknownName` with the nearest one."""
    if name not in PRESETS:
        raise UnknownName("preset", name, PRESETS)
    return PRESETS[name]

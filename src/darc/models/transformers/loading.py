"""Models and tokenizers from the hub, from folders, from GGUF files, with adapters."""

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from darc.errors import InputError, UnknownName
from darc.models.transformers.libraries import need, quiet, readable
from darc.models.transformers.source import Source, resolve
from darc.models.transformers.version import fingerprint

CAUSAL = "AutoModelForCausalLM"
SEQUENCE = "AutoModelForSequenceClassification"
TOKENS = "AutoModelForTokenClassification"
DTYPES = {"fp32": "float32", "bf16": "bfloat16"}

# The library keeps state of its own while it loads: two threads at once leave it broken.
LOADING = threading.Lock()


@dataclass(frozen=True)
class Loaded:
    """A model in evaluation mode with its tokenizer; `context` is its longest input, if known.

    `continues` says whether the model goes on from a cache to the same numbers, within and beyond
    (True) its sliding windows, as far as that was tried.
    """

    model: Any
    tokenizer: Any
    device: Any
    context: int | None
    continues: dict[bool, bool] = field(default_factory=dict, compare=False)


class Checkpoint:
    """A model that is loaded at the first use.

    `kind` is the transformers class that reads it, `dtype` fp32, bf16 or auto (bf16 on a GPU,
    fp32 otherwise), `device` a torch device or auto (a GPU if there is one). Remote code is never
    run.
    """

    def __init__(
        self,
        text: str,
        kind: str = CAUSAL,
        *,
        base: str = "",
        dtype: str = "auto",
        device: str = "auto",
    ) -> None:
        self.source = resolve(text, base)
        need(f"the model {text}", *(["gguf"] if self.source.gguf else []))
        if self.source.adapter:
            need(f"the adapter {text}", "peft")
        if dtype not in {*DTYPES, "auto"}:
            raise UnknownName("dtype", dtype, [*DTYPES, "auto"])
        self.kind = kind
        self.dtype = dtype
        self.device = device
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @cached_property
    def version(self) -> str:
        """A hash of the weights and the number format; empty where it cannot be known."""
        weights = fingerprint(self.source)
        return f"{weights}-{_dtype(self.dtype, _device(self.device))}" if weights else ""

    @property
    def loaded(self) -> Loaded:
        """The model, loaded now if it was not before."""
        with self._lock:
            if self._loaded is None:
                self._loaded = load(self.source, self.kind, self.dtype, self.device)
            return self._loaded

    def close(self) -> None:
        """Free the model's memory; the next use loads it again."""
        with self._lock:
            self._loaded = None


def load(source: Source, kind: str, dtype: str = "auto", device: str = "auto") -> Loaded:
    """The model and its tokenizer; raises `InputError` that names what cannot be loaded."""
    import torch
    import transformers

    place = _device(device)
    gguf = {"gguf_file": source.gguf} if source.gguf else {}
    with LOADING, quiet(), readable(source.text):
        tokenizer = _tokenizer(source, gguf)
        model, report = getattr(transformers, kind).from_pretrained(
            source.weights,
            dtype=getattr(torch, DTYPES[_dtype(dtype, place)]),
            trust_remote_code=False,
            weights_only=True,
            output_loading_info=True,
            **gguf,
        )
        if source.adapter:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, source.adapter)
        elif report["missing_keys"]:
            missing = ", ".join(sorted(report["missing_keys"])[:3])
            raise InputError(
                f"{source.text} has no weights for {missing}", f"give a model for {kind}"
            )
    model = model.to(place).eval()
    mend_padding(model, tokenizer)
    return Loaded(model, tokenizer, place, longest_input(model, tokenizer))


def longest_input(model: Any, tokenizer: Any) -> int | None:
    """How many tokens a model takes, None where nothing limits them."""
    limit = getattr(model.config, "max_position_embeddings", None)
    # Relative positions have no end, whatever the configuration says.
    if getattr(model.config, "position_biased_input", True) is False:
        limit = None
    if tokenizer.model_max_length < 10**9:
        limit = min(limit or tokenizer.model_max_length, tokenizer.model_max_length)
    return limit


def _device(text: str) -> Any:
    import torch

    if text == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.device(text)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError):
        raise InputError(f"there is no device {text!r} here", "such as device=cpu") from None
    return place


def _dtype(text: str, place: Any) -> str:
    if text != "auto":
        return text
    return "fp32" if place.type == "cpu" else "bf16"


def _tokenizer(source: Source, gguf: dict[str, str]) -> Any:
    """The adapter's own tokenizer where it has one, else the base model's."""
    from transformers import AutoTokenizer

    if source.adapter:
        try:
            return AutoTokenizer.from_pretrained(source.adapter, trust_remote_code=False)
        except (OSError, ValueError, KeyError):
            pass
    return AutoTokenizer.from_pretrained(source.weights, trust_remote_code=False, **gguf)


def mend_padding(model: Any, tokenizer: Any) -> None:
    """Give model and tokenizer one padding token: the model's, the tokenizer's or an end token."""
    pad = model.config.pad_token_id
    if pad is None:
        pad = tokenizer.pad_token_id
    if pad is None:
        pad = tokenizer.eos_token_id
    model.config.pad_token_id = 0 if pad is None else pad
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(model.config.pad_token_id)

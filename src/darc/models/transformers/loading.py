"""Models and tokenizers from the hub, from folders, from GGUF files, with adapters."""

import importlib.util
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from darc.errors import DarcError, InputError, MissingExtra, UnknownName
from darc.files import read_json
from darc.models.installed import files_hash, import_asleep, require

EMBEDDED = "embedded"
ADAPTER = "adapter_config.json"
KINDS = (".safetensors", ".bin", ".gguf", ".json", ".model", ".jinja", ".txt")
CAUSAL = "AutoModelForCausalLM"
SEQUENCE = "AutoModelForSequenceClassification"
TOKENS = "AutoModelForTokenClassification"
DTYPES = {"fp32": "float32", "bf16": "bfloat16"}

_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?\Z", re.ASCII)
# The library keeps state of its own while it loads: two threads at once leave it broken.
LOADING = threading.Lock()


def need(purpose: str, *more: str, extra: str = "hf") -> None:
    """Import torch; raise `MissingExtra` unless transformers and what is named are there too."""
    for name in ("torch", "transformers", *more):
        if importlib.util.find_spec(name) is None:
            raise MissingExtra(purpose, extra)
    import_asleep("torch")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from drawing progress bars and logging less than errors meanwhile."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def readable(text: str) -> Iterator[None]:
    """Turn what the libraries raise for missing or broken files into one `InputError`."""
    try:
        yield
    except DarcError:
        raise
    except Exception as problem:  # each file format has errors of its own
        said = str(problem).strip().splitlines()
        raise InputError(
            f"{text} cannot be loaded as a model: {said[0] if said else type(problem).__name__}",
            "check the name, the files and the network",
        ) from problem


@dataclass(frozen=True)
class ModelSource:
    """Weights on the hub or on disk.

    `text` is what the user wrote; `weights` a name on the hub or a folder; `gguf` the file to be
    read in that folder, empty for the ordinary format; `adapter` a folder or a hub name whose
    low-rank weights go on top, empty where there are none.
    """

    text: str
    weights: str
    gguf: str = ""
    adapter: str = ""


def resolve(text: str, base: str = "") -> ModelSource:
    """The source that a hub name, a folder, a GGUF file or "embedded" stands for.

    A folder with adapter_config.json is an adapter, whose base model is `base` or else the one
    named in that file. Looks at the disk alone; whether a hub name exists shows on loading.
    """
    path = require().path if text == EMBEDDED else Path(text).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise InputError(f"there is no model file {text}", "check the path")
        return ModelSource(text, str(path.parent), gguf=path.name)
    place = text
    if path.is_dir():
        place = str(path)
        if (path / ADAPTER).is_file():
            base = base or _named_base(path / ADAPTER)
        elif not (path / "config.json").is_file():
            raise InputError(f"{text} holds no model", "give a folder with a config.json")
        elif base:
            raise InputError(f"{text} is no adapter", "leave base= out")
    elif path.is_absolute() or not _HUB_NAME.match(text) or text.startswith("."):
        raise InputError(f"there is no model folder {text}", "check the path")
    if not base:
        return ModelSource(text, place)
    below = resolve(base)
    if below.adapter:
        raise InputError(f"{base}, the base of {text}, is an adapter itself", "give base=MODEL")
    return replace(below, text=text, adapter=place)


def _named_base(file: Path) -> str:
    """The base model that an adapter's configuration names."""
    with suppress(InputError, AttributeError):
        if name := read_json(file).get("base_model_name_or_path"):
            return str(name)
    raise InputError(f"{file} names no base model", "give base=MODEL")


def fingerprint(source: ModelSource) -> str:
    """A hash of local files, the commit of a hub model; empty where neither is known."""
    places = [Path(source.weights, source.gguf), *([Path(source.adapter)] * bool(source.adapter))]
    parts = [_hash(place) for place in places]
    return "+".join(parts) if all(parts) else ""


def _hash(place: Path) -> str:
    """A hash of a file or folder; else the commit that the hub, or its cache, would give now."""
    if place.exists():
        inside = place.iterdir() if place.is_dir() else [place]
        return files_hash(
            sorted(path for path in inside if path.suffix in KINDS and path.is_file())
        )
    from transformers import PretrainedConfig

    with quiet(), readable(place.as_posix()):
        settings, _ = PretrainedConfig.get_config_dict(place.as_posix())
    return str(settings.get("_commit_hash") or "")[:16]


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


@dataclass(eq=False)
class Checkpoint:
    """A model that is loaded at the first use.

    `kind` is the transformers class that reads it, `dtype` fp32, bf16 or auto (bf16 on a GPU,
    fp32 otherwise), `device` a torch device or auto (a GPU if there is one). Remote code is never
    run.
    """

    text: str
    kind: str = CAUSAL
    _: KW_ONLY
    base: str = ""
    dtype: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        self.source = resolve(self.text, self.base)
        need(f"the model {self.text}", *(["gguf"] if self.source.gguf else []))
        if self.source.adapter:
            need(f"the adapter {self.text}", "peft")
        if self.dtype not in {*DTYPES, "auto"}:
            raise UnknownName("dtype", self.dtype, [*DTYPES, "auto"])
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @cached_property
    def version(self) -> str:
        """A hash of the weights and the number format; empty where it cannot be known."""
        weights = fingerprint(self.source)
        return f"{weights}-{placed(self.device, self.dtype)[1]}" if weights else ""

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


def load(source: ModelSource, kind: str, dtype: str = "auto", device: str = "auto") -> Loaded:
    """The model and its tokenizer; raises `InputError` that names what cannot be loaded."""
    import torch
    import transformers

    place, numbers = placed(device, dtype)
    gguf = {"gguf_file": source.gguf} if source.gguf else {}
    read = transformers.AutoTokenizer.from_pretrained
    with LOADING, quiet(), readable(source.text):
        tokenizer = None
        if source.adapter:
            # An adapter may have a tokenizer of its own.
            with suppress(OSError, ValueError, KeyError):
                tokenizer = read(source.adapter, trust_remote_code=False)
        tokenizer = tokenizer or read(source.weights, trust_remote_code=False, **gguf)
        model, report = getattr(transformers, kind).from_pretrained(
            source.weights,
            dtype=getattr(torch, DTYPES[numbers]),
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
    limits = [tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)]
    # Relative positions have no end, whatever the configuration says.
    if getattr(model.config, "position_biased_input", True) is False:
        limits.pop()
    return min((limit for limit in limits if limit and limit < 10**9), default=None)


def placed(device: str, dtype: str) -> tuple[Any, str]:
    """The torch device and the number format that are meant."""
    import torch

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        place = torch.device(device)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError):
        raise InputError(f"there is no device {device!r} here", "such as device=cpu") from None
    return place, ("fp32" if place.type == "cpu" else "bf16") if dtype == "auto" else dtype


def mend_padding(model: Any, tokenizer: Any) -> None:
    """Give model and tokenizer one padding token: the model's, the tokenizer's or an end token."""
    known = (model.config.pad_token_id, tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
    model.config.pad_token_id = next(pad for pad in known if pad is not None)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(model.config.pad_token_id)

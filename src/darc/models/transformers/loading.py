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
from darc.json_files import read_json
from darc.models.file_hash import hash_files
from darc.models.importing import import_with_sleeping_threads
from darc.models.installed import require

EMBEDDED = "embedded"
#: The transformers classes that read models.
CAUSAL = "AutoModelForCausalLM"
SEQUENCE = "AutoModelForSequenceClassification"
TOKENS = "AutoModelForTokenClassification"

_ADAPTER_FILE = "adapter_config.json"
_HASHED_SUFFIXES = (".safetensors", ".bin", ".gguf", ".json", ".model", ".jinja", ".txt")
_TORCH_DTYPES = {"fp32": "float32", "bf16": "bfloat16"}
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?\Z", re.ASCII)
# Tokenizers without a limit name an astronomical one.
_NO_LIMIT = 10**9
# The library keeps state of its own while it loads: two threads at once leave it broken.
_LOADING = threading.Lock()


def require_torch(purpose: str, *libraries: str, extra: str = "hf") -> None:
    """Import torch, and check that other libraries are installed.

    Args:
        purpose: What needs them, for the error message.
        libraries: Libraries that are needed beside torch and transformers.
        extra: The extra that installs them.

    Raises:
        MissingExtra: One of them is not installed.
    """
    for name in ("torch", "transformers", *libraries):
        if importlib.util.find_spec(name) is None:
            raise MissingExtra(purpose, extra)
    import_with_sleeping_threads("torch")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from drawing progress bars and logging anything but errors meanwhile."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    had_bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if had_bars:
            logging.enable_progress_bar()


@contextmanager
def translate_errors(text: str) -> Iterator[None]:
    """Turn what the libraries raise for missing or broken files into one `InputError`.

    Args:
        text: What the user wrote for the model.
    """
    try:
        yield
    except DarcError:
        raise
    except Exception as problem:  # each file format has errors of its own
        lines = str(problem).strip().splitlines() or [type(problem).__name__]
        raise InputError(
            f"{text} cannot be loaded as a model: {lines[0]}",
            "check the name, the files and the network",
        ) from problem


@dataclass(frozen=True)
class ModelSource:
    """Weights on the hub or on disk."""

    #: What the user wrote.
    text: str
    #: A name on the hub, or a folder.
    weights: str
    #: The GGUF file in that folder; empty for the ordinary format.
    gguf: str = ""
    #: A folder or hub name of low-rank weights that go on top; empty if there are none.
    adapter: str = ""


def resolve(text: str, base: str = "") -> ModelSource:
    """Find the weights that a text stands for.

    Looks at the disk alone; whether a hub name exists shows on loading.

    Args:
        text: A hub name, a folder, a GGUF file, or "embedded". A folder with adapter_config.json is
            an adapter.
        base: The base model of an adapter; by default the one that its configuration names.

    Returns:
        The source.

    Raises:
        InputError: There is no such model.
    """
    path = require().path if text == EMBEDDED else Path(text).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise InputError(f"there is no model file {text}", "check the path")
        return ModelSource(text, str(path.parent), gguf=path.name)
    weights = text
    if path.is_dir():
        weights = str(path)
        base = _base_of_folder(path, text, base)
    elif path.is_absolute() or not _HUB_NAME.match(text) or text.startswith("."):
        raise InputError(f"there is no model folder {text}", "check the path")
    if not base:
        return ModelSource(text, weights)
    base_source = resolve(base)
    if base_source.adapter:
        raise InputError(f"{base}, the base of {text}, is an adapter itself", "give base=MODEL")
    return replace(base_source, text=text, adapter=weights)


def _base_of_folder(path: Path, text: str, base: str) -> str:
    """The base model of the adapter in a folder; empty if the folder holds a model itself."""
    if (path / _ADAPTER_FILE).is_file():
        return base or _configured_base(path / _ADAPTER_FILE)
    if not (path / "config.json").is_file():
        raise InputError(f"{text} holds no model", "give a folder with a config.json")
    if base:
        raise InputError(f"{text} is not an adapter", "leave base= out")
    return ""


def _configured_base(file: Path) -> str:
    """The base model that an adapter's configuration names."""
    with suppress(InputError, AttributeError):
        name = read_json(file).get("base_model_name_or_path")
        if name:
            return str(name)
    raise InputError(f"{file} names no base model", "give base=MODEL")


def fingerprint(source: ModelSource) -> str:
    """Identify weights.

    Args:
        source: The weights.

    Returns:
        A hash of local files, or the commit of a hub model; empty if neither is known.
    """
    places = [Path(source.weights, source.gguf)]
    if source.adapter:
        places.append(Path(source.adapter))
    hashes = [_hash_place(place) for place in places]
    if not all(hashes):
        return ""
    return "+".join(hashes)


def _hash_place(place: Path) -> str:
    """A hash of a file or folder; else the commit that the hub, or its cache, would give now."""
    if place.exists():
        files = place.iterdir() if place.is_dir() else [place]
        hashed = [file for file in files if file.suffix in _HASHED_SUFFIXES and file.is_file()]
        return hash_files(sorted(hashed))
    from transformers import PretrainedConfig

    with quiet(), translate_errors(place.as_posix()):
        settings, _ = PretrainedConfig.get_config_dict(place.as_posix())
    return str(settings.get("_commit_hash") or "")[:16]


@dataclass(frozen=True)
class Loaded:
    """A model in evaluation mode with its tokenizer."""

    model: Any
    tokenizer: Any
    device: Any
    #: The longest input in tokens; None if nothing limits it.
    context: int | None
    #: Whether the model goes on from a cache to the same numbers, within (False) and beyond (True)
    #: its sliding windows, as far as that was tried.
    continues: dict[bool, bool] = field(default_factory=dict, compare=False)


@dataclass(eq=False)
class Checkpoint:
    """A model that is loaded at the first use; remote code is never run.

    Raises:
        InputError: There is no such model.
        MissingExtra: A library that it needs is not installed.
        UnknownName: There is no such number format.
    """

    #: What the user wrote; see `resolve`.
    text: str
    #: The transformers class that reads it.
    kind: str = CAUSAL
    _: KW_ONLY
    base: str = ""
    #: fp32, bf16 or auto (bf16 on a GPU, fp32 otherwise).
    dtype: str = "auto"
    #: A torch device, or auto (a GPU if there is one).
    device: str = "auto"

    def __post_init__(self) -> None:
        self.source = resolve(self.text, self.base)
        require_torch(f"the model {self.text}")
        if self.source.gguf:
            require_torch(f"the model {self.text}", "gguf")
        if self.source.adapter:
            require_torch(f"the adapter {self.text}", "peft")
        if self.dtype not in {*_TORCH_DTYPES, "auto"}:
            raise UnknownName("dtype", self.dtype, [*_TORCH_DTYPES, "auto"])
        self._lock = threading.Lock()
        self._loaded: Loaded | None = None

    @cached_property
    def version(self) -> str:
        """A hash of the weights and the number format; empty if it cannot be known."""
        weights = fingerprint(self.source)
        if not weights:
            return ""
        _, dtype = resolve_device(self.device, self.dtype)
        return f"{weights}-{dtype}"

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
    """Load a model and its tokenizer.

    Args:
        source: The weights.
        kind: The transformers class that reads them.
        dtype: fp32, bf16 or auto.
        device: A torch device, or auto.

    Returns:
        The model in evaluation mode.

    Raises:
        InputError: It cannot be loaded.
    """
    torch_device, number_format = resolve_device(device, dtype)
    with _LOADING, quiet(), translate_errors(source.text):
        tokenizer = _load_tokenizer(source)
        model = _load_model(source, kind, number_format)
    model = model.to(torch_device).eval()
    set_padding(model, tokenizer)
    return Loaded(model, tokenizer, torch_device, longest_input(model, tokenizer))


def _gguf_options(source: ModelSource) -> dict[str, str]:
    if source.gguf:
        return {"gguf_file": source.gguf}
    return {}


def _load_tokenizer(source: ModelSource) -> Any:
    """The tokenizer of the adapter, if it has one, or else of the model."""
    from transformers import AutoTokenizer

    if source.adapter:
        with suppress(OSError, ValueError, KeyError):
            return AutoTokenizer.from_pretrained(source.adapter, trust_remote_code=False)
    return AutoTokenizer.from_pretrained(
        source.weights, trust_remote_code=False, **_gguf_options(source)
    )


def _load_model(source: ModelSource, kind: str, number_format: str) -> Any:
    import torch
    import transformers

    model, report = getattr(transformers, kind).from_pretrained(
        source.weights,
        dtype=getattr(torch, _TORCH_DTYPES[number_format]),
        trust_remote_code=False,
        weights_only=True,
        output_loading_info=True,
        **_gguf_options(source),
    )
    if source.adapter:
        from peft import PeftModel

        return PeftModel.from_pretrained(model, source.adapter)
    if report["missing_keys"]:
        missing = ", ".join(sorted(report["missing_keys"])[:3])
        raise InputError(f"{source.text} has no weights for {missing}", f"give a model for {kind}")
    return model


def longest_input(model: Any, tokenizer: Any) -> int | None:
    """How many tokens a model takes; None if nothing limits them."""
    limits = [tokenizer.model_max_length]
    # Relative positions have no end, whatever the configuration says.
    if getattr(model.config, "position_biased_input", True) is not False:
        limits.append(getattr(model.config, "max_position_embeddings", None))
    return min((limit for limit in limits if limit and limit < _NO_LIMIT), default=None)


def resolve_device(device: str, dtype: str) -> tuple[Any, str]:
    """Find the torch device and the number format that are meant.

    Args:
        device: A torch device, or auto (a GPU if there is one).
        dtype: fp32, bf16 or auto (bf16 on a GPU, fp32 otherwise).

    Returns:
        The device, and fp32 or bf16.

    Raises:
        InputError: There is no such device.
    """
    import torch

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch_device = torch.device(device)
        torch.empty(1, device=torch_device)
    except (RuntimeError, AssertionError):
        raise InputError(f"there is no device {device!r} here", "such as device=cpu") from None
    if dtype == "auto":
        dtype = "fp32" if torch_device.type == "cpu" else "bf16"
    return torch_device, dtype


def set_padding(model: Any, tokenizer: Any) -> None:
    """Give model and tokenizer one padding token: the model's, the tokenizer's or an end token."""
    candidates = (model.config.pad_token_id, tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
    model.config.pad_token_id = next(token for token in candidates if token is not None)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.convert_ids_to_tokens(model.config.pad_token_id)

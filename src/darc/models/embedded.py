"""The language model that runs in this process, on llama.cpp."""

import itertools
import json
import logging
import secrets
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from darc.closing import Closing
from darc.errors import DarcError, InputError, extra_needed
from darc.models.catalogue import DEFAULT, QWEN, lookup
from darc.models.completion import Completion, Report, Request, make_counter
from darc.models.importing import import_with_sleeping_threads
from darc.models.installed import require
from darc.models.remote.protocol import chat_body, read_choices

logger = logging.getLogger(__name__)

_TOP_K = 256
_MICRO_BATCH = 16
# llama.cpp draws a seed of its own for this one.
_RANDOM_SEED = 0xFFFFFFFF
_QUIET = -1
# On few cores more threads gain nothing, and one slot keeps the beginning of the last prompt.
_LARGE_MODEL_THREADS = 1
_LARGE_MODEL_SLOTS = 1
_LARGE_MODEL_CONTEXT = 4096
_VERBOSE = 4


@dataclass(eq=False)
class EmbeddedModel(Closing):
    """A chat model from a GGUF file, loaded at the first use.

    The same request gives the same text whatever else is answered with it. llama.cpp has several
    attention kernels that round differently, chosen by how many tokens and conversations are in a
    batch; small micro-batches and an 8-bit cache leave only one of them.

    `complete` may be called from several threads; in an asyncio program use `asyncio.to_thread`.
    """

    path: Path
    #: The number of threads; None for one per core.
    threads: int | None = None
    #: How many requests are answered at a time.
    slots: int = 16
    #: The longest conversation with its answer, in tokens (12 kB of memory each).
    context: int = 2048
    #: What identifies the weights.
    version: str = ""
    #: What the model is called in files and messages.
    name: str = "embedded"

    #: Whether it returns the likeliest tokens at each place.
    gives_alternatives = True
    _server: Any = field(default=None, init=False)
    _workers: ThreadPoolExecutor | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """Complete conversations.

        Args:
            requests: The conversations.
            report: Called with how many are done, and how many there are.

        Returns:
            One completion per request, in their order.

        Raises:
            InputError: A request cannot be answered, or the model is not installed.
        """
        workers = self._start()
        count = make_counter(report, len(requests))
        # Whatever ends the wait cancels what has not begun.
        return list(workers.map(self._complete_one, requests, itertools.repeat(count)))

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """Answer a chat completion in OpenAI's format: one choice, no stream.

        Args:
            body: The request.

        Returns:
            The answer; an error is an answer with the key `error`.
        """
        return self._start().submit(self._handle, body).result()

    def close(self) -> None:
        """Free the model's memory; the next `complete` loads it again."""
        with self._lock:
            workers = self._workers
            self._workers = None
            if workers is not None:
                workers.shutdown(cancel_futures=True)
            self._server = None

    def _start(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._workers is None:
                self._server = _load_server(self.path, self.threads, self.slots, self.context)
                self._workers = ThreadPoolExecutor(self.slots, thread_name_prefix="darc-model")
            return self._workers

    def _handle(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._server.handle_chat_completions({"top_k": _TOP_K, "min_p": 0.0, **body})
        return dict(answer)

    def _complete_one(self, request: Request, count: Callable[[object], None]) -> Completion:
        if request.max_tokens < 1:
            raise InputError(f"max_tokens is {request.max_tokens}", "give at least 1")
        seed = request.seed % _RANDOM_SEED
        answer = self._handle({**chat_body(self.name, request), "seed": seed})
        if "error" in answer or "choices" not in answer:
            raise answer_error(answer)
        completion = read_choices(answer)[0]
        count(completion)
        return completion


def open_installed(name: str = "") -> EmbeddedModel:
    """Open an installed model; nothing is loaded yet.

    Args:
        name: The name or the short name of the model; empty for the small one.

    Returns:
        The model. A large one has one thread and few slots.

    Raises:
        UnknownName: There is no such model.
        InputError: It is not installed, was changed, or does not answer questions.
    """
    entry = lookup(name or DEFAULT)
    if not entry.file_name.endswith(".gguf"):
        raise InputError(f"{entry.name} does not answer questions", f"take {DEFAULT} or {QWEN}")
    installed = require(entry.name)
    if entry.name == DEFAULT:
        return EmbeddedModel(installed.path, version=installed.sha256)
    return EmbeddedModel(
        installed.path,
        threads=_LARGE_MODEL_THREADS,
        slots=_LARGE_MODEL_SLOTS,
        context=_LARGE_MODEL_CONTEXT,
        version=installed.sha256,
        name=f"embedded:{entry.short or entry.name}",
    )


def _load_server(path: Path, threads: int | None, slots: int, context: int) -> Any:
    """A running llama.cpp server object; its messages are shown at log level debug only."""
    with extra_needed("the embedded model", "embedded"):
        xllamacpp = import_with_sleeping_threads("xllamacpp")
    if not path.is_file():
        raise InputError(f"there is no model file {path}", "run: darc models install")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.n_parallel = slots
    settings.n_ctx = slots * context
    settings.n_ubatch = _MICRO_BATCH
    settings.kv_unified = False
    settings.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    settings.cache_type_k = xllamacpp.ggml_type.GGML_TYPE_Q8_0
    settings.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_Q8_0
    settings.fit_params = False
    settings.cache_ram_mib = 0
    settings.cpuparams.n_threads = threads or -1
    settings.cpuparams_batch.n_threads = threads or -1
    # Threads sleep while they wait; spinning ones slow each other down on a busy machine.
    settings.cpuparams.poll = 0
    settings.cpuparams_batch.poll = 0
    settings.verbosity = _VERBOSE if logger.isEnabledFor(logging.DEBUG) else _QUIET
    # The object always opens a port on the loopback interface: nobody gets the key to it.
    settings.api_keys = [secrets.token_hex(32)]
    settings.cors_origins = ""
    settings.ui = False
    settings.n_threads_http = 1
    try:
        return xllamacpp.Server(settings)
    except RuntimeError:
        raise InputError(
            f"{path} cannot be loaded as a model", "run: darc models install"
        ) from None


def answer_error(answer: dict[str, Any]) -> DarcError:
    """The error that an answer without choices stands for."""
    problem = answer.get("error", answer)
    if isinstance(problem, dict) and problem.get("code") == 400:
        return InputError(
            f"the model refused a request: {problem.get('message')}", "shorten or correct it"
        )
    return DarcError(f"the model failed: {json.dumps(problem)}")

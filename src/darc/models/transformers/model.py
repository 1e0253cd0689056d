"""A chat model on torch and transformers."""

import threading
import time
from collections.abc import Sequence

from darc.errors import InputError
from darc.models.completion import Completion, Report, Request
from darc.models.transformers.batching import by_length, prompt_ids
from darc.models.transformers.loading import CAUSAL, Checkpoint
from darc.registry import parse_spec


class TransformersModel:
    """A causal language model that answers `batch_size` requests at a time.

    Requests are sorted by length and padded on the left. A request's text depends on its
    conversation, settings and seed alone, not on the requests beside it, as far as rounding lets
    it: a batch of another shape may round a logit differently, which shows where two tokens are
    as good as tied. One call runs at a time.
    """

    def __init__(
        self,
        text: str,
        *,
        batch_size: int = 16,
        base: str = "",
        dtype: str = "auto",
        device: str = "auto",
    ) -> None:
        if batch_size < 1:
            raise InputError(f"batch_size is {batch_size}", "give at least 1")
        self.name = f"transformers:{text}"
        self.checkpoint = Checkpoint(text, CAUSAL, base=base, dtype=dtype, device=device)
        self.batch_size = batch_size
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """A hash of the weights and the number format."""
        return self.checkpoint.version

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """One completion a request, in their order; `report(done, total)` counts them."""
        if not requests:
            return []
        with self._lock:
            return self._complete(requests, report)

    def _complete(self, requests: Sequence[Request], report: Report | None) -> list[Completion]:
        from darc.models.transformers.generation import write

        started = time.perf_counter()
        loaded = self.checkpoint.loaded
        prompts = [prompt_ids(loaded.tokenizer, request.messages) for request in requests]
        for prompt, request in zip(prompts, requests, strict=True):
            check(request, len(prompt), loaded.context)
        result: dict[int, Completion] = {}
        for places in by_length([len(prompt) for prompt in prompts], self.batch_size):
            rows = write(loaded, [prompts[i] for i in places], [requests[i] for i in places])
            milliseconds = (time.perf_counter() - started) * 1000
            for place, row in zip(places, rows, strict=True):
                result[int(place)] = Completion(
                    text=row.text,
                    tokens=row.tokens,
                    finish_reason=row.finish_reason,
                    log_likelihood=row.log_likelihood,
                    milliseconds=milliseconds,
                )
            if report is not None:
                report(len(result), len(requests))
        return [result[place] for place in range(len(requests))]

    def close(self) -> None:
        """Free the model's memory; the next `complete` loads it again."""
        self.checkpoint.close()


def check(request: Request, length: int, context: int | None) -> None:
    """Refuse what cannot be sampled: no tokens asked for, or a prompt that fills the context."""
    if request.max_tokens < 1:
        raise InputError(f"max_tokens is {request.max_tokens}", "give at least 1")
    if context is not None and length >= context:
        raise InputError(
            f"a prompt has {length} tokens and the model takes {context}", "shorten it"
        )


def load_chat(text: str) -> TransformersModel:
    """The model that "MODEL[,batch_size=...][,dtype=...][,device=...][,base=...]" stands for."""
    spec = parse_spec(f"transformers:{text}")
    known = {"batch_size", "base", "dtype", "device"}
    for name in spec.options:
        if name not in known:
            raise InputError(f"unknown option {name!r} of a model", f"known: {sorted(known)}")
    options = dict(spec.options)
    size = options.pop("batch_size", "16")
    if not size.isdecimal():
        raise InputError(f"batch_size={size} cannot be used", "such as batch_size=16")
    return TransformersModel(spec.argument, batch_size=int(size), **options)

"""What models say of given answers: log-probabilities, rewards, hidden states.

What the rows of a group begin with is read once, into a cache of keys and values that they all
continue.
"""

import copy
import inspect
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from darc.models.transformers.batching import by_tokens, padded, templated, tokens
from darc.models.transformers.loading import Loaded
from darc.types import Message
from darc.typing import Array

# Tokens spared, from which on the pass over the prefix alone pays.
LEAST_SPARED = 128
# How far the last states with and without the cache may be apart, as a share of their length.
ROUNDING = {torch.float32: 1e-4, torch.float64: 1e-4}
COARSE_ROUNDING = 0.05
# Logits held at once, in numbers: 256 MB in fp32, and as much again while they are summed.
MOST_LOGITS = 64_000_000
# Attention modules keep their dropout rate as a number and apply it themselves.
ATTRIBUTES = ("attention_dropout", "dropout_prob")

Prompted = tuple[list[int], list[int]]
Row = dict[str, list[int]]


@dataclass(frozen=True)
class Prefix:
    """The cache over the first `length` tokens of all rows that are to follow."""

    loaded: Loaded
    cache: Any
    length: int

    @classmethod
    def common(cls, loaded: Loaded, rows: Sequence[list[int]], longest: int) -> "Prefix | None":
        """What the rows have in common, at most `longest` tokens; None where rows go alone.

        That is where it would spare too little, and where the model does not continue a cache to
        the same numbers. Whether it does is tried on the first rows, and again on the first with
        more in common than a sliding window holds.
        """
        alike = takewhile(lambda column: len(set(column)) == 1, zip(*rows, strict=False))
        length = min(len(list(alike)), longest)
        if length * (len(rows) - 1) < LEAST_SPARED:
            return None
        if False in loaded.continues.values() or not takes_cache(loaded.model):
            return None
        ids = torch.tensor([rows[0][:length]], device=loaded.device)
        with torch.inference_mode():
            read = below_adapter(loaded.model).base_model(input_ids=ids, use_cache=True)
        prefix = cls(loaded, getattr(read, "past_key_values", None), length)
        layers = getattr(prefix.cache, "layers", ())
        # Keys and values alone: a padding token would change other states.
        plain = bool(layers) and {*map(type, layers)} <= {DynamicLayer, DynamicSlidingWindowLayer}
        windows = (getattr(layer, "sliding_window", None) for layer in layers)
        beyond = any(window and length >= window for window in windows)
        if beyond not in loaded.continues:
            loaded.continues[beyond] = plain and prefix.agrees(rows)
        return prefix if loaded.continues[beyond] else None

    def follow(self, rows: Sequence[list[int]]) -> dict[str, Any]:
        """The model's input for the rows' tokens behind the prefix, padded on the right."""
        pad = self.loaded.model.config.pad_token_id
        batch = padded([row[self.length :] for row in rows], pad, self.loaded.device, left=False)
        seen = batch["attention_mask"].new_ones((len(rows), self.length))
        cache = copy.deepcopy(self.cache)
        cache.batch_repeat_interleave(len(rows))
        return {
            "input_ids": batch["input_ids"],
            "attention_mask": torch.cat([seen, batch["attention_mask"]], dim=1),
            "past_key_values": cache,
            "use_cache": True,
        }

    def agrees(self, rows: Sequence[list[int]]) -> bool:
        """Whether the shortest and the longest row end in the states of a pass without a cache."""
        tried = [min(rows, key=len), max(rows, key=len)]
        core = below_adapter(self.loaded.model).base_model
        try:
            with torch.inference_mode():
                followed = core(**self.follow(tried)).last_hidden_state.double()
                for row, states in zip(tried, followed, strict=True):
                    ids = torch.tensor([row], device=self.loaded.device)
                    plain = core(input_ids=ids, use_cache=False).last_hidden_state[0, -1].double()
                    error = (states[len(row) - self.length - 1] - plain).norm() / plain.norm()
                    if not error <= ROUNDING.get(self.loaded.model.dtype, COARSE_ROUNDING):
                        return False
        except Exception:  # every model has errors of its own for a cache that it cannot continue
            return False
        return True


def takes_cache(model: Any) -> bool:
    """Whether a model, by its declaration, is a decoder that goes on from keys and values."""
    inner = below_adapter(model)
    known = inspect.signature(inner.forward).parameters
    adapter = getattr(model, "active_peft_config", None)
    return (
        not model.training
        and not inner.config.is_encoder_decoder
        # Such adapters put tokens of their own in front.
        and not getattr(adapter, "is_prompt_learning", False)
        and {"past_key_values", "use_cache", "attention_mask"} <= set(known)
    )


def below_adapter(model: Any) -> Any:
    """The model below an adapter."""
    below = getattr(model, "get_base_model", None)
    return below() if below is not None else model


def passes(
    loaded: Loaded,
    rows: Sequence[list[int]],
    groups: Sequence[Hashable],
    longest: Sequence[int],
    most: int,
    at_once: int | None = None,
) -> Iterator[tuple[NDArray[np.int64], dict[str, Any] | None]]:
    """The forward passes for rows of tokens: their places, and the input behind a prefix.

    Rows of similar length go together, at most `at_once` and at most `most` tokens with their
    padding. Those of a group share what they begin with, at most the least of their `longest`; the
    input is None for those that go alone.
    """
    together: dict[Hashable, list[int]] = {}
    for place, key in enumerate(groups):
        together.setdefault(key, []).append(place)
    alone: list[int] = []
    for group in together.values():
        ids = [rows[i] for i in group]
        prefix = Prefix.common(loaded, ids, min(longest[i] for i in group))
        if prefix is None:
            alone += group
            continue
        lengths = [len(row) - prefix.length for row in ids]
        for own in by_tokens(lengths, most, prefix.length, at_once):
            yield np.array(group)[own], prefix.follow([ids[i] for i in own])
    for own in by_tokens([len(rows[i]) for i in alone], most, 0, at_once):
        yield np.array(alone)[own], None


def token_sums(loaded: Loaded, rows: Sequence[Prompted], most: int) -> list[float]:
    """The log-probability of each answer given its prompt, summed over its tokens, (n,).

    `rows` are the tokens of prompts and answers; an answer without tokens sums to 0. Rows share a
    forward pass as far as the memory for their logits allows.
    """
    sums = [0.0] * len(rows)
    vocabulary, pad = int(loaded.model.config.vocab_size), loaded.model.config.pad_token_id
    known = inspect.signature(below_adapter(loaded.model).forward).parameters
    answered = [place for place, (_, answer) in enumerate(rows) if answer]
    prompts = [rows[place][0] for place in answered]
    answers = [rows[place][1] for place in answered]
    at_once = max(1, MOST_LOGITS // ((max(map(len, answers), default=0) + 1) * vocabulary))
    whole = [[*prompt, *answer] for prompt, answer in zip(prompts, answers, strict=True)]
    # The prompt's last token predicts the answer's first.
    longest = [len(prompt) - 1 for prompt in prompts]
    groups = [tuple(prompt) for prompt in prompts]
    for places, batch in passes(loaded, whole, groups, longest, most, at_once):
        lengths = [len(answers[i]) for i in places]
        spans, predicting = [slice(0, length) for length in lengths], slice(0, -1)
        if batch is None:
            # Padded on the left, so that all answers end at the right edge.
            batch = padded([whole[i] for i in places], pad, loaded.device, left=True)
            keep = min(max(lengths) + 1, batch["input_ids"].shape[1])
            spans, predicting = [slice(-length, None) for length in lengths], slice(-keep, -1)
            # Logits of the prompts are not looked at; not every architecture can leave them out.
            batch |= {"logits_to_keep": keep, "use_cache": False}
            batch = {name: value for name, value in batch.items() if name in known}
        with torch.inference_mode():
            logits = loaded.model(**batch).logits[:, predicting].float()
            following = batch["input_ids"][:, -logits.shape[1] :]
            taken = logits.gather(-1, following[..., None])[..., 0] - logits.logsumexp(-1)
        for i, logs, span in zip(places, taken.double().cpu(), spans, strict=True):
            sums[answered[i]] = float(logs[span].sum())
    return sums


def fit(prompt: list[int], answer: list[int], limit: int) -> Prompted:
    """A prompt and its answer in at most `limit` tokens.

    The prompt loses its beginning, but keeps half the limit; then the answer loses its end.
    """
    most = max(limit - len(answer), limit // 2)
    kept = prompt[-most:] if len(prompt) > most else prompt
    return kept, answer[: limit - len(kept)]


def encoded(tokenizer: Any, messages: Sequence[Message], answer: str, limit: int) -> Row:
    """The token numbers of an answered conversation, at most `limit` of them.

    With a chat template a longer conversation loses its middle: the first quarter of the limit
    stays (where the question begins) and the last three quarters (the end of the answer with what
    closes it, where the model looks). Without one, the last question and the answer are a pair of
    texts, of which the longer loses its end; the result has the tokens' types too, where the
    tokenizer gives them.
    """
    if tokenizer.chat_template:
        turns = [*messages, Message("assistant", answer)]
        ids = tokens(tokenizer, templated(tokenizer, turns, answered=True))
        return {"input_ids": middle_cut(ids, limit)}
    question = next((m.content for m in reversed(messages) if m.role == "user"), "")
    pair = tokenizer(question, answer, truncation=True, max_length=limit)
    return {key: pair[key] for key in ("input_ids", "token_type_ids") if key in pair}


def middle_cut(ids: list[int], limit: int) -> list[int]:
    """At most `limit` of the numbers: the first quarter of the limit and the last ones."""
    if len(ids) <= limit:
        return ids
    head = limit // 4
    return ids[:head] + ids[len(ids) - (limit - head) :]


def logits(loaded: Loaded, rows: Sequence[Row], most: int, groups: Sequence[Hashable]) -> Array:
    """Raw outputs, (n, labels), in the order of the rows, of passes of at most `most` tokens.

    A decoder reads what the rows of a group begin with once.
    """
    result = np.empty((len(rows), int(loaded.model.config.num_labels)))
    ids = [row["input_ids"] for row in rows]
    pad = loaded.model.config.pad_token_id
    # Decoders look at the last token but padding, which the end of a turn may serve as.
    last = [max((i for i, token in enumerate(row) if token != pad), default=0) for row in ids]
    longest = [0 if "token_type_ids" in row else at for row, at in zip(rows, last, strict=True)]
    for places, batch in passes(loaded, ids, groups, longest, most):
        result[places] = forward(loaded, [rows[i] for i in places], batch)
    return result


def hidden(loaded: Loaded, rows: Sequence[Row], most: int) -> Array:
    """The last layer's states, (n, d): of the last token for a decoder, of the first otherwise."""
    result = np.empty((len(rows), int(loaded.model.config.hidden_size)))
    for places in by_tokens([len(row["input_ids"]) for row in rows], most):
        own = [rows[i] for i in places]
        with torch.inference_mode():
            given = loaded.model(**batch_of(loaded, own), output_hidden_states=True)
        at = [0 if "token_type_ids" in row else len(row["input_ids"]) - 1 for row in own]
        result[places] = given.hidden_states[-1][range(len(own)), at].double().cpu()
    return result


def forward(loaded: Loaded, rows: Sequence[Row], batch: dict[str, Any] | None = None) -> Array:
    """Raw outputs of rows, (rows, labels): one pass over them, or over what is left in `batch`."""
    with torch.inference_mode():
        given = loaded.model(**(batch or batch_of(loaded, rows)))
    return np.asarray(given.logits.double().cpu())


def batch_of(loaded: Loaded, rows: Sequence[Row]) -> dict[str, Any]:
    """The model's input for a batch."""
    pad = loaded.model.config.pad_token_id
    batch = padded([row["input_ids"] for row in rows], pad, loaded.device, left=False)
    # Encoders count positions by themselves, and not all of them from 0.
    del batch["position_ids"]
    if "token_type_ids" in rows[0]:
        kinds = [row["token_type_ids"] for row in rows]
        batch["token_type_ids"] = padded(kinds, 0, loaded.device, left=False)["input_ids"]
    return batch


def rates(model: Any) -> list[tuple[Any, str, float]]:
    """Every place in a model that has a dropout rate: module, attribute, rate."""
    found = []
    for module in model.modules():
        names = ("p",) if isinstance(module, torch.nn.modules.dropout._DropoutNd) else ATTRIBUTES
        found += [
            (module, name, float(getattr(module, name)))
            for name in names
            if isinstance(getattr(module, name, None), int | float)
        ]
    return found


@contextmanager
def dropout(model: Any, seed: int, rate: float | None) -> Iterator[None]:
    """Switch a model's dropout on, seeded, at its own rates or at `rate` everywhere.

    Afterwards the model and torch's random numbers are as they were.
    """
    before = rates(model)
    training = model.training
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            if rate is not None:
                for module, name, _ in before:
                    setattr(module, name, rate)
            model.train()
            yield
        finally:
            model.train(training)
            for module, name, own in before:
                setattr(module, name, own)

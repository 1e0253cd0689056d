"""The classifier of atypical answers on a transformer encoder."""

import copy
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from darc.models.transformers.loading import (
    SEQUENCE,
    Loaded,
    longest_input,
    mend_padding,
    need,
    quiet,
    readable,
)
from darc.scorers.base import Pair
from darc.scorers.caution import FILE, EncoderModel, write_model
from darc.training.caution.examples import balanced
from darc.training.caution.train import log_loss, measured, parts_of, sigmoid
from darc.typing import Array

FOLDER = "encoder"


def fit_encoder(
    pairs: Sequence[Pair],
    model: str,
    out: Path,
    *,
    seed: int = 7,
    epochs: int = 5,
    batch: int = 8,
    rate: float = 2e-5,
    max_length: int = 512,
    tell: Callable[[str], None] = print,
) -> EncoderModel:
    """Fine-tune a sequence classifier into a folder, with the epoch that held-out loss likes best.

    Each epoch draws new negatives, one a typical answer. Stops when an epoch brings nothing.
    """
    need("an encoder")
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits
    from transformers import AutoTokenizer

    parts = parts_of(pairs, seed)
    torch.manual_seed(seed)
    with quiet(), readable(model):
        tokenizer = AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        network = _network(model)
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    mend_padding(network, tokenizer)
    max_length = min(max_length, longest_input(network, tokenizer) or max_length)
    loaded = Loaded(network.to(place), tokenizer, place, max_length)
    stop_pairs, stop_labels = _labelled(parts.stopping, seed + 1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate)
    best, least, at = copy.deepcopy(network.state_dict()), np.inf, 0
    for epoch in range(1, epochs + 1):
        own, labels = _labelled(parts.fitted, seed + 10 * epoch)
        order = random.Random(seed + epoch).sample(range(len(own)), len(own))
        network.train()
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            logits = _outputs(loaded, [own[i] for i in rows], max_length)
            wanted = torch.tensor([labels[i] for i in rows], device=place)
            optimizer.zero_grad()
            binary_cross_entropy_with_logits(logits, wanted.float()).backward()
            optimizer.step()
        loss = log_loss(_scores(loaded, stop_pairs, max_length, batch), stop_labels)
        tell(f"epoch {epoch}: held-out loss {loss:.4f}")
        if loss >= least:
            break
        best, least, at = copy.deepcopy(network.state_dict()), loss, epoch
    network.load_state_dict(best)
    report = measured(
        lambda some: sigmoid(_scores(loaded, some, max_length, batch)), parts.held_out, seed, tell
    )
    report |= {"fitted": len(parts.fitted), "steps": at, "loss": float(least), "encoder": model}
    made = EncoderModel(FOLDER, max_length, report)
    out.mkdir(parents=True, exist_ok=True)
    with quiet():
        network.save_pretrained(out / FOLDER)
        tokenizer.save_pretrained(out / FOLDER)
    write_model(made, out / FILE)
    return made


def _network(model: str) -> Any:
    import transformers

    return getattr(transformers, SEQUENCE).from_pretrained(
        model, num_labels=1, trust_remote_code=False, ignore_mismatched_sizes=True
    )


def _labelled(pairs: Sequence[Pair], seed: int) -> tuple[list[Pair], Array]:
    negatives = [pair for pair, _ in balanced(pairs, seed, rounds=1)]
    labels = np.repeat([0.0, 1.0], [len(pairs), len(negatives)])
    return [*pairs, *negatives], labels


def _outputs(loaded: Loaded, pairs: Sequence[Pair], limit: int) -> Any:
    from darc.models.transformers.rewards import batch_of, encoded

    rows = [encoded(loaded.tokenizer, prompt.messages, text, limit) for prompt, text in pairs]
    return loaded.model(**batch_of(loaded, rows)).logits[:, 0]


def _scores(loaded: Loaded, pairs: Sequence[Pair], limit: int, batch: int) -> Array:
    import torch

    loaded.model.eval()
    with torch.inference_mode():
        found = [
            _outputs(loaded, pairs[start : start + batch], limit).double().cpu()
            for start in range(0, len(pairs), batch)
        ]
    return np.concatenate([np.asarray(each) for each in found])

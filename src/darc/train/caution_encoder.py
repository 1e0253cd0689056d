"""Fine-tuning a transformer encoder as the model of atypical answers."""

import copy
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from darc.models.transformers import loading
from darc.models.transformers.loading import Loaded
from darc.parts.scorers.base import Pair, sigmoid
from darc.parts.scorers.caution_models import MODEL_FILE, EncoderModel, write_model
from darc.train.caution_report import report_on, split_examples
from darc.train.logistic import log_loss
from darc.train.negatives import balanced
from darc.typing import Array

_FOLDER = "encoder"
_BATCH_SIZE = 8
_LEARNING_RATE = 2e-5
_MAX_TOKENS = 512


def fit_encoder(
    pairs: Sequence[Pair],
    model: str,
    out: Path,
    *,
    seed: int = 7,
    epochs: int = 5,
    tell: Callable[[str], None] = print,
) -> EncoderModel:
    """Fine-tune a sequence classifier, and keep the epoch with the lowest held-out loss.

    Each epoch draws new negatives, one per typical answer. Training stops when an epoch brings
    nothing.

    Args:
        pairs: Typical pairs.
        model: The name or folder of the encoder.
        out: The folder of the result.
        seed: The seed of everything.
        epochs: The most epochs.
        tell: Called with a sentence as each step begins.

    Returns:
        The model, whose report has the held-out AUC by kind of negative.
    """
    loading.require_torch("an encoder")
    import torch

    parts = split_examples(pairs, seed)
    torch.manual_seed(seed)
    loaded = _load_classifier(model)
    network = loaded.model
    optimizer = torch.optim.AdamW(network.parameters(), lr=_LEARNING_RATE)
    stop_pairs, stop_labels = _with_negatives(parts.stopping, seed + 1)
    best_state = copy.deepcopy(network.state_dict())
    best_loss = np.inf
    best_epoch = 0
    for epoch in range(1, epochs + 1):
        _train_epoch(loaded, optimizer, parts.fitted, seed, epoch)
        loss = log_loss(_predict_logits(loaded, stop_pairs), stop_labels)
        tell(f"epoch {epoch}: held-out loss {loss:.4f}")
        if loss >= best_loss:
            break
        best_state = copy.deepcopy(network.state_dict())
        best_loss = loss
        best_epoch = epoch
    network.load_state_dict(best_state)
    report = report_on(
        lambda some_pairs: sigmoid(_predict_logits(loaded, some_pairs)), parts.held_out, seed, tell
    )
    report |= {
        "fitted": len(parts.fitted),
        "steps": best_epoch,
        "loss": float(best_loss),
        "encoder": model,
    }
    encoder = EncoderModel(_FOLDER, loaded.context or _MAX_TOKENS, report)
    out.mkdir(parents=True, exist_ok=True)
    with loading.quiet():
        network.save_pretrained(out / _FOLDER)
        loaded.tokenizer.save_pretrained(out / _FOLDER)
    write_model(encoder, out / MODEL_FILE)
    return encoder


def _load_classifier(model: str) -> Loaded:
    """The encoder with one new output, on a GPU if there is one."""
    import torch
    import transformers

    with loading.quiet(), loading.translate_errors(model):
        tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        network = getattr(transformers, loading.SEQUENCE).from_pretrained(
            model, num_labels=1, trust_remote_code=False, ignore_mismatched_sizes=True
        )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loading.set_padding(network, tokenizer)
    context = min(_MAX_TOKENS, loading.longest_input(network, tokenizer) or _MAX_TOKENS)
    return Loaded(network.to(device), tokenizer, device, context)


def _train_epoch(
    loaded: Loaded, optimizer: Any, pairs: Sequence[Pair], seed: int, epoch: int
) -> None:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    from darc.models.transformers.scoring import make_batch

    examples, labels = _with_negatives(pairs, seed + 10 * epoch)
    order = random.Random(seed + epoch).sample(range(len(examples)), len(examples))
    loaded.model.train()
    for start in range(0, len(order), _BATCH_SIZE):
        places = order[start : start + _BATCH_SIZE]
        batch = make_batch(loaded, _encode(loaded, [examples[i] for i in places]))
        targets = torch.tensor([labels[i] for i in places], device=loaded.device)
        logits = loaded.model(**batch).logits[:, 0]
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(logits, targets.float()).backward()
        optimizer.step()


def _with_negatives(pairs: Sequence[Pair], seed: int) -> tuple[list[Pair], Array]:
    """Pairs and one negative of each, with labels, 1 for atypical."""
    negatives = [pair for pair, _ in balanced(pairs, seed, rounds=1)]
    labels = np.repeat([0.0, 1.0], [len(pairs), len(negatives)])
    return [*pairs, *negatives], labels


def _encode(loaded: Loaded, pairs: Sequence[Pair]) -> list[dict[str, list[int]]]:
    from darc.models.transformers.scoring import encode_answer

    limit = loaded.context or _MAX_TOKENS
    return [encode_answer(loaded.tokenizer, prompt.messages, text, limit) for prompt, text in pairs]


def _predict_logits(loaded: Loaded, pairs: Sequence[Pair]) -> Array:
    """The outputs of the classifier, shape (n,)."""
    from darc.models.transformers.scoring import forward

    loaded.model.eval()
    logits = []
    for start in range(0, len(pairs), _BATCH_SIZE):
        rows = _encode(loaded, pairs[start : start + _BATCH_SIZE])
        logits.append(forward(loaded, rows)[:, 0])
    return np.concatenate(logits)

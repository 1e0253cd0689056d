"""Training a policy from preference pairs, to an adapter in a folder."""

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darc.models.transformers.loading import ModelSource, fingerprint, quiet
from darc.train.base_model import base_name, load_base
from darc.train.losses import Loss
from darc.train.machine import check_training
from darc.train.preferences import Row
from darc.train.recipe import TrainingRecipe
from darc.train.trainer import Report, TrainingData, make_trainer
from darc.train.training_folder import (
    CHECKPOINTS,
    HISTORY,
    Measures,
    last_checkpoint,
    open_folder,
    read_complete,
    read_note,
    write_note,
)

# What is measured on held-out pairs, and the trainer's names for it.
_MEASURES = {
    "loss": "eval_loss",
    "margin": "eval_rewards/margins",
    "accuracy": "eval_rewards/accuracies",
}


@dataclass(frozen=True)
class Trained:
    """What came out of a training run."""

    #: The folder of the adapter.
    path: Path
    #: Held-out loss, margin and accuracy before the training; None without held-out pairs.
    before: Measures | None
    #: The same after the training.
    after: Measures | None
    steps: int
    #: The trainer's log, one entry per step or evaluation.
    history: list[dict[str, Any]]
    #: The step after which a stopped run went on; 0 for a new run.
    resumed: int


def train(
    rows: Sequence[Row],
    held_out: Sequence[Row],
    recipe: TrainingRecipe,
    loss: Loss,
    out: Path,
    report: Report = lambda *_: None,
    tell: Callable[[str], None] = lambda _: None,
) -> Trained:
    """Train an adapter, or go on where a stopped run wrote its last checkpoint.

    Args:
        rows: The preference pairs to train on.
        held_out: The pairs to measure on.
        recipe: How to train.
        loss: The loss.
        out: The folder, which becomes an adapter that `transformers:OUT` loads. Checkpoints are
            removed at the end.
        report: Called with the number of steps done, and of all steps.
        tell: Called with a sentence as each stage begins.

    Returns:
        What came out.

    Raises:
        InputError: The folder holds something else, or the model cannot be trained.
        DarcError: The machine is too small.
    """
    source = check_training(recipe)
    settings = _describe_run(rows, held_out, recipe, loss, source)
    if open_folder(out, settings):
        results, history = read_complete(out)
        steps = results["steps"]
        return Trained(out, results["before"], results["after"], steps, history, resumed=steps)
    with _without_progress_bars():
        tell(f"loading {source.text}")
        model, tokenizer = load_base(source, recipe)
        tell(f"asking the reference about {len(rows) + len(held_out)} pairs")
        data = TrainingData(rows, held_out)
        trainer = make_trainer(model, tokenizer, data, recipe, loss, out / CHECKPOINTS, report)
        checkpoint = last_checkpoint(out)
        first_step = 0
        if checkpoint is None:
            tell("training")
        else:
            first_step = int(checkpoint.name.rpartition("-")[2])
            tell(f"going on after step {first_step}")
        before = read_note(out).get("before")
        if held_out and before is None:
            before = _measure(trainer)
            write_note(out, settings, before=before)
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        after = _measure(trainer) if held_out else None
        history = [row for row in trainer.state.log_history if "step" in row]
        _save_adapter(trainer, tokenizer, source, out)
    with (out / HISTORY).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in history)
    steps = int(trainer.state.global_step)
    write_note(out, settings, {"before": before, "after": after, "steps": steps}, before)
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    return Trained(out, before, after, steps, history, resumed=first_step)


def _describe_run(
    rows: Sequence[Row],
    held_out: Sequence[Row],
    recipe: TrainingRecipe,
    loss: Loss,
    source: ModelSource,
) -> dict[str, Any]:
    """What a run depends on; a stopped run goes on only if all of it is the same."""
    return {
        **recipe.model_dump(),
        "form": loss.form,
        "noise": 0.0 if loss.form == "dpo" else loss.noise,
        "weights": fingerprint(source),
        "pairs": _hash_rows(rows),
        "held_out": _hash_rows(held_out),
    }


def _hash_rows(rows: Sequence[Row]) -> str:
    """A hash of pairs in their order."""
    text = "".join(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _measure(trainer: Any) -> Measures:
    """Loss, margin and accuracy on the held-out pairs."""
    results = trainer.evaluate()
    return {name: float(results[key]) for name, key in _MEASURES.items()}


def _save_adapter(trainer: Any, tokenizer: Any, source: ModelSource, out: Path) -> None:
    model = trainer.accelerator.unwrap_model(trainer.model)
    model.peft_config["default"].base_model_name_or_path = base_name(source)
    model.save_pretrained(out, selected_adapters=["default"])
    tokenizer.save_pretrained(out)
    # peft writes an empty form of a model card.
    (out / "README.md").unlink(missing_ok=True)


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Keep transformers, datasets and TRL from drawing bars, and peft from warning about GGUF."""
    from datasets.utils.logging import disable_progress_bar, enable_progress_bar

    tqdm_disable = os.environ.get("TQDM_DISABLE")
    os.environ["TQDM_DISABLE"] = "1"
    disable_progress_bar()
    try:
        with quiet(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Could not find a config file")
            yield
    finally:
        enable_progress_bar()
        if tqdm_disable is None:
            del os.environ["TQDM_DISABLE"]

"""Training a policy from preference pairs, to an adapter in a folder."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.errors import MissingExtra
from darc.models.transformers.loading import fingerprint, quiet
from darc.training import folder as place
from darc.training.base import (
    base_name,
    check_machine,
    count_parameters,
    load_base,
    need_training,
    source_of,
    this_machine,
)
from darc.training.preferences import Row
from darc.training.recipe import Loss, TrainingRecipe
from darc.training.trainer import Report, make_trainer
from darc.views.palette import CHOICE, GRID, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Trained:
    """What came out: held-out loss, margin and accuracy before and after, None without such pairs.

    `history` is the trainer's log, one entry a step or evaluation.
    """

    path: Path
    before: dict[str, float] | None
    after: dict[str, float] | None
    steps: int
    history: list[dict[str, Any]]
    resumed: int


def check_training(recipe: TrainingRecipe) -> None:
    """Refuse what cannot be trained here; nothing is loaded but headers of files."""
    need_training("training")
    source = source_of(recipe.model)
    machine = this_machine()
    # A missing GPU is said before the model is looked for.
    check_machine(recipe, None, machine)
    check_machine(recipe, count_parameters(source), machine)


def train(
    rows: Sequence[Row],
    held_out: Sequence[Row],
    recipe: TrainingRecipe,
    loss: Loss,
    out: Path,
    report: Report | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Trained:
    """Train an adapter into a folder, or go on where a stopped run wrote its last checkpoint.

    The folder becomes an adapter that `transformers:OUT` loads; checkpoints are removed at the end.
    """
    check_training(recipe)
    source = source_of(recipe.model)
    settings = {
        **recipe.plain(),
        "form": loss.form,
        "noise": loss.noise if loss.form != "dpo" else 0.0,
        "weights": fingerprint(source),
        "pairs": rows_hash(rows),
        "held_out": rows_hash(held_out),
    }
    if place.open_folder(out, settings):
        return _known(out)
    with _silent():
        tell(f"loading {source.text}")
        model, tokenizer = load_base(source, recipe, out / "base")
        tell(f"asking the reference about {len(rows) + len(held_out)} pairs")
        trainer = make_trainer(
            model, tokenizer, rows, held_out, recipe, loss, out / place.CHECKPOINTS, report
        )
        checkpoint = place.last_checkpoint(out)
        begun = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
        tell(f"going on after step {begun}" if checkpoint else "training")
        before = _first(out, trainer) if held_out else None
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        after = _measured(trainer.evaluate()) if held_out else None
        history = [row for row in trainer.state.log_history if "step" in row]
        save_adapter(trainer, tokenizer, base_name(source), out)
    with (out / place.HISTORY).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in history)
    steps = int(trainer.state.global_step)
    place.write_note(out, settings, {"before": before, "after": after, "steps": steps})
    shutil.rmtree(out / place.CHECKPOINTS, ignore_errors=True)
    shutil.rmtree(out / "base", ignore_errors=True)
    (out / place.BEFORE).unlink(missing_ok=True)
    return Trained(out, before, after, steps, history, begun)


def save_adapter(trainer: Any, tokenizer: Any, base: str, out: Path) -> None:
    """Write adapter and tokenizer; the base is named as it can be found again."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    model.peft_config["default"].base_model_name_or_path = base
    model.save_pretrained(out, selected_adapters=["default"])
    tokenizer.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)


def rows_hash(rows: Sequence[Row]) -> str:
    """A hash of pairs in their order."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode())
    return digest.hexdigest()[:16]


def _first(out: Path, trainer: Any) -> dict[str, float]:
    """The held-out measures of the untrained policy, measured once in the life of a run."""
    kept = out / place.BEFORE
    if not kept.is_file():
        temporary = kept.with_suffix(".new")
        temporary.write_text(json.dumps(_measured(trainer.evaluate())), encoding="utf-8")
        temporary.replace(kept)
    return place.read_before(out)


def _measured(metrics: dict[str, float]) -> dict[str, float]:
    keys = {
        "loss": "eval_loss",
        "margin": "eval_rewards/margins",
        "accuracy": "eval_rewards/accuracies",
    }
    return {name: float(metrics[key]) for name, key in keys.items()}


def _known(out: Path) -> Trained:
    done, history = place.read_complete(out)
    return Trained(out, done["before"], done["after"], done["steps"], history, done["steps"])


@contextmanager
def _silent() -> Iterator[None]:
    """Keep transformers, datasets and TRL from drawing bars meanwhile."""
    import os

    from datasets.utils.logging import disable_progress_bar, enable_progress_bar

    before = os.environ.get("TQDM_DISABLE")
    os.environ["TQDM_DISABLE"] = "1"
    disable_progress_bar()
    try:
        with quiet():
            yield
    finally:
        enable_progress_bar()
        if before is None:
            del os.environ["TQDM_DISABLE"]


@dataclass(frozen=True)
class Curve:
    """Points (step, number) of the pairs trained on and of the held-out ones."""

    name: str
    trained: Sequence[tuple[int, float]]
    held_out: Sequence[tuple[int, float]]


def curves(history: Sequence[dict[str, Any]]) -> list[Curve]:
    """Loss and margin from a trainer's log."""
    return [
        Curve(name, _points(history, key), _points(history, f"eval_{key}"))
        for name, key in (("loss", "loss"), ("margin", "rewards/margins"))
    ]


def draw_curves(found: Sequence[Curve], title: str) -> "Figure":
    """A figure with one plot a curve."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MissingExtra("drawing a picture", "plot") from None
    figure = Figure(figsize=(9.6, 3.8), dpi=150, layout="constrained")
    for number, curve in enumerate(found, 1):
        axes = figure.add_subplot(1, len(found), number)
        if curve.name == "margin":
            axes.axhline(0.0, color=GRID, lw=1.0)
        if curve.trained:
            steps, numbers = zip(*curve.trained, strict=True)
            axes.plot(steps, numbers, color=PALE, lw=1.2, label="trained on")
        if curve.held_out:
            steps, numbers = zip(*curve.held_out, strict=True)
            axes.plot(steps, numbers, color=CHOICE, lw=1.6, marker="o", ms=4, label="held out")
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_title(curve.name, loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=11)
    return figure


def _points(history: Sequence[dict[str, Any]], key: str) -> list[tuple[int, float]]:
    return [(int(row["step"]), float(row[key])) for row in history if key in row]

"""Training a policy from preference pairs, to an adapter in a folder; a stopped run goes on."""

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.errors import InputError, TableError, extra_needed
from darc.files import atomic_writer, json_lines, read_json
from darc.models.transformers.loading import fingerprint, quiet
from darc.train.preferences import Row
from darc.train.recipe import Loss, TrainingRecipe
from darc.train.trainer import Report, base_name, check_training, load_base, make_trainer
from darc.views.palette import CHOICE, GRID, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTE = "training.json"
HISTORY = "history.jsonl"
CHECKPOINTS = "checkpoints"
STATE = "trainer_state.json"
AGAIN = "remove the folder to train again, or give another --out"
MEASURES = {
    "loss": "eval_loss",
    "margin": "eval_rewards/margins",
    "accuracy": "eval_rewards/accuracies",
}


Measures = dict[str, float]


@dataclass(frozen=True)
class Trained:
    """What came out: held-out loss, margin and accuracy before and after, None without such pairs.

    `history` is the trainer's log, one entry a step or evaluation.
    """

    path: Path
    before: Measures | None
    after: Measures | None
    steps: int
    history: list[dict[str, Any]]
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
    """Train an adapter into a folder, or go on where a stopped run wrote its last checkpoint.

    The folder becomes an adapter that `transformers:OUT` loads; checkpoints are removed at the end.
    """
    source = check_training(recipe)
    settings = {
        **recipe.model_dump(),
        "form": loss.form,
        "noise": loss.noise if loss.form != "dpo" else 0.0,
        "weights": fingerprint(source),
        "pairs": _rows_hash(rows),
        "held_out": _rows_hash(held_out),
    }
    if open_folder(out, settings):
        done, history = read_complete(out)
        return Trained(out, done["before"], done["after"], done["steps"], history, done["steps"])
    with _silent():
        tell(f"loading {source.text}")
        model, tokenizer = load_base(source, recipe)
        tell(f"asking the reference about {len(rows) + len(held_out)} pairs")
        trainer = make_trainer(
            model, tokenizer, rows, held_out, recipe, loss, out / CHECKPOINTS, report
        )
        checkpoint = last_checkpoint(out)
        begun = int(checkpoint.name.rpartition("-")[2]) if checkpoint else 0
        tell(f"going on after step {begun}" if checkpoint else "training")
        before = read_note(out).get("before")
        if held_out and before is None:
            before = _measured(trainer)
            write_note(out, settings, before=before)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        after = _measured(trainer) if held_out else None
        history = [row for row in trainer.state.log_history if "step" in row]
        adapted = trainer.accelerator.unwrap_model(trainer.model)
        adapted.peft_config["default"].base_model_name_or_path = base_name(source)
        adapted.save_pretrained(out, selected_adapters=["default"])
        tokenizer.save_pretrained(out)
        (out / "README.md").unlink(missing_ok=True)
    with (out / HISTORY).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in history)
    steps = int(trainer.state.global_step)
    write_note(out, settings, {"before": before, "after": after, "steps": steps}, before)
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    return Trained(out, before, after, steps, history, begun)


def _rows_hash(rows: Sequence[Row]) -> str:
    """A hash of pairs in their order."""
    text = "".join(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _measured(trainer: Any) -> Measures:
    found = trainer.evaluate()
    return {name: float(found[key]) for name, key in MEASURES.items()}


@contextmanager
def _silent() -> Iterator[None]:
    """Keep transformers, datasets and TRL from drawing bars, and peft from wondering about GGUF."""
    from datasets.utils.logging import disable_progress_bar, enable_progress_bar

    before = os.environ.get("TQDM_DISABLE")
    os.environ["TQDM_DISABLE"] = "1"
    disable_progress_bar()
    try:
        with quiet(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Could not find a config file")
            yield
    finally:
        enable_progress_bar()
        if before is None:
            del os.environ["TQDM_DISABLE"]


def open_folder(path: Path, settings: dict[str, Any]) -> bool:
    """Begin or go on with a run of these settings; True if it is complete already.

    A folder with other settings, or with something else in it, is refused.
    """
    if (path / NOTE).is_file():
        found = read_note(path)
        theirs = found.get("settings")
        if theirs != settings:
            known = theirs if isinstance(theirs, dict) else {}
            differ = sorted(k for k in {*known, *settings} if known.get(k) != settings.get(k))
            raise InputError(
                f"{path} holds a training run with other settings ({', '.join(differ)})",
                "give the same ones to go on, or another --out",
            )
        return bool(found.get("complete"))
    if path.exists() and any(path.iterdir()):
        raise InputError(f"{path} is not empty and holds no training run", "give another --out")
    path.mkdir(parents=True, exist_ok=True)
    write_note(path, settings)
    return False


def write_note(
    path: Path, settings: Row, complete: Row | None = None, before: Measures | None = None
) -> None:
    """Write what the run is made of, what the untrained policy measures, and what came out."""
    note = {"schema": 1, "settings": settings, "before": before, "complete": complete}
    with atomic_writer(path / NOTE) as file:
        json.dump(note, file, indent=2)


def read_note(path: Path) -> dict[str, Any]:
    """What `write_note` wrote."""
    note = None
    with suppress(InputError):
        note = read_json(path / NOTE)
    if not isinstance(note, dict) or note.get("schema") != 1:
        raise InputError(f"{path / NOTE} cannot be read", "give another --out")
    return note


def read_complete(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What came out of a complete run (before, after and steps), and the trainer's log."""
    done = read_note(path)["complete"]
    if not isinstance(done, dict) or not {"before", "after", "steps"} <= set(done):
        raise TableError(str(path / NOTE), "complete lacks before, after or steps", AGAIN)
    history = []
    for line, row in json_lines(path / HISTORY, AGAIN):
        if not isinstance(row, dict):
            raise TableError(str(path / HISTORY), "not a JSON object", AGAIN, line)
        history.append(row)
    return done, history


def last_checkpoint(path: Path) -> Path | None:
    """The latest checkpoint that was written whole: its state is the last of its files."""
    whole: dict[int, Path] = {}
    for folder in (path / CHECKPOINTS).glob("checkpoint-*"):
        with suppress(InputError, KeyError, TypeError):
            step = read_json(folder / STATE)["global_step"]
            if folder.name == f"checkpoint-{step}":
                whole[step] = folder
    return whole[max(whole)] if whole else None


def draw_curves(history: Sequence[dict[str, Any]], title: str) -> "Figure":
    """Loss and margin by step, from a trainer's log: of the pairs trained on and held out."""
    with extra_needed("drawing a picture", "plot"):
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    figure = Figure(figsize=(9.6, 3.8), dpi=150, layout="constrained")
    styles: dict[str, dict[str, Any]] = {
        "": {"color": PALE, "lw": 1.2, "label": "trained on"},
        "eval_": {"color": CHOICE, "lw": 1.6, "marker": "o", "ms": 4, "label": "held out"},
    }
    names = {"loss": "loss", "margin": "rewards/margins"}
    for axes, (name, key) in zip(figure.subplots(1, 2), names.items(), strict=True):
        if name == "margin":
            axes.axhline(0.0, color=GRID, lw=1.0)
        for prefix, style in styles.items():
            own = prefix + key
            if points := [(row["step"], row[own]) for row in history if own in row]:
                axes.plot(*zip(*points, strict=True), **style)
        axes.set_xlabel("step")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_title(name, loc="left", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.suptitle(title, fontsize=11)
    return figure

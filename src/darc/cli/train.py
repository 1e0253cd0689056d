"""`darc train`: policies from preference pairs, a preference, a model of atypical answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import draw, print_json, print_table, progress, say
from darc.errors import InputError, MissingExtra
from darc.settings.train import (
    CautionModelSettings,
    CdpoSettings,
    DpoSettings,
    HeadSettings,
    PolicySettings,
    PresetListSettings,
    RdpoSettings,
    RecipeSettings,
)

if TYPE_CHECKING:
    from darc.parts.scorers.caution_models import CautionModel
    from darc.train.losses import Loss
    from darc.train.recipe import TrainingRecipe

_MEASURES = ("loss", "margin", "accuracy")


def list_presets(settings: PresetListSettings) -> None:
    """Print what each preset stands for."""
    from darc.train.recipe import DATA, PRESETS

    for name, recipe in PRESETS.items():
        values = {**recipe.model_dump(), "data": DATA[name]}
        if settings.as_json:
            print_json({"preset": name, **values})
            continue
        print(name)
        for key in ("model", "data"):
            print(f"    {key}: {values.pop(key)}")
        print("    " + ", ".join(f"{key}={value}" for key, value in values.items()))


def train_dpo(settings: DpoSettings) -> None:
    """Train with plain DPO."""
    from darc.train.losses import Loss

    _train_policy(settings, Loss("dpo"))


def train_cdpo(settings: CdpoSettings) -> None:
    """Train with label smoothing."""
    from darc.train.losses import Loss

    _train_policy(settings, Loss("cdpo", settings.label_noise))


def train_rdpo(settings: RdpoSettings) -> None:
    """Train with a robust loss."""
    from darc.train.losses import Loss

    _train_policy(settings, Loss(settings.variant, settings.label_noise))


def recipe_of(settings: PolicySettings) -> "TrainingRecipe":
    """The numbers of the preset, with those that the options give."""
    from darc.train.recipe import PRESETS

    names = settings.model_fields_set & RecipeSettings.model_fields.keys()
    changes = {name: getattr(settings, name) for name in names}
    return PRESETS[settings.preset].changed(**changes)


def _train_policy(settings: PolicySettings, loss: "Loss") -> None:
    """Read the pairs, train, draw the curves, and say what came out."""
    from darc.train.curves import draw_curves
    from darc.train.dpo import train
    from darc.train.machine import check_training
    from darc.train.preferences import read_preferences, split

    recipe = recipe_of(settings)
    check_training(recipe)
    rows, held_out = split(read_preferences(settings.data), settings.held_out, recipe.seed)
    with progress(f"training {loss.form}", " steps") as report:
        result = train(rows, held_out, recipe, loss, settings.out, report, say)
    try:
        draw(result.path / "training.png", lambda: draw_curves(result.history, loss.form), "drew")
    except MissingExtra as problem:
        say(f"no picture was drawn: {problem}")
    if settings.as_json:
        fields = {
            "path": str(result.path),
            "steps": result.steps,
            "resumed_after": result.resumed,
            "before": result.before,
            "after": result.after,
            "form": loss.form,
        }
        print_json(fields)
    else:
        print(f"{loss.form}: {result.steps} steps on {len(rows)} pairs, {len(held_out)} held out")
        if result.before is not None and result.after is not None:
            _print_measures({"before": result.before, "after": result.after})
    say(f"use it: --generator transformers:{result.path}")


def _print_measures(measures: dict[str, Any]) -> None:
    """Print what was measured on held-out pairs, before and after."""
    rows: list[list[object]] = []
    for when, numbers in measures.items():
        rows.append([when, *(f"{numbers[name]:.4f}" for name in _MEASURES)])
    print_table(["held out", *_MEASURES], rows)


def train_caution(settings: CautionModelSettings) -> None:
    """Fit a model of atypical answers, write it, and say how good it is."""
    from darc.train.examples import read_examples

    _check_caution(settings)
    pairs = read_examples(settings.data)
    model = _fit_caution(settings, pairs)
    auc = {kind: round(value, 4) for kind, value in model.report["auc"].items()}
    if settings.as_json:
        print_json({**model.report, "auc": auc, "form": model.form})
    else:
        print(f"{model.form}: {model.report['fitted']} typical answers fitted")
        print(f"AUC on {model.report['held_out']} held-out answers against negatives:")
        for kind, value in auc.items():
            print(f"  {kind:12} {value:.3f}")
    say(f"use it: --rule caution --side atypicality=caution:{settings.out}")


def _check_caution(settings: CautionModelSettings) -> None:
    """Refuse options that contradict each other."""
    is_encoder = settings.form == "encoder"
    if is_encoder != (settings.encoder is not None):
        raise InputError(
            "--encoder and --form encoder go together", "give both: --form encoder --encoder MODEL"
        )
    if settings.target and settings.form != "features":
        raise InputError("--target is for --form features", "leave it out")
    if not is_encoder:
        _check_out(settings.out, ".json")
    elif settings.out.is_file():
        raise InputError(f"{settings.out} is a file", "give a folder")


def _fit_caution(settings: CautionModelSettings, pairs: Any) -> "CautionModel":
    """Fit the model and write it."""
    from darc.parts.scorers.caution_models import write_model
    from darc.train.caution import fit_classifier, fit_predictor
    from darc.train.caution_encoder import fit_encoder

    if settings.form == "encoder":
        assert settings.encoder is not None
        return fit_encoder(
            pairs,
            settings.encoder,
            settings.out,
            seed=settings.seed,
            epochs=settings.max_epochs,
            tell=say,
        )
    model: CautionModel
    if settings.form == "features":
        model = fit_predictor(pairs, settings.seed, target=settings.target, tell=say)
    else:
        model = fit_classifier(pairs, settings.seed, tell=say)
    write_model(model, settings.out)
    return model


def train_head(settings: HeadSettings) -> None:
    """Fit a preference, write it, and say how often it is right."""
    from darc.parts.scorers.head import write_preference
    from darc.train.head import fit_head, read_pairs

    _check_out(settings.out, ".npz")
    pairs = read_pairs(settings.pairs, settings.texts)
    model = fit_head(pairs, seed=settings.seed, tell=say)
    write_preference(model, settings.out)
    report = model.report
    if settings.as_json:
        print_json(report)
    else:
        print(f"fitted to {report['pairs']} pairs of {report['prompts']} prompts")
        print(
            f"right about {report['accuracy']:.3f} of held-out pairs "
            f"(95 % interval {report['low']:.3f} to {report['high']:.3f}; 0.5 is chance)"
        )
    say(f"use it: --scorer head:{settings.out}")


def _check_out(path: Path, ending: str) -> None:
    """Refuse a file that could not be written or read again."""
    if path.suffix != ending:
        raise InputError(f"{path} does not end in {ending}", f"name a {ending} file")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}", "create it first")


_RESUMABLE = "go on with the same command"
ACTIONS = {
    "dpo": Command(DpoSettings, train_dpo, _RESUMABLE),
    "cdpo": Command(CdpoSettings, train_cdpo, _RESUMABLE),
    "rdpo": Command(RdpoSettings, train_rdpo, _RESUMABLE),
    "caution": Command(CautionModelSettings, train_caution),
    "head": Command(HeadSettings, train_head),
    "presets": Command(PresetListSettings, list_presets),
}

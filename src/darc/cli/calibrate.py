"""`darc calibrate`: learn from ratings what the default rule goes by."""

import math
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import print_json, print_table, say
from darc.cli.sources import load_source, say_notes
from darc.errors import InputError
from darc.settings.calibrate import CalibrateSettings

if TYPE_CHECKING:
    from darc.decide.model.calibration import Calibration
    from darc.decide.model.calibration_file import Calibrations
    from darc.ratings.ratings import Ratings

# Half the width of a 95 % interval, in standard errors.
NORMAL = 1.96
# What of a calibration is printed as JSON.
_JSON_FIELDS = (
    "lam",
    "weight",
    "shrink",
    "intervals",
    "reliability",
    "check",
    "shared",
    "inflation",
    "share_different",
    "spread_alike",
    "sigma_df_factor",
    "earned",
)
# Of how many numbers of ratings the weights are printed.
_MOST_COUNTS = 20


def run(settings: CalibrateSettings) -> None:
    """Learn a calibration or read one, write it, and say what it contains."""
    if (settings.show is None) == (settings.source is None):
        raise InputError("give a source to learn from, or --show", "see darc calibrate --help")
    if settings.show is not None:
        calibrations, title = _read(settings.show)
    else:
        calibrations, title = _learn(settings)
        if settings.out is not None:
            calibrations.save(settings.out)
    if settings.as_json:
        print_json(_json_fields(calibrations))
    else:
        print(title)
        for scorer, calibration in calibrations.by_scorer.items():
            print()
            if scorer:
                print(f"scorer {scorer}")
            _print(calibration, settings.top)
            _print_judges(calibration, was_given=bool(settings.judges))
    if settings.show is None and settings.out is not None:
        sys.stdout.flush()
        say(f"wrote the calibration to {settings.out}")


def _read(file: str) -> "tuple[Calibrations, str]":
    """The calibrations of a file and a title; without a file, those that DARC starts with."""
    from darc.decide.model.calibration import DEFAULT
    from darc.decide.model.calibration_file import Calibrations

    if not file:
        return Calibrations({"": DEFAULT}), "the calibration that DARC starts with"
    calibrations = Calibrations.load(file)
    say_notes(calibrations)
    return calibrations, file


def _learn(settings: CalibrateSettings) -> "tuple[Calibrations, str]":
    """Learn calibrations, and say from what."""
    from darc.analysis.calibrating import calibrate_against, calibrate_ratings
    from darc.analysis.judge_sources import load_judges

    assert settings.source is not None
    source = load_source(settings.source, settings)
    if len(source.prompt_ids) < 2:
        raise InputError(f"{settings.source} has one prompt", "give the ratings of many prompts")
    if settings.judges and settings.ratings is not None:
        raise InputError(
            "--judge and ratings of a run are two ways to say the same",
            "give people's ratings first, and the run after --judge",
        )
    if settings.ratings is None:
        judgements = None
        if settings.judges:
            judgements = load_judges(settings.judges, settings.source)
        return calibrate_ratings(source, settings.lam, judgements), _counted(source)
    people = load_source(settings.ratings, settings)
    calibrations = calibrate_against(source, people, settings.lam)
    return calibrations, f"{_counted(source)}; judged by {_counted(people)}"


def _json_fields(calibrations: "Calibrations") -> dict[str, Any]:
    """Everything about the calibrations of all scorers."""
    scorers: dict[str, Any] = {}
    for scorer, calibration in calibrations.by_scorer.items():
        fields = {name: getattr(calibration, name) for name in _JSON_FIELDS}
        # Files of older versions have an interval of the weight, which covered nothing.
        fields["intervals"] = {
            name: interval for name, interval in calibration.intervals.items() if name != "weight"
        }
        fields["judges"] = None if calibration.judges is None else asdict(calibration.judges)
        scorers[scorer] = fields | _entries(calibration)
        if calibration.groups is not None:
            scorers[scorer]["groups"] = {
                "effects": dict(calibration.groups.effects),
                "ratio": calibration.groups.ratio,
                "words": calibration.groups.in_words(),
            }
    return {"digest": calibrations.digest, "scorers": scorers}


def _counted(source: "Ratings") -> str:
    """The name and the size of a source in words."""
    import numpy as np

    present = ~np.isnan(source.samples)
    count = int(present.sum())
    candidates = int(present.any(axis=(1, 3)).sum())
    sizes = f"{source.name}: {len(source.prompt_ids)} prompts, {candidates} candidates"
    if source.has_raters:
        return f"{sizes}, {count} ratings by {len(source.rater_names)} raters"
    return f"{sizes}, {count} scores"


def _print(calibration: "Calibration", top: int) -> None:
    """Print what a calibration contains."""
    _print_weights(calibration)
    _print_division(calibration)
    entries = _entries(calibration)
    _print_raters(entries["raters"], top)
    _print_systems(calibration, entries["systems"], top)
    _print_groups(calibration)
    if calibration.promise is not None:
        print(f"Answers are held back: {calibration.promise.in_words()}")


def _print_groups(calibration: "Calibration") -> None:
    """Print what each group of raters adds, and how far groups differ on single answers."""
    model = calibration.groups
    if model is None:
        return
    print("Groups of raters: how far below or above others each rates")
    rows = sorted(model.effects.items(), key=lambda pair: pair[1])
    print_table(["group", "offset"], [[name, f"{effect:+.3f}"] for name, effect in rows])
    words = model.in_words()
    print(f"{words[0].upper()}{words[1:]} (ratio of variances {min(model.ratio, 99):.2g}).")


def _print_judges(calibration: "Calibration", *, was_given: bool) -> None:
    """Print what judgements are worth, or why it was not learnt."""
    from darc.decide.evidence.prediction import FEWEST_PROMPTS

    judges = calibration.judges
    if judges is None:
        if was_given:
            print(
                f"Below {FEWEST_PROMPTS} prompts nothing is learnt about judges: they are not used."
            )
        return
    print(judges.worth_in_words())
    print(
        f"The prediction from {len(judges.weights)} judgements is believed to "
        f"{judges.trust:.0%}; a rating is {judges.ratio:.1f} times as noisy as answers differ."
    )


def _print_weights(calibration: "Calibration") -> None:
    """Print how reliable disagreement is, and how much it weighs."""
    from darc.decide.model.calibration import LOST

    reliability = f"{calibration.reliability:.3f}"
    if "reliability" in calibration.intervals:
        low, high = calibration.intervals["reliability"]
        reliability += f" [{low:.3f}, {high:.3f}]"
    print(f"Reliability of disagreement: {reliability}")
    counts = list(calibration.weight) or [2, 3, 5, 10, 20]
    weight, shrink = calibration.by_count(max(counts))
    print(f"Weight of disagreement beside the mean, at lam = {calibration.lam:g}:")
    rows = [[n, f"{weight[n]:.3f}", f"{shrink[n]:.2f}"] for n in counts[:_MOST_COUNTS]]
    print_table(["ratings", "weight", "share of the mean kept"], rows)
    if len(counts) > _MOST_COUNTS:
        print(f"and {len(counts) - _MOST_COUNTS} more")
    if calibration.check < LOST:
        print(
            "Choosing by disagreement lost to the mean on other raters "
            f"(z {calibration.check:.1f}), so it has no weight."
        )
    if not calibration.earned:
        print(
            "With three ratings each, choosing by disagreement gained nothing that the rating left "
            "out confirmed, so it has no weight there."
        )


def _print_division(calibration: "Calibration") -> None:
    """Print how answers divide people, which decides whether the ratings of a prompt prove it."""
    print(
        "Prompts whose answers divide people differently: about "
        f"{calibration.share_different:.0%}; on the others all answers divide people about equally."
    )
    print(
        "There the standard deviations of two answers' ratings typically differ by "
        f"{_typical_ratio(calibration.spread_alike):.0%}."
    )
    print(
        f"A standard deviation of ratings says {calibration.sigma_df_factor:.0%} of what it would "
        "if ratings were normally distributed."
    )


def _typical_ratio(spread: float) -> float:
    """By what share two numbers typically differ whose logarithms have this deviation."""
    return math.expm1(spread * math.sqrt(2))


def _print_raters(raters: list[dict[str, Any]], top: int) -> None:
    """Print how severe the raters are."""
    if not raters:
        print("No rater is known.")
    elif not any(rater["offset"] for rater in raters):
        print(f"Severity: {len(raters)} raters, none found more severe than another.")
    else:
        print(f"Severity: how far below or above others each of {len(raters)} raters rates")
        _print_ends(raters, top, "most severe", "most lenient")


def _print_systems(calibration: "Calibration", systems: list[dict[str, Any]], top: int) -> None:
    """Print how good the systems are."""
    from darc.decide.model.learning import PANEL

    if calibration.inflation > PANEL:
        print(
            "Systems are left out: the same few raters gave their ratings (noise times "
            f"{calibration.inflation:.1f})."
        )
    elif systems and not any(system["offset"] for system in systems):
        print(f"Systems: {len(systems)}, none found better than another.")
    elif systems:
        print(f"Systems: how far below or above others each of {len(systems)} is")
        _print_ends(systems, top, "lowest", "highest")


def _entries(calibration: "Calibration") -> dict[str, list[dict[str, Any]]]:
    """The raters and the systems with their offsets and intervals, the lowest first."""
    systems = {name: effect[0] for name, effect in calibration.systems.items()}
    return {
        "raters": _offsets("rater", calibration.raters, calibration.rater_errors),
        "systems": _offsets("system", systems, calibration.system_errors),
    }


def _offsets(
    noun: str, offsets: Mapping[str, float], errors: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Offsets with their intervals, the lowest first."""
    entries: list[dict[str, Any]] = []
    for name, offset in sorted(offsets.items(), key=lambda pair: (pair[1], pair[0])):
        low = None
        high = None
        # A rater with one rating has no error, and an error of 0 is none.
        if errors.get(name, 0.0) > 0:
            low = offset - NORMAL * errors[name]
            high = offset + NORMAL * errors[name]
        entries.append({noun: name, "offset": offset, "low": low, "high": high})
    return entries


def _print_ends(entries: list[dict[str, Any]], top: int, first: str, last: str) -> None:
    """Print the first and the last entries, or all where they are few."""
    between = len(entries) - 2 * top
    if between <= 0:
        _print_offsets(entries, first)
        return
    _print_offsets(entries[:top], first)
    _print_offsets(entries[: -top - 1 : -1], last)
    print(f"and {between} between them")


def _print_offsets(entries: list[dict[str, Any]], title: str) -> None:
    """Print offsets with their intervals."""
    rows: list[list[object]] = []
    for name, offset, low, high in (entry.values() for entry in entries):
        interval = "-"
        if low is not None:
            interval = f"[{low:+.3f}, {high:+.3f}]"
        rows.append([name, f"{offset:+.3f}", interval])
    print_table([f"{title} first", "offset", "95 % interval"], rows)


COMMAND = Command(CalibrateSettings, run)

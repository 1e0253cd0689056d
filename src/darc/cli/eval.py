"""`darc eval`: compare rules on held-out ratings, with tables and a report."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.choosing import note_wording
from darc.cli.commands import Command
from darc.cli.output import print_json, print_table, progress, say
from darc.cli.sources import load_source, read_calibrations
from darc.settings.evaluate import EvaluateCommandSettings
from darc.settings.validation import validate_settings

if TYPE_CHECKING:
    from darc.analysis.evaluate.contest import Contest
    from darc.analysis.evaluate.evaluation import Evaluation
    from darc.analysis.evaluate.settings import ContestSettings
    from darc.analysis.evaluate.with_judge import PoweredRule
    from darc.analysis.frame import Frame
    from darc.analysis.tune.advice import Advice
    from darc.ratings.ratings import Ratings

# Fields of the evaluation that have the same name in the settings of the command.
_SAME_NAMES = (
    "rules",
    "caution",
    "beta",
    "gamma",
    "normalize",
    "split",
    "sigma",
    "subset",
    "outcome",
    "draws",
    "seed",
)


def run(settings: EvaluateCommandSettings) -> None:
    """Read the ratings, evaluate the rules, print and write."""
    if settings.check_paper:
        _check_paper(settings)
        return
    from darc.analysis.evaluate.evaluation import evaluate
    from darc.analysis.evaluate.verdict import summary, verdict_rows, verdicts

    contest_settings = contest_settings_of(settings)
    sources = [
        _with_prediction(
            load_source(path, settings, settings.texts), path, settings, contest_settings
        )
        for path in settings.sources
    ]
    if settings.caution is not None and not any(source.has_raters for source in sources):
        note_wording("rewrite")
    with_ablations = settings.as_json or settings.out is not None
    with progress("evaluating", " tables") as report:
        evaluation = evaluate(sources, contest_settings, report, ablations=with_ablations)
    advices = [_advise(source, contest_settings) for source in sources]
    opening: list[str] = []
    for advice in advices:
        opening += [advice.headline, advice.cost]
    all_verdicts = verdicts(evaluation)
    powered = _with_judges(evaluation, settings)
    sentences = summary(evaluation, all_verdicts, opening)
    if settings.out is not None:
        _write_report(evaluation, sentences, all_verdicts, settings)
    if settings.as_json:
        fields = _json_fields(evaluation, sentences, advices, verdict_rows(all_verdicts))
        if powered:
            fields["with_judge"] = [asdict(rule) for rule in powered]
        print_json(fields)
    else:
        _print(evaluation, sentences, settings.out)
        _print_powered(powered)


def _with_prediction(
    source: "Ratings",
    path: Path,
    settings: EvaluateCommandSettings,
    contest_settings: "ContestSettings",
) -> "Ratings":
    """People's ratings with what judges predict of them, if the calibration has learnt that."""
    calibrations = contest_settings.calibrations
    if calibrations is None or not settings.judges or source.kind != "rater":
        return source
    (calibration, *others) = calibrations.by_scorer.values()
    if others or calibration.judges is None:
        return source
    from darc.analysis.judge_sources import load_judges
    from darc.decide.evidence.judgements import PREDICTION

    judgements = load_judges([str(judge) for judge in settings.judges], path, settings.texts)
    prediction = calibration.judges.predict(judgements.matched(source))
    return replace(source, side={**source.side, PREDICTION: prediction})


def _with_judges(
    evaluation: "Evaluation", settings: EvaluateCommandSettings
) -> "list[PoweredRule]":
    """What people and judges say together about each rule, nothing without judges."""
    if not settings.judges:
        return []
    from darc.analysis.evaluate.with_judge import evaluate_with_judge
    from darc.analysis.reading import load_ratings

    judges = [load_ratings(path, system=settings.system) for path in settings.judges]
    return evaluate_with_judge(evaluation, judges)


def _print_powered(rules: "list[PoweredRule]") -> None:
    """Print the means and changes that use a judge's grades."""
    for source in dict.fromkeys(rule.source for rule in rules):
        of_source = [rule for rule in rules if rule.source == source]
        judged = max(rule.mean.judged_only for rule in of_source)
        rated = max(rule.mean.rated for rule in of_source)
        print(
            f"\n{source}, with the judge's grades of {judged} more prompts (people rated {rated}; "
            "PPI++)"
        )
        rows: list[list[object]] = []
        for rule in of_source:
            people_change = "-"
            change = "-"
            if rule.change is not None:
                people_change = _interval(
                    rule.change.people_mean, rule.change.people_low, rule.change.people_high, "+"
                )
                change = _interval(rule.change.mean, rule.change.low, rule.change.high, "+")
            mean = rule.mean
            rows.append(
                [
                    rule.rule,
                    _interval(mean.people_mean, mean.people_low, mean.people_high),
                    _interval(mean.mean, mean.low, mean.high),
                    people_change,
                    change,
                ]
            )
        header = ["rule", "people alone", "people and judge", "change, people", "change, both"]
        print_table(header, rows)
    if rules:
        print(
            "95 % intervals, each by itself; they hold if the prompts that people rated are a "
            "random part, whatever the judge is"
        )


def _interval(value: float, low: float, high: float, sign: str = "") -> str:
    """A number with its interval, the sign shown if it is a change."""
    # Adding 0 turns -0.0 into 0.0.
    numbers = [f"{round(number, 3) + 0.0:{sign}.3f}" for number in (value, low, high)]
    return f"{numbers[0]} [{numbers[1]}, {numbers[2]}]"


def contest_settings_of(settings: EvaluateCommandSettings) -> "ContestSettings":
    """The settings of the evaluation itself."""
    from darc.analysis.evaluate.settings import ContestSettings
    from darc.ratings.prompt_ids import read_prompt_ids

    values = {name: getattr(settings, name) for name in _SAME_NAMES}
    values["calibrations"] = read_calibrations(settings.calibration)
    values["lam"] = settings.lam
    if settings.lambda_by_median:
        values["lam"] = None
    values["splits"] = settings.splits
    values["tie_threshold"] = settings.tie_threshold
    if settings.stress_slice is not None:
        values["stress"] = read_prompt_ids(settings.stress_slice)
    return validate_settings(ContestSettings, values)


def _advise(source: "Ratings", settings: "ContestSettings") -> "Advice":
    """Which rule suits a source."""
    from darc.analysis.tune.advice import advise
    from darc.analysis.tune.objective import Objective

    objective = None
    if settings.lam not in (None, 2.0):
        objective = Objective(lam=settings.lam)
    with progress(f"comparing rules on {source.name}", " settings") as report:
        return advise(
            source,
            objective,
            seed=settings.seed,
            split=settings.split,
            caution=settings.caution,
            progress=report,
        )


def _write_report(
    evaluation: "Evaluation",
    sentences: Sequence[str],
    verdicts: Any,
    settings: EvaluateCommandSettings,
) -> None:
    """Write the report with every table and figure."""
    from darc import __version__
    from darc.analysis.report.folder import write_evaluation
    from darc.analysis.report.sources import write_report_sources

    assert settings.out is not None
    with progress("drawing", " figures") as report:
        paths = write_evaluation(
            evaluation, sentences, settings.out, __version__, settings.figures, report, verdicts
        )
    paths.append(write_report_sources(settings.sources, settings.out))
    say(f"wrote {len(paths)} files to {settings.out}")


def _json_fields(
    evaluation: "Evaluation",
    sentences: Sequence[str],
    advices: "Sequence[Advice]",
    verdicts: Sequence[Any],
) -> dict[str, Any]:
    """Everything that an evaluation found."""
    frames = {
        frame.name: {"title": frame.title, "note": frame.note, "rows": frame.records()}
        for frame in evaluation.frames
    }
    return {
        "summary": sentences,
        "advice": [advice.as_json() for advice in advices],
        "warnings": evaluation.warnings,
        "verdicts": verdicts,
        "frames": frames,
    }


def _check_paper(settings: EvaluateCommandSettings) -> None:
    """Recompute the published tables, and say which cells do not follow."""
    from darc.analysis.frame import write_frames
    from darc.analysis.paper import checks_summary, checks_table, paper_checks

    checks = paper_checks()
    if settings.out is not None:
        write_frames([checks_table(checks)], settings.out)
    if settings.as_json:
        print_json(checks_table(checks).records())
    else:
        print(checks_summary(checks))


def _print(evaluation: "Evaluation", sentences: Sequence[str], folder: Path | None) -> None:
    """Print what the data say, the numbers behind it, where the rest is, and the warnings."""
    print("\n".join(sentences), end="\n\n")
    main = evaluation.frame("main")
    human = evaluation.frame("human")
    if main is not None and human is not None:
        print(human.note)
        for contest in evaluation.contests:
            for subset in contest.subsets:
                rows = {"source": contest.ratings.name, "subset": subset}
                print()
                _print_subset(contest, subset, main.where(**rows), human.where(**rows))
        print()
    if folder is not None:
        print(f"the report is {folder / 'report.html'}")
        print(f"tables in {folder}: {', '.join(frame.name for frame in evaluation.frames)}")
    for warning in _merged_warnings(evaluation.warnings):
        print(f"warning: {warning}")


def _merged_warnings(warnings: Sequence[str]) -> list[str]:
    """The warnings, with all rules of a source that were not run in one of them."""
    rules: dict[str, list[str]] = {}
    for warning in warnings:
        subject, separator, reason = warning.partition(" was not run: ")
        if not separator:
            rules.setdefault(warning, [])
            continue
        source, _, rule = subject.rpartition(": ")
        rules.setdefault(f"{source}: not run: ", []).append(f"{rule} ({reason})")
    return [start + ", ".join(reasons) for start, reasons in rules.items()]


def _print_subset(contest: "Contest", subset: str, main: "Frame", human: "Frame") -> None:
    """Print the table of one source and one subset of its prompts."""
    tail = contest.settings.tail_name
    same_as_baseline = _methods_like_baseline(contest)
    rows: list[list[object]] = []
    for main_record, human_record in zip(main.records(), human.records(), strict=True):
        record = {**_rounded(main_record), **_rounded(human_record)}
        if record["method"] in same_as_baseline:
            continue
        numbers = [
            record[name] for name in ("method", "reward", "risk", "tradeoff", tail, "length")
        ]
        changes = [_change(record, name) for name in ("mean", "tradeoff", tail)]
        if "worst_group" in record:
            changes.append(_change(record, "worst_group"))
        counts = "/".join(f"{record[name]:.0f}" for name in ("win", "tie", "loss"))
        rows.append([*numbers, *changes, counts])
    print(f"{contest.ratings.name}, {subset}, {main.column('prompts')[0]:g} prompts")
    header = ["rule", "reward", "risk", "tradeoff", tail, contest.ratings.length_unit]
    header += ["reward change", "tradeoff change", f"{tail} change"]
    if contest.by_group is not None:
        header.append("worst group change")
    header.append("win/tie/loss")
    print_table(header, rows)
    if same_as_baseline:
        print(f"the same choices as Best-of-K: {', '.join(same_as_baseline)}")


def _methods_like_baseline(contest: "Contest") -> list[str]:
    """The methods that always choose as Best-of-K does, which is the first one."""
    baseline = contest.choice[:, 0]
    return [
        name
        for place, name in enumerate(contest.methods)
        if place and (contest.choice[:, place] == baseline).all()
    ]


def _rounded(record: dict[str, Any]) -> dict[str, Any]:
    """A row whose last digits do not depend on the order of summation."""
    rounded: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, float):
            # Adding 0 turns -0.0 into 0.0.
            value = round(value, 9) + 0.0
        rounded[name] = value
    return rounded


def _change(record: dict[str, Any], name: str) -> str:
    """A difference with its interval, starred where the interval excludes 0."""
    delta = record[f"delta_{name}"]
    low = record[f"low_{name}"]
    high = record[f"high_{name}"]
    if delta is None:
        return "-"
    if low is None or high is None:
        return f"{delta:+.3f}"
    star = " "
    if low > 0 or high < 0:
        star = "*"
    return f"{delta:+.3f}{star}[{low:+.3f}, {high:+.3f}]"


COMMAND = Command(EvaluateCommandSettings, run)

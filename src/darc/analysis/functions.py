"""`darc eval`, `diagnose`, `tune` and `compare` for notebooks: results that show themselves."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.analysis.frame import Frame
from darc.decide.evidence.promise import PromiseKind
from darc.errors import InputError, UnknownName
from darc.ratings.ratings import Ratings
from darc.views.chart import ShownFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A path, `Ratings`, a data frame of pandas or polars, or a list of mappings.
RatingsInput = Any

_PARAGRAPHS = "{% for sentence in sentences %}<p>{{ sentence }}</p>{% endfor %}"


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What an analysis says: sentences, tables and pictures."""

    #: What it says in words.
    sentences: tuple[str, ...]
    #: Its tables by name, the most important one first.
    tables: Mapping[str, Frame]
    #: What the analysis itself returns, with everything that it knows.
    result: Any
    # Draws its pictures, by name.
    _draw_figures: Callable[[], Mapping[str, "Figure"]]

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        from darc.analysis.report.html_tables import frame_html
        from darc.views.html import environment

        html = environment().from_string(_PARAGRAPHS).render(sentences=self.sentences)
        first_table = next(iter(self.tables.values()), None)
        if first_table is not None:
            html += frame_html(first_table)
        return str(html)

    def plot(self, name: str = "") -> ShownFigure:
        """Draw a picture, the first one unless it is named.

        Args:
            name: The name of the picture; empty for the first one.
        """
        figures = self._draw_figures()
        return ShownFigure(_by_name("picture", name, figures), name or next(iter(figures)))

    def to_pandas(self, name: str = "") -> Any:
        """Make a data frame of pandas of a table, the first one unless it is named.

        Args:
            name: The name of the table; empty for the first one.
        """
        try:
            import pandas as pd
        except ImportError:
            raise InputError("a data frame needs pandas", "pip install pandas") from None
        frame = _by_name("table", name, self.tables)
        return pd.DataFrame.from_records(frame.records(), columns=list(frame.columns))


def evaluate(*ratings: RatingsInput, rules: Sequence[str] = (), **settings: Any) -> Analysis:
    """Say which rule beats Best-of-K on ratings that did not select, as `darc eval` does.

    Args:
        *ratings: Ratings; runs and ratings of the same candidates may be given together.
        rules: The rules to compare, all without any.
        **settings: Those of `darc.analysis.evaluate.settings.ContestSettings`.

    Returns:
        An analysis whose `result` is the `Evaluation`.
    """
    from darc.analysis.evaluate import evaluation
    from darc.analysis.evaluate.settings import ContestSettings
    from darc.analysis.evaluate.verdict import summary, verdicts
    from darc.analysis.report.figures import draw_figures
    from darc.settings.validation import validate_settings

    inputs = [_load(item, number) for number, item in enumerate(ratings)]
    contest_settings = validate_settings(ContestSettings, {"rules": rules, **settings})
    result = evaluation.evaluate(inputs, contest_settings, ablations=False)
    frames = sorted(result.frames, key=lambda frame: frame.name != "human")
    return Analysis(
        sentences=tuple(summary(result, verdicts(result))),
        tables={frame.name: frame for frame in frames},
        result=result,
        _draw_figures=lambda: {
            drawing.name: drawing.figure for drawing in draw_figures(result.frames)
        },
    )


def diagnose(ratings: RatingsInput, scorer: int = 0, **options: Any) -> Analysis:
    """Say whether the raters' disagreement is signal, as `darc diagnose` does.

    Args:
        ratings: The ratings.
        scorer: The index of the scorer to look at.
        **options: Those of `darc.analysis.diagnose.diagnosis.diagnose`.

    Returns:
        An analysis whose `result` is the `Diagnosis`.
    """
    from darc.analysis.diagnose import diagnosis
    from darc.analysis.diagnose.plot import draw_diagnosis
    from darc.analysis.diagnose.summary import summarize_diagnosis
    from darc.analysis.diagnose.tables import diagnosis_tables

    result = diagnosis.diagnose(_load(ratings), scorer, **options)
    summary = summarize_diagnosis(result)
    return Analysis(
        sentences=(*summary.sentences, *summary.notes),
        tables={frame.name: frame for frame in diagnosis_tables(result)},
        result=result,
        _draw_figures=lambda: {"diagnosis": draw_diagnosis([result])},
    )


def tune(
    ratings: RatingsInput,
    objective: str = "",
    lam: float = 2.0,
    *,
    risk: str = "",
    level: float = 0.1,
    promise: PromiseKind = "batch",
    **options: Any,
) -> Analysis:
    """Choose a rule and its parameters on some prompts and measure it on others, as `darc tune`.

    With a `risk`, find instead which answers to hold back.

    Args:
        ratings: The ratings.
        objective: What to raise: tradeoff, cvar or mean.
        lam: The weight of sigma in the tradeoff.
        risk: What a rater says of a bad answer, such as "rating < 4".
        level: The largest share of bad answers.
        promise: "batch", "overall" or "shown", as `darc tune --promise` has it.
        **options: Those of `darc.analysis.tune.tuning.tune`, or of
            `darc.analysis.tune.risk.tune_risk`.

    Returns:
        An analysis whose `result` is the `Advice`, with its `setting`; with a `risk` it is the
        `RiskTuning`, whose `calibrations` hold answers back.
    """
    if risk:
        return _tune_risk(_load(ratings), risk, level, promise, options)
    from darc.analysis.tune import tuning
    from darc.analysis.tune.advice import recommend
    from darc.analysis.tune.objective import Objective
    from darc.analysis.tune.plot import draw_tuned

    aim = None
    if objective:
        aim = Objective(objective, lam)
    tuned = tuning.tune(_load(ratings), aim, **options)
    advice = recommend(tuned)
    rows = [
        {
            "rule": row.rule,
            "setting": row.setting.text,
            "delta": row.gain,
            "low_delta": row.low,
            "high_delta": row.high,
            "in_sample": row.in_sample,
            "mean": row.mean,
            "sigma": row.sigma,
        }
        for row in tuned.rows
    ]
    title = f"Gain in {tuned.objective.words} on prompts held out"
    return Analysis(
        sentences=(advice.headline, advice.cost, *advice.notes),
        tables={"rules": Frame.of("rules", title, rows)},
        result=advice,
        _draw_figures=lambda: {"tuned": draw_tuned(advice)},
    )


def _tune_risk(
    ratings: Ratings, risk: str, level: float, promise: PromiseKind, options: Mapping[str, Any]
) -> Analysis:
    """Find which answers to hold back."""
    from darc.analysis.tune.risk import tune_risk

    tuning = tune_risk(ratings, risk, level, promise, **options)
    row = tuning.as_json()
    row["low"], row["high"] = row.pop("base_risk_interval")
    row |= row.pop("promise") or {}
    del row["sentences"]
    return Analysis(
        sentences=tuple(tuning.sentences()),
        tables={"promise": Frame.of("promise", f"Bad answers of {tuning.name}", [row])},
        result=tuning,
        _draw_figures=dict,
    )


def compare(*ratings: RatingsInput, threshold: float | None = None, **options: Any) -> Analysis:
    """Say which system is best for everyone, as `darc compare` does.

    Args:
        *ratings: Ratings; several are put together.
        threshold: The rating below which people are unhappy.
        **options: Those of `darc.analysis.compare.comparison.compare_systems`.

    Returns:
        An analysis whose `result` is the `Leaderboard`.
    """
    from darc.analysis.compare.comparison import compare_systems
    from darc.analysis.compare.plot import draw_leaderboard
    from darc.ratings.merging import merge_ratings

    inputs = [_load(item, number) for number, item in enumerate(ratings)]
    result = compare_systems(merge_ratings(inputs), threshold, **options)
    rows = []
    for standing in result.standings:
        row = asdict(standing)
        row["low"], row["high"] = row.pop("interval")
        row["low_unhappy"], row["high_unhappy"] = row.pop("unhappy_interval")
        if not result.by_group:
            row = {name: row[name] for name in row if not name.startswith("worst_group")}
        rows.append(row)
    return Analysis(
        sentences=(result.verdict, *result.notes, *result.difference_sentences),
        tables={"standings": Frame.of("standings", f"Systems of {result.name}", rows)},
        result=result,
        _draw_figures=lambda: {"systems": draw_leaderboard(result)},
    )


def _load(ratings: RatingsInput, number: int = 0) -> Ratings:
    """Load ratings; those without a name are called by their number among several."""
    from darc.analysis.reading import load_ratings
    from darc.ratings.load import load_table

    if isinstance(ratings, Ratings):
        return ratings
    if isinstance(ratings, str | os.PathLike):
        loaded = load_ratings(Path(ratings))
    else:
        loaded = load_table(ratings, name=f"ratings{number or ''}")
    for note in loaded.notes:
        warnings.warn(f"{loaded.name}: {note}", stacklevel=3)
    return loaded


def _by_name(kind: str, name: str, values: Mapping[str, Any]) -> Any:
    """The value of this name, the first without one."""
    if name and name not in values:
        raise UnknownName(kind, name, values)
    if not values:
        raise InputError(f"there is no {kind}")
    return values[name or next(iter(values))]

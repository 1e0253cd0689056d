"""`darc eval`, `diagnose`, `tune` and `compare` for notebooks: results that show themselves."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.analysis.frame import Frame
from darc.errors import InputError, UnknownName
from darc.ratings.ratings import Ratings
from darc.views.chart import ShownFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A path, `Ratings`, a data frame of pandas or polars, or a list of mappings.
RatingsInput = Any


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What an analysis found: sentences, tables by name, and pictures by name.

    `result` is what the analysis itself returns, with everything that it knows.
    """

    sentences: tuple[str, ...]
    tables: Mapping[str, Frame]
    result: Any
    _drawn: Callable[[], Mapping[str, "Figure"]]

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        from darc.analysis.report.html_tables import frame_html
        from darc.views.html import environment

        text = "{% for each in said %}<p>{{ each }}</p>{% endfor %}"
        said = environment().from_string(text).render(said=self.sentences)
        return said + "".join(frame_html(frame) for frame in list(self.tables.values())[:1])

    def plot(self, name: str = "") -> ShownFigure:
        """A picture, the first one unless it is named."""
        drawn = self._drawn()
        return ShownFigure(_named("picture", name, drawn), name or next(iter(drawn)))

    def to_pandas(self, name: str = "") -> Any:
        """A table as a data frame of pandas, the first one unless it is named."""
        try:
            import pandas as pd
        except ImportError:
            raise InputError("a data frame needs pandas", "pip install pandas") from None
        frame = _named("table", name, self.tables)
        return pd.DataFrame.from_records(frame.records(), columns=list(frame.columns))


def evaluate(*ratings: RatingsInput, rules: Sequence[str] = (), **settings: Any) -> Analysis:
    """Which rule beats Best-of-K on ratings that did not select, as `darc eval` finds it.

    `settings` are those of `darc.analysis.evaluate.contest.ContestSettings`. Runs and ratings of
    the same candidates may be given together.
    """
    from darc.analysis.evaluate.evaluation import evaluate as compared
    from darc.analysis.evaluate.settings import ContestSettings
    from darc.analysis.evaluate.verdict import summary, verdicts
    from darc.analysis.report.figures import draw_figures
    from darc.settings.validation import validate_settings

    sources = [_source(each, place) for place, each in enumerate(ratings)]
    chosen = validate_settings(ContestSettings, {"rules": rules, **settings})
    result = compared(sources, chosen, ablations=False)
    tables = {frame.name: frame for frame in result.frames}
    order = ["human", *(name for name in tables if name != "human")]
    return Analysis(
        tuple(summary(result, verdicts(result))),
        {name: tables[name] for name in order if name in tables},
        result,
        lambda: {each.name: each.figure for each in draw_figures(result.frames)},
    )


def diagnose(ratings: RatingsInput, scorer: int = 0, **options: Any) -> Analysis:
    """Whether the raters' disagreement is signal, as `darc diagnose` finds it.

    `options` are those of `darc.analysis.diagnose.diagnosis.diagnose`.
    """
    from darc.analysis.diagnose.diagnosis import diagnose as made
    from darc.analysis.diagnose.plot import draw_diagnosis
    from darc.analysis.diagnose.summary import summarize_diagnosis
    from darc.analysis.diagnose.tables import diagnosis_tables

    result = made(_source(ratings), scorer, **options)
    said = summarize_diagnosis(result)
    tables = {frame.name: frame for frame in diagnosis_tables(result)}
    sentences = (*said.sentences, *said.notes)
    return Analysis(sentences, tables, result, lambda: {"diagnosis": draw_diagnosis([result])})


def tune(ratings: RatingsInput, objective: str = "", lam: float = 2.0, **options: Any) -> Analysis:
    """A rule and its strengths, chosen on some prompts and measured on others, as by `darc tune`.

    `options` are those of `darc.analysis.tune.tuning.tune`; `result` is the `Advice`, with its
    `setting`.
    """
    from darc.analysis.tune.advice import recommend
    from darc.analysis.tune.objective import Objective
    from darc.analysis.tune.plot import draw_tuned
    from darc.analysis.tune.tuning import tune as made

    aim = Objective(objective, lam) if objective else None
    advice = recommend(made(_source(ratings), aim, **options))
    assert advice.tuned is not None
    rows = [
        {"rule": row.rule, "setting": row.setting.text}
        | {"delta": row.gain, "low_delta": row.low, "high_delta": row.high}
        | {"in_sample": row.in_sample, "mean": row.mean, "sigma": row.sigma}
        for row in advice.tuned.rows
    ]
    title = f"Gain in {advice.tuned.objective.words} on prompts held out"
    return Analysis(
        (advice.headline, advice.cost, *advice.notes),
        {"rules": Frame.of("rules", title, rows)},
        advice,
        lambda: {"tuned": draw_tuned(advice)},
    )


def compare(ratings: RatingsInput, threshold: float | None = None, **options: Any) -> Analysis:
    """Which system is best for everyone, as `darc compare` finds it.

    `options` are those of `darc.analysis.compare.comparison.compare_systems`.
    """
    from darc.analysis.compare.comparison import compare_systems
    from darc.analysis.compare.plot import draw_leaderboard

    result = compare_systems(_source(ratings), threshold, **options)
    rows = [asdict(each) for each in result.standings]
    for row in rows:
        row["low"], row["high"] = row.pop("interval")
    columns = [name for name in rows[0] if result.by_group or not name.startswith("worst_group")]
    table = [{name: row[name] for name in columns} for row in rows]
    return Analysis(
        (result.verdict,),
        {"standings": Frame.of("standings", f"Systems of {result.name}", table)},
        result,
        lambda: {"systems": draw_leaderboard(result)},
    )


def _source(ratings: RatingsInput, place: int = 0) -> Ratings:
    from darc.analysis.reading import load_ratings
    from darc.ratings.load import load_table

    if isinstance(ratings, Ratings):
        return ratings
    if isinstance(ratings, str | os.PathLike):
        return load_ratings(Path(ratings))
    return load_table(ratings, name=f"ratings{place or ''}")


def _named(kind: str, name: str, known: Mapping[str, Any]) -> Any:
    """The value of this name, the first for none."""
    if name and name not in known:
        raise UnknownName(kind, name, known)
    if not known:
        raise InputError(f"there is no {kind}")
    return known[name or next(iter(known))]

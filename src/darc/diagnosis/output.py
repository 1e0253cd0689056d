"""A diagnosis as tidy tables and as a picture."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.diagnosis.diagnose import Diagnosis
from darc.diagnosis.reliability import TARGETS
from darc.diagnosis.words import sigma_within
from darc.evaluation.frame import Frame, Record
from darc.views.chart import new_figure
from darc.views.palette import CHOICE, INK, LABEL, OTHER, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CURVE = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50, 100)


def frames(diagnosis: Diagnosis) -> list[Frame]:
    """Components, reliabilities, their curve, raters, groups, prompts and candidates."""
    return [
        _components(diagnosis),
        _reliability(diagnosis),
        _curve(diagnosis),
        _raters(diagnosis),
        _contrasts(diagnosis),
        _prompts(diagnosis),
        _candidates(diagnosis),
    ]


def _components(diagnosis: Diagnosis) -> Frame:
    rows = [
        {"component": part.name, "meaning": part.meaning, "variance": part.variance}
        | {"percent": 100 * part.share}
        for part in diagnosis.components
    ]
    note = "Moments of unbalanced data; a negative estimate counts as 0 in the shares."
    return _frame(diagnosis, "components", "Where the variance of ratings is", rows, note)


def _reliability(diagnosis: Diagnosis) -> Frame:
    rows: list[Record] = []
    found = [("mean", "halves", diagnosis.means), ("sigma", "halves", diagnosis.sigmas)]
    found.append(("sigma", "Gaussian", {"within": diagnosis.gaussian}))
    for statistic, method, levels in found:
        for level, one in levels.items():
            row: Record = {"statistic": statistic, "level": level, "method": method}
            row |= {"reliability": one.value, "low": one.low, "high": one.high}
            row |= {"half": one.half, "p": one.p_value}
            for target in TARGETS:
                row[f"raters_for_{target:g}"] = _finite(one.needed(target))
            rows.append(row)
    value, low, high = diagnosis.alpha
    row = {"statistic": "alpha", "level": "overall", "method": "pairs"}
    rows.append(
        dict.fromkeys(rows[0], math.nan) | row | {"reliability": value, "low": low, "high": high}
    )
    note = "95 % intervals over prompts; alpha is Krippendorff's, a share of agreement."
    return _frame(diagnosis, "reliability", "What another panel would find", rows, note)


def _curve(diagnosis: Diagnosis) -> Frame:
    found = {"mean": diagnosis.means.get("within"), "sigma": sigma_within(diagnosis)}
    rows = [
        {"statistic": name, "raters": raters, "reliability": one.at(raters)}
        for name, one in found.items()
        if one is not None and not math.isnan(one.value)
        for raters in CURVE
    ]
    return _frame(diagnosis, "curve", "Reliability within prompts by number of raters", rows)


def _raters(diagnosis: Diagnosis) -> Frame:
    rows = []
    for one in sorted(diagnosis.raters, key=lambda one: (not one.flags, one.shrunk)):
        found = asdict(one) | {"flags": " ".join(one.flags)}
        group = diagnosis.panel.groups.get(found.pop("name"), "")
        rows.append({"rater": one.name, "group": group} | found)
    note = "Severity is negative for strict raters; agreement is with the mean of the others."
    return _frame(diagnosis, "raters", "Raters", rows, note)


def _contrasts(diagnosis: Diagnosis) -> Frame:
    rows = [
        {
            "prompt": one.prompt,
            "candidate": one.candidate,
            "gap": one.gap,
            "group": group,
            "mean": mean,
        }
        for one in (() if diagnosis.groups is None else diagnosis.groups.contrasts)
        for group, mean in one.means.items()
    ]
    note = "One candidate a prompt; the gap is in standard errors, raters' levels are taken off."
    return _frame(diagnosis, "contrasts", "Where groups differ most", rows, note)


def _prompts(diagnosis: Diagnosis) -> Frame:
    note = "Mean sigma of the candidates, as seen and with chance taken off (95 % interval)."
    rows = [asdict(one) for one in diagnosis.prompts]
    return _frame(diagnosis, "prompts", "Contentious prompts", rows, note)


def _candidates(diagnosis: Diagnosis) -> Frame:
    panel = diagnosis.panel
    numbers = {"ratings": panel.counts, "mean": panel.means(), "sigma": panel.sigmas()}
    numbers["shrunk"] = diagnosis.items
    rows = [
        {"prompt": panel.prompt_names[panel.prompts[i]], "candidate": name}
        | {column: cells[i] for column, cells in numbers.items()}
        | {"polarising": int(i in diagnosis.spread.polarising)}
        for i, name in enumerate(panel.candidate_names)
    ]
    return _frame(diagnosis, "candidates", "Candidates", rows)


def _frame(
    diagnosis: Diagnosis, name: str, title: str, rows: Iterable[Record], note: str = ""
) -> Frame:
    made = ({"scorer": diagnosis.panel.scorer, **row} for row in rows)
    return Frame.of(name, title, made, note)


def _finite(value: float) -> float:
    return value if np.isfinite(value) else math.nan


def draw_diagnosis(diagnoses: Sequence[Diagnosis], top: int = 15) -> "Figure":
    """A figure with a row of three panels a scorer; legible in grey."""
    figure = new_figure(13.0, 4.4 * len(diagnoses))
    grid = figure.subplots(len(diagnoses), 3, squeeze=False)
    for row, diagnosis in zip(grid, diagnoses, strict=True):
        _plot_curve(row[0], diagnosis)
        _plot_prompts(row[1], diagnosis, top)
        _shares(row[2], diagnosis)
        for axes in row:
            axes.spines[["top", "right"]].set_visible(False)
    return figure


def _title(axes: Any, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=10, color=INK)


def _plot_curve(axes: Any, diagnosis: Diagnosis) -> None:
    """Reliability within prompts of means and of sigma as raters are added."""
    where = ", ".join(filter(None, (diagnosis.name, diagnosis.panel.scorer)))
    _title(axes, f"{where}: reliability within prompts")
    most = max(20, 3 * diagnosis.each)
    raters = range(2, most + 1)
    mean, sigma = diagnosis.means.get("within"), sigma_within(diagnosis)
    if mean is not None and not math.isnan(mean.value):
        axes.plot(raters, [mean.at(n) for n in raters], color=INK, lw=1.8, label="mean")
    if not math.isnan(sigma.value):
        label = "sigma" if diagnosis.sigmas else "sigma, if Gaussian"
        line = [sigma.at(n) for n in raters]
        axes.plot(raters, line, color=CHOICE, lw=1.8, ls="--", label=label)
        if not math.isnan(sigma.low):
            ends = [sigma.having(end) for end in (sigma.low, sigma.high)]
            low, high = ([end.at(n) for n in raters] for end in ends)
            axes.fill_between(raters, low, high, color=CHOICE, alpha=0.18, lw=0)
    for target in TARGETS:
        axes.axhline(target, color=PALE, lw=0.8, ls=":")
        axes.annotate(
            f"{target:g}", (most, target), fontsize=7, color=LABEL, va="bottom", ha="right"
        )
    axes.axvline(diagnosis.each, color=OTHER, lw=1.2)
    axes.annotate(
        f"yours: {diagnosis.each}", (diagnosis.each, 1.0), (3, 0), textcoords="offset points",
        fontsize=8, color=OTHER, va="top",
    )  # fmt: skip
    axes.set_ylim(min(-0.02, 1.1 * min(sigma.value, 0.0) if sigma.value == sigma.value else 0), 1)
    axes.set_xlabel("ratings a candidate")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", frameon=False, fontsize=8)


def _plot_prompts(axes: Any, diagnosis: Diagnosis, top: int) -> None:
    """The most contentious prompts: what was seen, and what is left without chance."""
    rows = diagnosis.prompts[:top][::-1]
    _title(axes, "most contentious prompts (mean sigma)")
    if not rows:
        axes.text(0.5, 0.5, "no sigma", ha="center", color=LABEL, transform=axes.transAxes)
        axes.set_axis_off()
        return
    places = np.arange(len(rows))
    for place, row in zip(places, rows, strict=True):
        if not math.isnan(row.low):
            axes.plot([row.low, row.high], [place, place], color=PALE, lw=1.6, zorder=1)
    seen, shrunk = [row.sigma for row in rows], [row.shrunk for row in rows]
    axes.scatter(seen, places, s=26, facecolor="white", edgecolor=INK, zorder=2, label="as seen")
    axes.scatter(shrunk, places, s=26, color=INK, zorder=3, label="chance taken off")
    middle = float(np.mean([row.sigma for row in diagnosis.prompts]))
    axes.axvline(middle, color=PALE, lw=0.8, ls=":", label="all prompts")
    axes.set_yticks(places, [_short(row.prompt) for row in rows], fontsize=7)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), ncol=3, frameon=False, fontsize=8)


def _shares(axes: Any, diagnosis: Diagnosis) -> None:
    """Shares of the ratings' variance."""
    parts = [part for part in diagnosis.components if not math.isnan(part.share)][::-1]
    _title(axes, "variance of ratings, percent")
    if not parts:
        axes.text(0.5, 0.5, "no variance", ha="center", color=LABEL, transform=axes.transAxes)
        axes.set_axis_off()
        return
    places = np.arange(len(parts))
    shares = [100 * part.share for part in parts]
    colors = [OTHER if "rater" in part.name else PALE if part.name == "residual" else CHOICE
              for part in parts]  # fmt: skip
    bars = axes.barh(places, shares, color=colors, height=0.62)
    for bar, part in zip(bars, parts, strict=True):
        bar.set_hatch("//" if "rater" in part.name else "")
        bar.set_edgecolor("white")
    for place, share in zip(places, shares, strict=True):
        axes.annotate(f" {share:.0f}", (share, place), va="center", fontsize=8, color=INK)
    axes.set_yticks(places, [part.name for part in parts], fontsize=8)
    axes.set_xlim(0, 1.12 * max(shares))


def _short(text: str, most: int = 22) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

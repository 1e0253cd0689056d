"""A diagnosis as tidy tables and as a picture."""

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.analysis.diagnose.diagnosis import Diagnosis
from darc.analysis.diagnose.reliability import TARGETS, Reliability
from darc.analysis.frame import Frame, Record
from darc.views.chart import new_figure, style_axes
from darc.views.palette import CHOICE, INK, LABEL, OTHER, PALE
from darc.views.text_table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST = 22
CURVE = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50, 100)


def frames(diagnosis: Diagnosis) -> list[Frame]:
    """Components, reliabilities, their curve, raters, groups, prompts and candidates."""
    groups = diagnosis.groups
    made: tuple[tuple[str, str, str, list[Record]], ...] = (
        (
            "components",
            "Where the variance of ratings is",
            "Moments of unbalanced data; a negative estimate counts as 0 in the shares.",
            [
                {"component": part.name, "meaning": part.meaning, "variance": part.variance}
                | {"percent": 100 * part.share}
                for part in diagnosis.components
            ],
        ),
        (
            "reliability",
            "What another panel would find",
            "95 % intervals over prompts; alpha is Krippendorff's, a share of agreement.",
            _reliability(diagnosis),
        ),
        (
            "curve",
            "Reliability within prompts by number of raters",
            "",
            [
                {"statistic": name, "raters": raters, "reliability": one.at(raters)}
                for name, one in _within(diagnosis).items()
                for raters in CURVE
            ],
        ),
        (
            "raters",
            "Raters",
            "Severity is negative for strict raters; agreement is with the mean of the others.",
            [
                {"rater": one.name, "group": diagnosis.panel.groups.get(one.name, "")}
                | {name: cell for name, cell in asdict(one).items() if name != "name"}
                | {"flags": " ".join(one.flags)}
                for one in sorted(diagnosis.raters, key=lambda one: (not one.flags, one.shrunk))
            ],
        ),
        (
            "contrasts",
            "Where groups differ most",
            "One candidate a prompt; the gap is in standard errors, raters' levels are taken off.",
            [
                {"prompt": one.prompt, "candidate": one.candidate, "gap": one.gap}
                | {"group": group, "mean": mean}
                for one in (() if groups is None else groups.contrasts)
                for group, mean in one.means.items()
            ],
        ),
        (
            "prompts",
            "Contentious prompts",
            "Mean sigma of the candidates, as seen and with chance taken off (95 % interval).",
            [asdict(one) for one in diagnosis.prompts],
        ),
        ("candidates", "Candidates", "", _candidates(diagnosis)),
    )
    scorer = {"scorer": diagnosis.panel.scorer}
    return [
        Frame.of(name, title, [scorer | row for row in rows], note)
        for name, title, note, rows in made
    ]


def _reliability(diagnosis: Diagnosis) -> list[Record]:
    found = [("mean", "halves", *each) for each in diagnosis.means.items()]
    found += [("sigma", "halves", *each) for each in diagnosis.sigmas.items()]
    found.append(("sigma", "Gaussian", "within", diagnosis.gaussian))
    rows: list[Record] = []
    for statistic, method, level, one in found:
        row: Record = {"statistic": statistic, "level": level, "method": method}
        row |= {"reliability": one.value, "low": one.low, "high": one.high}
        row |= {"half": one.half, "p": one.p_value}
        needed = {f"raters_for_{target:g}": one.needed(target) for target in TARGETS}
        row |= {name: n if math.isfinite(n) else math.nan for name, n in needed.items()}
        rows.append(row)
    ends = dict(zip(("reliability", "low", "high"), diagnosis.alpha, strict=True))
    names = {"statistic": "alpha", "level": "overall", "method": "pairs"}
    return [*rows, dict.fromkeys(row, math.nan) | ends | names]


def _within(diagnosis: Diagnosis) -> dict[str, Reliability]:
    """What is known of the reliabilities within prompts, by statistic."""
    found = {"mean": diagnosis.means.get("within"), "sigma": diagnosis.sigma_within}
    return {name: one for name, one in found.items() if one and not math.isnan(one.value)}


def _candidates(diagnosis: Diagnosis) -> list[Record]:
    panel = diagnosis.panel
    numbers = {"ratings": panel.counts, "mean": panel.means(), "sigma": panel.sigmas()}
    numbers["shrunk"] = diagnosis.items
    return [
        {"prompt": panel.prompt_names[panel.prompts[i]], "candidate": name}
        | {column: cells[i] for column, cells in numbers.items()}
        | {"polarising": int(i in diagnosis.spread.polarising)}
        for i, name in enumerate(panel.candidate_names)
    ]


def draw_diagnosis(diagnoses: Sequence[Diagnosis], top: int = 15) -> "Figure":
    """A figure with a row of three panels a scorer; legible in grey."""
    figure = new_figure(13.0, 4.4 * len(diagnoses))
    grid = figure.subplots(len(diagnoses), 3, squeeze=False)
    for (curve, prompts, shares), diagnosis in zip(grid, diagnoses, strict=True):
        where = ", ".join(filter(None, (diagnosis.name, diagnosis.panel.scorer)))
        style_axes(curve, f"{where}: reliability within prompts", "ratings a candidate")
        style_axes(prompts, "most contentious prompts (mean sigma)")
        style_axes(shares, "variance of ratings, percent")
        _curve(curve, diagnosis)
        _prompts(prompts, diagnosis, top)
        _shares(shares, diagnosis)
    return figure


def _curve(axes: Any, diagnosis: Diagnosis) -> None:
    """Reliability within prompts of means and of sigma as raters are added."""
    each, found = diagnosis.each, _within(diagnosis)
    raters = range(2, max(20, 3 * each) + 1)

    def line(one: Reliability) -> list[float]:
        return [one.at(n) for n in raters]

    if "mean" in found:
        axes.plot(raters, line(found["mean"]), color=INK, lw=1.8, label="mean")
    lowest = 0.0
    if "sigma" in found:
        sigma = found["sigma"]
        lowest = min(sigma.value, 0.0)
        label = "sigma" if diagnosis.sigmas else "sigma, if Gaussian"
        axes.plot(raters, line(sigma), color=CHOICE, lw=1.8, ls="--", label=label)
        if not math.isnan(sigma.low):
            ends = (line(replace(sigma, value=end)) for end in (sigma.low, sigma.high))
            axes.fill_between(raters, *ends, color=CHOICE, alpha=0.18, lw=0)
    for target in TARGETS:
        axes.axhline(target, color=PALE, lw=0.8, ls=":")
        style = {"fontsize": 7, "color": LABEL, "va": "bottom", "ha": "right"}
        axes.annotate(f"{target:g}", (raters[-1], target), **style)
    axes.axvline(each, color=OTHER, lw=1.2)
    style = {"textcoords": "offset points", "fontsize": 8, "color": OTHER, "va": "top"}
    axes.annotate(f"yours: {each}", (each, 1.0), (3, 0), **style)
    axes.set_ylim(min(-0.02, 1.1 * lowest), 1)
    if found:
        axes.legend(loc="lower right", frameon=False, fontsize=8)


def _prompts(axes: Any, diagnosis: Diagnosis, top: int) -> None:
    """The most contentious prompts: what was seen, and what is left without chance."""
    rows = diagnosis.prompts[:top][::-1]
    if not rows:
        _nothing(axes, "no sigma")
        return
    places = range(len(rows))
    ends = [row.low for row in rows], [row.high for row in rows]
    axes.hlines(places, *ends, PALE, lw=1.6, zorder=1)
    seen, shrunk = [row.sigma for row in rows], [row.shrunk for row in rows]
    axes.scatter(seen, places, s=26, facecolor="white", edgecolor=INK, zorder=2, label="as seen")
    axes.scatter(shrunk, places, s=26, color=INK, zorder=3, label="chance taken off")
    middle = float(np.mean([row.sigma for row in diagnosis.prompts]))
    axes.axvline(middle, color=PALE, lw=0.8, ls=":", label="all prompts")
    axes.locator_params(axis="x", nbins=6)
    axes.set_yticks(places, [shorten(row.prompt, LONGEST) for row in rows], fontsize=7)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), ncol=3, frameon=False, fontsize=8)


def _shares(axes: Any, diagnosis: Diagnosis) -> None:
    """Shares of the ratings' variance."""
    parts = [part for part in diagnosis.components if not math.isnan(part.share)][::-1]
    if not parts:
        _nothing(axes, "no variance")
        return
    for place, part in enumerate(parts):
        share, people = 100 * part.share, "rater" in part.name
        color = OTHER if people else PALE if part.name == "residual" else CHOICE
        hatch = "//" if people else ""
        axes.barh(place, share, color=color, height=0.62, hatch=hatch, edgecolor="white")
        axes.annotate(f" {share:.0f}", (share, place), va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(parts)), [part.name for part in parts], fontsize=8)
    axes.set_xlim(0, 112 * max(part.share for part in parts))


def _nothing(axes: Any, why: str) -> None:
    axes.text(0.5, 0.5, why, ha="center", color=LABEL, transform=axes.transAxes)
    axes.set_axis_off()

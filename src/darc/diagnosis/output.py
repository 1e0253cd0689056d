"""A diagnosis as tidy tables and as a picture."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.diagnosis.diagnose import Diagnosis
from darc.diagnosis.reliability import TARGETS
from darc.diagnosis.words import sigma_within
from darc.errors import MissingExtra
from darc.evaluation.frame import Frame
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
        [diagnosis.panel.scorer, part.name, part.meaning, part.variance, 100 * part.share]
        for part in diagnosis.components
    ]
    note = "Moments of unbalanced data; a negative estimate counts as 0 in the shares."
    columns = ("scorer", "component", "meaning", "variance", "percent")
    return Frame.of("components", "Where the variance of ratings is", columns, rows, note)


def _reliability(diagnosis: Diagnosis) -> Frame:
    rows: list[list[object]] = []
    found = [("mean", "halves", diagnosis.means), ("sigma", "halves", diagnosis.sigmas)]
    found.append(("sigma", "Gaussian", {"within": diagnosis.gaussian}))
    for statistic, method, levels in found:
        for level, one in levels.items():
            needed = [_finite(one.needed(target)) for target in TARGETS]
            numbers = [one.value, one.low, one.high, one.half, one.p_value]
            rows.append([diagnosis.panel.scorer, statistic, level, method, *numbers, *needed])
    value, low, high = diagnosis.alpha
    nothing = [math.nan] * 4
    rows.append([diagnosis.panel.scorer, "alpha", "overall", "pairs", value, low, high, *nothing])
    columns = ("scorer", "statistic", "level", "method", "reliability", "low", "high", "half", "p")
    needs = tuple(f"raters_for_{target:g}" for target in TARGETS)
    note = "95 % intervals over prompts; alpha is Krippendorff's, a share of agreement."
    return Frame.of("reliability", "What another panel would find", columns + needs, rows, note)


def _curve(diagnosis: Diagnosis) -> Frame:
    found = {"mean": diagnosis.means.get("within"), "sigma": sigma_within(diagnosis)}
    rows = [
        [diagnosis.panel.scorer, name, raters, one.at(raters)]
        for name, one in found.items()
        if one is not None and not math.isnan(one.value)
        for raters in CURVE
    ]
    columns = ("scorer", "statistic", "raters", "reliability")
    return Frame.of("curve", "Reliability within prompts by number of raters", columns, rows)


def _raters(diagnosis: Diagnosis) -> Frame:
    rows = [
        [
            diagnosis.panel.scorer,
            *(one.name, diagnosis.panel.groups.get(one.name, ""), one.ratings),
            *(one.severity, one.error, one.shrunk, one.agreement, " ".join(one.flags)),
        ]
        for one in sorted(diagnosis.raters, key=lambda one: (not one.flags, one.shrunk))
    ]
    columns = ("scorer", "rater", "group", "ratings", "severity", "error", "shrunk")
    note = "Severity is negative for strict raters; agreement is with the mean of the others."
    return Frame.of("raters", "Raters", (*columns, "agreement", "flags"), rows, note)


def _contrasts(diagnosis: Diagnosis) -> Frame:
    contrasts = () if diagnosis.groups is None else diagnosis.groups.contrasts
    rows = [
        [diagnosis.panel.scorer, one.prompt, one.candidate, one.gap, group, mean]
        for one in contrasts
        for group, mean in one.means.items()
    ]
    columns = ("scorer", "prompt", "candidate", "gap", "group", "mean")
    note = "One candidate a prompt; the gap is in standard errors, raters' levels are taken off."
    return Frame.of("contrasts", "Where groups differ most", columns, rows, note)


def _prompts(diagnosis: Diagnosis) -> Frame:
    rows = [
        [
            diagnosis.panel.scorer,
            *(one.prompt, one.candidates, one.sigma, one.shrunk, one.low, one.high),
            *(one.widest, one.widest_sigma),
        ]
        for one in diagnosis.prompts
    ]
    columns = ("scorer", "prompt", "candidates", "sigma", "shrunk", "low", "high")
    note = "Mean sigma of the candidates, as seen and with chance taken off (95 % interval)."
    return Frame.of(
        "prompts", "Contentious prompts", (*columns, "widest", "widest_sigma"), rows, note
    )


def _candidates(diagnosis: Diagnosis) -> Frame:
    panel = diagnosis.panel
    divided = set(diagnosis.spread.polarising)
    numbers = zip(panel.counts, panel.means(), panel.sigmas(), diagnosis.items, strict=True)
    rows = [
        [
            *(panel.scorer, panel.prompt_names[panel.prompts[i]], panel.candidate_names[i]),
            *(count, mean, sigma, shrunk, int(i in divided)),
        ]
        for i, (count, mean, sigma, shrunk) in enumerate(numbers)
    ]
    columns = ("scorer", "prompt", "candidate", "ratings", "mean", "sigma", "shrunk", "polarising")
    return Frame.of("candidates", "Candidates", columns, rows)


def _finite(value: float) -> float:
    return value if np.isfinite(value) else math.nan


def draw_diagnosis(diagnoses: Sequence[Diagnosis], top: int = 15) -> "Figure":
    """A figure with a row of three panels a scorer; legible in grey."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing a picture", "plot") from None
    size = (13.0, 4.4 * len(diagnoses))
    figure = Figure(figsize=size, dpi=150, layout="constrained")
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

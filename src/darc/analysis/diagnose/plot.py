"""A diagnosis as a picture."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.analysis.diagnose.diagnosis import Diagnosis
from darc.analysis.diagnose.reliability import TARGETS, Reliability
from darc.analysis.diagnose.tables import reliability_within
from darc.analysis.diagnose.variance_components import Component
from darc.views.chart import new_figure, style_axes
from darc.views.palette import CHOICE, INK, LABEL, OTHER, PALE
from darc.views.text_table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_NAME_LENGTH = 22
# The curve goes to at least this many raters.
MIN_CURVE_RATERS = 20


def draw_diagnosis(diagnoses: Sequence[Diagnosis], top: int = 15) -> "Figure":
    """Draw a row of three charts per scorer; legible in grey.

    Args:
        diagnoses: One diagnosis per scorer.
        top: How many of the most contentious prompts are drawn.

    Returns:
        The figure.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    figure = new_figure(13.0, 4.4 * len(diagnoses))
    grid = figure.subplots(len(diagnoses), 3, squeeze=False)
    for (curve, prompts, shares), diagnosis in zip(grid, diagnoses, strict=True):
        names = [name for name in (diagnosis.name, diagnosis.ratings.scorer) if name]
        title = f"{', '.join(names)}: reliability within prompts"
        style_axes(curve, title, "ratings per candidate")
        style_axes(prompts, "most contentious prompts (mean sigma)")
        style_axes(shares, "variance of ratings, percent")
        _draw_curve(curve, diagnosis)
        _draw_prompts(prompts, diagnosis, top)
        _draw_shares(shares, diagnosis)
    return figure


def _draw_curve(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw the reliability within prompts of means and of sigma as raters are added."""
    current = diagnosis.ratings_per_candidate
    raters = range(2, max(MIN_CURVE_RATERS, 3 * current) + 1)
    reliabilities = reliability_within(diagnosis)
    lowest = 0.0
    if "mean" in reliabilities:
        curve = _curve(reliabilities["mean"], raters)
        axes.plot(raters, curve, color=INK, lw=1.8, label="mean")
    if "sigma" in reliabilities:
        sigma = reliabilities["sigma"]
        lowest = min(sigma.value, 0.0)
        label = "sigma" if diagnosis.sigma_reliability else "sigma, if Gaussian"
        axes.plot(raters, _curve(sigma, raters), color=CHOICE, lw=1.8, ls="--", label=label)
        if not math.isnan(sigma.low):
            low = _curve(replace(sigma, value=sigma.low), raters)
            high = _curve(replace(sigma, value=sigma.high), raters)
            axes.fill_between(raters, low, high, color=CHOICE, alpha=0.18, lw=0)
    for target in TARGETS:
        axes.axhline(target, color=PALE, lw=0.8, ls=":")
        place = (raters[-1], target)
        axes.annotate(f"{target:g}", place, fontsize=7, color=LABEL, va="bottom", ha="right")
    axes.axvline(current, color=OTHER, lw=1.2)
    axes.annotate(
        f"yours: {current}",
        (current, 1.0),
        (3, 0),
        textcoords="offset points",
        fontsize=8,
        color=OTHER,
        va="top",
    )
    axes.set_ylim(min(-0.02, 1.1 * lowest), 1)
    if reliabilities:
        axes.legend(loc="lower right", frameon=False, fontsize=8)


def _curve(reliability: Reliability, raters: Sequence[int]) -> list[float]:
    return [reliability.with_raters(number) for number in raters]


def _draw_prompts(axes: Any, diagnosis: Diagnosis, top: int) -> None:
    """Draw the most contentious prompts: what was seen, and what is left without chance."""
    every_prompt = diagnosis.contention.prompts
    if not every_prompt:
        _draw_nothing(axes, "no sigma")
        return
    if not diagnosis.contention.ranked:
        _draw_nothing(axes, "no prompt is more contentious\nthan another beyond chance")
        return
    # The first prompt is on top.
    prompts = every_prompt[:top][::-1]
    places = range(len(prompts))
    low = [prompt.low for prompt in prompts]
    high = [prompt.high for prompt in prompts]
    axes.hlines(places, low, high, PALE, lw=1.6, zorder=1)
    seen = [prompt.sigma for prompt in prompts]
    axes.scatter(seen, places, s=26, facecolor="white", edgecolor=INK, zorder=2, label="as seen")
    shrunk = [prompt.shrunk for prompt in prompts]
    axes.scatter(shrunk, places, s=26, color=INK, zorder=3, label="chance taken out")
    average = float(np.mean([prompt.sigma for prompt in every_prompt]))
    axes.axvline(average, color=PALE, lw=0.8, ls=":", label="all prompts")
    axes.locator_params(axis="x", nbins=6)
    names = [shorten(prompt.prompt, MAX_NAME_LENGTH) for prompt in prompts]
    axes.set_yticks(places, names, fontsize=7)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.07), ncol=3, frameon=False, fontsize=8)


def _draw_shares(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw the components' shares of the variance, the first one on top."""
    components = [part for part in diagnosis.components if not math.isnan(part.share)][::-1]
    if not components:
        _draw_nothing(axes, "no variance")
        return
    for place, component in enumerate(components):
        percent = 100 * component.share
        hatch = "//" if "rater" in component.name else ""
        color = _component_color(component)
        axes.barh(place, percent, color=color, height=0.62, hatch=hatch, edgecolor="white")
        axes.annotate(f" {percent:.0f}", (percent, place), va="center", fontsize=8, color=INK)
    axes.set_yticks(range(len(components)), [part.name for part in components], fontsize=8)
    axes.set_xlim(0, 112 * max(part.share for part in components))


def _component_color(component: Component) -> str:
    if "rater" in component.name:
        return OTHER
    if component.name in ("residual", "noise"):
        return PALE
    return CHOICE


def _draw_nothing(axes: Any, reason: str) -> None:
    axes.text(0.5, 0.5, reason, ha="center", color=LABEL, transform=axes.transAxes)
    axes.set_axis_off()

"""A diagnosis as tidy tables."""

import math

import numpy as np

from darc.evaluation.diagnosis.diagnose import Diagnosis
from darc.evaluation.diagnosis.reliability import TARGETS
from darc.evaluation.diagnosis.words import sigma_within
from darc.evaluation.frame import Frame

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

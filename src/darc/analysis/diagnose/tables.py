"""A diagnosis as tidy tables."""

import math

from darc.analysis.diagnose.diagnosis import Diagnosis
from darc.analysis.diagnose.reliability import TARGETS, Reliability
from darc.analysis.frame import Frame, Record

# The numbers of raters for which the curve gives a reliability.
CURVE_RATERS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50, 100)


def diagnosis_tables(diagnosis: Diagnosis) -> list[Frame]:
    """Make the tables of a diagnosis; each row begins with the scorer.

    Args:
        diagnosis: The diagnosis.

    Returns:
        Components, reliabilities, their curve, raters, their likings of systems, contrasts of
        groups, prompts, candidates.
    """
    return [
        _table(
            diagnosis,
            "components",
            "Where the variance of ratings is",
            _component_rows(diagnosis),
            "Moments of unbalanced data; a negative estimate counts as 0 in the shares.",
        ),
        _table(
            diagnosis,
            "reliability",
            "What another panel would find",
            _reliability_rows(diagnosis),
            "95 % intervals over prompts; alpha is Krippendorff's, a share of agreement.",
        ),
        _table(
            diagnosis,
            "curve",
            "Reliability within prompts by number of raters",
            _curve_rows(diagnosis),
        ),
        _table(
            diagnosis,
            "raters",
            "Raters",
            _rater_rows(diagnosis),
            "Severity is negative for strict raters; agreement is with the mean of the others.",
        ),
        _table(
            diagnosis,
            "likings",
            "Raters and systems",
            _liking_rows(diagnosis),
            "How far above the usual each rater rates each system, without the rater's severity.",
        ),
        _table(
            diagnosis,
            "contrasts",
            "Where groups differ most",
            _contrast_rows(diagnosis),
            "One candidate per prompt; the gap is in standard errors, without raters' levels.",
        ),
        _table(
            diagnosis,
            "prompts",
            "Contentious prompts",
            _prompt_rows(diagnosis),
            "Mean sigma of the candidates, as seen and with chance taken out (95 % interval).",
        ),
        _table(diagnosis, "candidates", "Candidates", _candidate_rows(diagnosis)),
    ]


def _table(
    diagnosis: Diagnosis, name: str, title: str, rows: list[Record], note: str = ""
) -> Frame:
    scorer: Record = {"scorer": diagnosis.ratings.scorer}
    return Frame.of(name, title, [scorer | row for row in rows], note)


def _component_rows(diagnosis: Diagnosis) -> list[Record]:
    return [
        {
            "component": component.name,
            "meaning": component.meaning,
            "variance": component.variance,
            "percent": 100 * component.share,
        }
        for component in diagnosis.components
    ]


def _reliability_rows(diagnosis: Diagnosis) -> list[Record]:
    rows = []
    for level, reliability in diagnosis.mean_reliability.items():
        rows.append(_reliability_row("mean", level, "halves", reliability))
    for level, reliability in diagnosis.sigma_reliability.items():
        rows.append(_reliability_row("sigma", level, "halves", reliability))
    rows.append(_reliability_row("sigma", "within", "Gaussian", diagnosis.gaussian))
    alpha: Record = dict.fromkeys(rows[0], math.nan)
    alpha |= {"statistic": "alpha", "level": "overall", "method": "pairs"}
    alpha["reliability"] = diagnosis.alpha.value
    alpha["low"] = diagnosis.alpha.low
    alpha["high"] = diagnosis.alpha.high
    rows.append(alpha)
    return rows


def _reliability_row(statistic: str, level: str, method: str, reliability: Reliability) -> Record:
    row: Record = {
        "statistic": statistic,
        "level": level,
        "method": method,
        "reliability": reliability.value,
        "low": reliability.low,
        "high": reliability.high,
        "half": reliability.half_correlation,
        "p": reliability.p_value,
    }
    for target in TARGETS:
        raters = reliability.raters_needed(target)
        row[f"raters_for_{target:g}"] = raters if math.isfinite(raters) else math.nan
    return row


def _curve_rows(diagnosis: Diagnosis) -> list[Record]:
    return [
        {
            "statistic": statistic,
            "raters": raters,
            "reliability": reliability.with_raters(raters),
        }
        for statistic, reliability in reliability_within(diagnosis).items()
        for raters in CURVE_RATERS
    ]


def reliability_within(diagnosis: Diagnosis) -> dict[str, Reliability]:
    """The reliabilities within prompts of "mean" and "sigma", as far as they are known."""
    reliabilities = {}
    means = diagnosis.mean_reliability.get("within")
    if means is not None and not math.isnan(means.value):
        reliabilities["mean"] = means
    if not math.isnan(diagnosis.sigma_within.value):
        reliabilities["sigma"] = diagnosis.sigma_within
    return reliabilities


def _rater_rows(diagnosis: Diagnosis) -> list[Record]:
    """Flagged raters first, then from the strictest to the most lenient."""
    ordered = sorted(diagnosis.raters, key=lambda rater: (not rater.flags, rater.shrunk))
    return [
        {
            "rater": rater.name,
            "group": diagnosis.ratings.groups.get(rater.name, ""),
            "ratings": rater.ratings,
            "severity": rater.severity,
            "error": rater.error,
            "shrunk": rater.shrunk,
            "agreement": rater.agreement,
            "flags": " ".join(rater.flags),
        }
        for rater in ordered
    ]


def _liking_rows(diagnosis: Diagnosis) -> list[Record]:
    likings = diagnosis.likings
    notable = {(liking.rater, liking.system) for liking in likings.notable}
    return [
        {
            "rater": rater,
            "system": system,
            "liking": float(likings.likings[j, s]),
            "error": float(likings.errors[j, s]),
            "notable": int((rater, system) in notable),
        }
        for j, rater in enumerate(likings.raters)
        for s, system in enumerate(likings.systems)
    ]


def _contrast_rows(diagnosis: Diagnosis) -> list[Record]:
    if diagnosis.groups is None:
        return []
    return [
        {
            "prompt": contrast.prompt,
            "candidate": contrast.candidate,
            "gap": contrast.gap,
            "group": group,
            "mean": mean,
        }
        for contrast in diagnosis.groups.contrasts
        for group, mean in contrast.means.items()
    ]


def _prompt_rows(diagnosis: Diagnosis) -> list[Record]:
    return [
        {
            "prompt": row.prompt,
            "candidates": row.candidates,
            "sigma": row.sigma,
            "shrunk": row.shrunk,
            "low": row.low,
            "high": row.high,
            "widest": row.widest,
            "widest_sigma": row.widest_sigma,
        }
        for row in diagnosis.contention.ranked
    ]


def _candidate_rows(diagnosis: Diagnosis) -> list[Record]:
    ratings = diagnosis.ratings
    counts = ratings.counts
    means = ratings.means()
    sigmas = ratings.sigmas()
    return [
        {
            "prompt": ratings.prompt_names[ratings.prompts[place]],
            "candidate": name,
            "ratings": counts[place],
            "mean": means[place],
            "sigma": sigmas[place],
            "shrunk": diagnosis.contention.candidate_sigmas[place],
            "polarising": int(place in diagnosis.sigma_differences.polarising),
        }
        for place, name in enumerate(ratings.candidate_names)
    ]

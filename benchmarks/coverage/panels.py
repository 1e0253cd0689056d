"""How often `darc diagnose --panel` counts raters right, and sees drift or bias in noise."""

import numpy as np

from benchmarks.coverage.judged_means import as_ratings
from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.analysis.panel_audit.drift import drift_against_run
from darc.analysis.panel_audit.effective_number import (
    effective_number_against,
    effective_number_alone,
)
from darc.analysis.panel_audit.grades import rater_grades
from darc.analysis.panel_audit.probes import ECHO, PROBES, probe_findings
from darc.typing import Array

FILES = 400
SHAPE = (60, 6)
RATERS = 8
PEOPLE = 4
PEOPLE_NOISE = 1.5
# The correlation of the errors of raters of one cluster, and the number of clusters.
PANELS = ((0.3, 1), (0.8, 1), (1.0, 2), (0.6, 2))
CLUSTERED = ((1.0, 2), (0.6, 2), (0.5, 4))


def true_number(correlation: float, clusters: int) -> float:
    """The effective number of raters of such a panel."""
    mean = correlation * (RATERS // clusters - 1) / (RATERS - 1)
    return RATERS / (1 + (RATERS - 1) * mean)


def drawn_panel(
    generator: np.random.Generator, correlation: float, clusters: int
) -> tuple[Array, Array]:
    """A panel's grades and people's ratings of the same answers."""
    truth = generator.normal(size=(*SHAPE, 1))
    people = truth + PEOPLE_NOISE * generator.normal(size=(*SHAPE, PEOPLE))
    common = generator.normal(size=(*SHAPE, clusters))[:, :, np.arange(RATERS) % clusters]
    own = generator.normal(size=(*SHAPE, RATERS))
    errors = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    return 5 + 2 * (truth + errors), people


def number_coverage(correlation: float, clusters: int, with_people: bool, files: int) -> float:
    """How often the interval of the effective number holds the true one."""
    generator = np.random.default_rng([41, round(100 * correlation), clusters])
    truth = true_number(correlation, clusters)
    covered = 0
    for seed in range(files):
        grades, people = drawn_panel(generator, correlation, clusters)
        panel = rater_grades(as_ratings(grades, "panel", "judge"))
        if with_people:
            persons = rater_grades(as_ratings(people, "rater", "person"))
            number = effective_number_against(panel, persons, seed).number
        else:
            number = effective_number_alone(panel, seed).number
        covered += number.low - 1e-9 <= truth <= number.high + 1e-9
    return covered / files


def drift_rate(shift: float, files: int) -> float:
    """The share of files in which some rater is said to have moved since an earlier run."""
    generator = np.random.default_rng(42)
    found = 0
    for _ in range(files):
        then, _ = drawn_panel(generator, 0.3, 1)
        now = then + generator.normal(0, 1, then.shape)
        now[:, :, 0] += shift
        drift = drift_against_run(
            rater_grades(as_ratings(now, "panel", "judge")),
            rater_grades(as_ratings(then, "panel", "judge")),
        )
        found += bool(drift.moved)
    return found / files


def probe_rates(effect: float, files: int) -> dict[str, float]:
    """The share of files in which the panel fails each probe, by 20 prompts and 4 raters."""
    generator = np.random.default_rng(43)
    probes = [probe for probe in PROBES if probe != ECHO]
    failed = dict.fromkeys(probes, 0)
    for _ in range(files):
        effects = np.round(effect + generator.normal(0, 1.2, (len(probes), 20, 4)))
        for finding in probe_findings(probes, effects, ["a", "b", "c", "d"]):
            failed[finding.probe] += finding.fails and not finding.rater
    return {probe: count / files for probe, count in failed.items()}


def _numbers(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rows = []
    for correlation, clusters in PANELS:
        rate = number_coverage(correlation, clusters, True, files)
        name = (
            f"diagnose --panel: effective number {true_number(correlation, clusters):.1f} of 8, "
            f"errors against {PEOPLE} people"
        )
        rows.append(Row(name, "0.95", rate, files))
    for correlation, clusters in CLUSTERED:
        rate = number_coverage(correlation, clusters, False, files)
        name = (
            f"diagnose --panel: effective number {true_number(correlation, clusters):.1f} of 8, "
            f"no people, {clusters} clusters"
        )
        rows.append(Row(name, "0.95", rate, files))
    return rows


def _drift(share: float) -> list[Row]:
    files = file_count(FILES, share)
    return [
        Row("diagnose --panel: false drift, 8 raters", "<= 0.05", drift_rate(0.0, files), files),
        Row("diagnose --panel: drift of 0.5 found", ">= 0.80", drift_rate(0.5, files), files),
    ]


def _probes(share: float) -> list[Row]:
    files = file_count(FILES, share)
    rows = []
    for probe, rate in probe_rates(0.0, files).items():
        nominal = "<= 0.05" if probe == PROBES[0] else "<= 0.025"
        rows.append(Row(f"diagnose --panel: false alarm, probe {probe}", nominal, rate, files))
    for probe, rate in probe_rates(1.0, files).items():
        name = f"diagnose --panel: 1 point found, probe {probe}"
        rows.append(Row(name, ">= 0.80", rate, files))
    return rows


SIMULATIONS: list[Simulation] = [_numbers, _drift, _probes]

"""What a panel's disagreement is reported to be, where its raters differ in severity."""

import numpy as np

from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.decide.statistics.panel_disagreement import panel_disagreement

PROMPTS = 600
ANSWERS = 6
RATERS = 8
REPEATS = 3


def average_report(severity: float, disagreement: float, noise: float, prompts: int) -> float:
    """The average of the disagreement that is reported for an answer.

    Args:
        severity: The deviation of the raters' levels.
        disagreement: The true deviation between raters about each answer.
        noise: The deviation of one rater's repeated grades.
        prompts: The number of prompts to simulate.
    """
    generator = np.random.default_rng(41)
    reports = []
    for _ in range(prompts):
        quality = generator.normal(0, 1, (ANSWERS, 1, 1))
        level = generator.normal(0, severity, (1, RATERS, 1))
        opinion = generator.normal(0, disagreement, (ANSWERS, RATERS, 1))
        drawn = generator.normal(0, noise, (ANSWERS, RATERS, REPEATS))
        result = panel_disagreement(quality + level + opinion + drawn)
        reports.append(float(np.sqrt(result.between).mean()))
    return float(np.mean(reports))


def _reports(share: float) -> list[Row]:
    prompts = file_count(PROMPTS, share)
    rows = []
    for disagreement, nominal in ((0.0, "<= 0.20"), (2.0, "1.8 to 2.2")):
        for severity in (0.0, 1.5):
            for noise in (0.5, 1.0):
                world = f"severity {severity:g}, noise {noise:g}"
                name = f"panel: average disagreement reported, true {disagreement:g}, {world}"
                measured = average_report(severity, disagreement, noise, prompts)
                rows.append(Row(name, nominal, measured, prompts))
    return rows


SIMULATIONS: tuple[Simulation, ...] = (_reports,)

"""Coverage and false-positive rates of printed statements, beside their nominal values."""

from collections.abc import Sequence

from benchmarks.coverage import (
    calibrations,
    certainty,
    certificates,
    comparisons,
    diagnoses,
    disagreements,
    evaluations,
    judged_means,
    panels,
)
from benchmarks.coverage.rows import Row, Simulation
from benchmarks.report import Table

# To add rows, write a module with a list SIMULATIONS of functions and add the list here.
SIMULATIONS: tuple[Simulation, ...] = (
    *certificates.SIMULATIONS,
    *comparisons.SIMULATIONS,
    *calibrations.SIMULATIONS,
    *diagnoses.SIMULATIONS,
    *evaluations.SIMULATIONS,
    *disagreements.SIMULATIONS,
    *certainty.SIMULATIONS,
    *judged_means.SIMULATIONS,
    *panels.SIMULATIONS,
)
QUICK_SHARE = 0.1
HEADER = ["statement", "nominal", "measured", "files"]


def run(
    *, quick: bool = False, share: float | None = None, simulations: Sequence[Simulation] = ()
) -> list[Table]:
    """Simulate files whose truth is known and count how often what is printed of them holds.

    Args:
        quick: Simulate a tenth of the files.
        share: The share of the files to simulate, instead of all or a tenth of them.
        simulations: The simulations to run; all of them by default.

    Returns:
        One table with one row per statement.
    """
    if share is None:
        share = QUICK_SHARE if quick else 1.0
    rows: list[Row] = []
    for simulation in simulations or SIMULATIONS:
        rows += simulation(share)
    cells: list[list[object]] = [
        [row.name, row.nominal, f"{row.measured:.3f}", row.files] for row in rows
    ]
    note = (
        "measured: the share of simulated files of which the statement holds (coverage), or of "
        "which it is wrongly made (false positives); its standard error is at most "
        "0.5 / sqrt(files)"
    )
    return [Table("printed statements, simulated", HEADER, cells, note)]

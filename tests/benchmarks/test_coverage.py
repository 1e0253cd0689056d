"""The simulation of printed statements, at a tiny size."""

import pytest
from benchmarks.coverage import SIMULATIONS, run
from benchmarks.coverage.rows import Simulation, file_count


@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda function: function.__name__)
def test_every_simulation_gives_rates_of_its_files(simulation: Simulation) -> None:
    rows = simulation(0.002)
    assert rows
    for row in rows:
        assert row.name
        assert row.nominal
        assert row.measured >= 0
        assert row.files >= 2


def test_the_table_has_one_line_per_row() -> None:
    (table,) = run(share=0.002, simulations=SIMULATIONS[:1])
    assert table.header == ["statement", "nominal", "measured", "files"]
    assert len(table.rows) == len(SIMULATIONS[0](0.002))
    assert all(rate <= 1 for rate in table.numbers("measured"))


def test_a_small_share_still_simulates_files() -> None:
    assert file_count(1000, 0.1) == 100
    assert file_count(1000, 0.0001) == 2

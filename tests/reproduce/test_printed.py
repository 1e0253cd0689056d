import pytest

from darc.reproduce.experiment import read_experiment
from darc.reproduce.printed import paper_label, printed_main, printed_outcomes, printed_row


def test_labels_lose_their_brackets() -> None:
    assert paper_label("Base (Best-of-K)") == "Base"
    assert paper_label("cDPO + DARC-epsilon") == "cDPO + DARC-epsilon"


@pytest.mark.parametrize("block", ["Overall", "High-Variance"])
def test_every_cell_of_the_main_table_has_a_printed_number(block: str) -> None:
    experiment = read_experiment("paper")
    for method in experiment.methods_of("main"):
        for generator in experiment.generators[:2]:
            for benchmark in experiment.benchmarks:
                column = f"{generator.paper}/{benchmark.paper}"
                assert None not in printed_main(block, column, method.label), (column, method.label)


def test_rows_of_the_human_and_the_scaling_table() -> None:
    experiment = read_experiment("paper")
    for method in experiment.methods_of("human"):
        assert len(printed_outcomes("human table", "Overall", method.label)) == 4
        assert len(printed_outcomes("human table", "High-Disagreement", method.label)) == 4
    for method in experiment.methods_of("scaling"):
        assert len(printed_outcomes("Qwen2.5-14B table", "High-Variance", method.label)) == 4


def test_rows_of_other_tables() -> None:
    assert printed_row("latency", "", "0", 4) == (9.4906, None, 99.7, 0.0)
    assert printed_row("buckets", "", "Q5", 2) == (1.037, "51 / 45 / 4")
    assert printed_row("buckets", "", "Q6", 2) == ()
    assert printed_row("buckets", "", "Q5", 3) == ()

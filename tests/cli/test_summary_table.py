import pytest

from darc.cli.decision_summary import Summary
from darc.cli.summary_table import print_summary_table
from darc.decide.standards import NO_STANDARDS
from darc.ratings.decisions import DecidedBatch


@pytest.mark.parametrize("numbers", [False, True])
def test_each_rule_has_a_row(
    decided: DecidedBatch, numbers: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = Summary(decided.methods)
    summary.add(decided)
    print_summary_table(summary, NO_STANDARDS, numbers)
    header, _, first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("mean ")
    assert second.startswith("entropic ")
    assert "1 of 2" in second
    assert ("sigma" in header) == numbers

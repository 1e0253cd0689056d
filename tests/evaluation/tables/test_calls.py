from tests.evaluation.helpers import make_source

from darc.evaluation.methods import methods
from darc.evaluation.tables.calls import call_table


def test_the_lazy_search_scores_less_and_chooses_the_same() -> None:
    specs = methods(["epsilon", "entropic", "soft"])
    source = make_source(25, 6, 8, kind="rewrite", bounds=[(0.0, 10.0)])
    frame = call_table(source, specs, 10)
    assert frame.column("method") == ["mean", "epsilon", "entropic"]
    for record in frame.records():
        assert record["same_choice"] == record["prompts"] == 10
        assert record["full"] == 48
        assert 0 < float(str(record["lazy"])) < 48


def test_several_scorers_need_constants() -> None:
    specs = methods(["entropic"])
    bounds = [(0.0, 10.0)] * 2
    source = make_source(5, 4, 5, 2, kind="rewrite", bounds=bounds)
    assert not len(call_table(source, specs))
    constants = ([5.0, 5.0], [2.0, 2.0])
    source = make_source(5, 4, 5, 2, kind="rewrite", bounds=bounds, constants=constants)
    assert call_table(source, specs).column("same_choice") == [5, 5]


def test_without_bounds_there_is_no_search() -> None:
    assert not len(call_table(make_source(), methods()))

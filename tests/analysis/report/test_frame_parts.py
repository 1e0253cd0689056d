from darc.analysis.frame import Frame
from darc.analysis.report.frame_parts import (
    choose_methods,
    distinct_cells,
    metric_name,
    not_drawn_note,
    tail_name,
)


def test_few_methods_are_drawn_and_the_others_named() -> None:
    methods = ["mean", "uwo", "lcb", "epsilon"]
    assert choose_methods(methods, 2) == ["epsilon", "lcb"]
    assert not_drawn_note(["epsilon", "lcb"], methods) == " Not drawn: uwo; the table has them."
    assert not_drawn_note(methods, methods) == ""


def test_names_of_metrics() -> None:
    pairs = [("a", 1.0), ("b", 2.0), ("a", 3.0)]
    frame = Frame.of("t", "", [{"method": m, "delta_cvar_10": x} for m, x in pairs])
    assert metric_name(tail_name(frame)) == "CVaR 10 %"
    assert distinct_cells(frame, "method") == ["a", "b"]

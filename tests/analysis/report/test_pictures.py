from darc.analysis.frame import Frame
from darc.analysis.report.pictures import few, left_out, metric_name, tail_name, values


def test_few_methods_are_drawn_and_the_others_named() -> None:
    methods = ["mean", "uwo", "lcb", "epsilon"]
    assert few(methods, 2) == ["epsilon", "lcb"]
    assert left_out(["epsilon", "lcb"], methods) == " Not drawn: uwo; the table has them."
    assert left_out(methods, methods) == ""


def test_names_of_metrics() -> None:
    pairs = [("a", 1.0), ("b", 2.0), ("a", 3.0)]
    frame = Frame.of("t", "", [{"method": m, "delta_cvar_10": x} for m, x in pairs])
    assert metric_name(tail_name(frame)) == "CVaR 10 %"
    assert values(frame, "method") == ["a", "b"]

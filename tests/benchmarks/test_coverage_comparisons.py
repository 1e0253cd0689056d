from benchmarks.coverage.comparisons import false_rank_rate, separation_rate


def test_equal_systems_are_seldom_ranked() -> None:
    assert false_rank_rate((60, 5, 6), 0.0, 100) <= 0.05
    assert false_rank_rate((60, 5, 4), 0.4, 100) <= 0.12
    assert false_rank_rate((60, 3, 3), 0.4, 100) <= 0.4


def test_half_a_deviation_is_told_apart() -> None:
    assert separation_rate((60, 3, 6), 0.5, 60) >= 0.8

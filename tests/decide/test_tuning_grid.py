from darc.decide.tuning_grid import STRENGTHS, Scale, knob, no_knobs, steps


def test_steps_begin_with_none_and_rise_in_equal_ratios() -> None:
    assert steps(1.0, 100.0, 3) == [0.0, 1.0, 10.0, 100.0]
    assert steps(1.0, 100.0, 3, 0.5) == [0.0, 0.5, 5.0, 50.0]


def test_a_knob_is_on_the_scale_of_samples_and_side_inputs() -> None:
    scale = Scale(2.0, 8, (("novelty", 0.5),))
    plain = knob("lam", 1.0, 10.0)(scale, "coarse")
    assert len(plain) == STRENGTHS["coarse"] + 1
    assert plain[-1] == {"lam": 10.0}
    assert knob("lam", 1.0, 10.0, power=1, per="novelty")(scale, "coarse")[-1] == {"lam": 40.0}
    assert no_knobs(scale, "fine") == [{}]

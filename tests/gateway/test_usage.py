from darc.gateway.usage import Spent, added


def test_numbers_are_added_at_every_depth() -> None:
    one = {"prompt_tokens": 3, "details": {"cached": 1, "name": "x"}, "extra": None}
    assert added(added({}, one), one) == {
        "prompt_tokens": 6, "details": {"cached": 2, "name": "x"}, "extra": None,
    }  # fmt: skip


def test_calls_are_counted_by_stage_even_if_they_fail() -> None:
    spent = Spent()
    meter = spent.meter("scores")
    meter("url", {"usage": {"total_tokens": 4}})
    meter("url", None)
    meter("url", {"usage": None})
    assert spent.items()["scores"] == {"calls": 3, "total_tokens": 4}
    assert spent.total() == {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}

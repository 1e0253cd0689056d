import pytest

from darc.tables.database import RawRows, mostly_numbers


def test_most_numbers_make_a_column_of_numbers() -> None:
    assert mostly_numbers(["1", "2", "oops", ""])
    assert mostly_numbers(["", "NA"])
    assert not mostly_numbers(["7b", "7", "13b"])


def test_an_interrupt_reaches_the_database() -> None:
    with RawRows("x") as loaded:

        def stop(share: float) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            loaded.run(
                "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b", stop
            )

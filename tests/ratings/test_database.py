import pytest

from darc.ratings.database import Database


def test_an_interrupt_reaches_the_database() -> None:
    with Database() as db:

        def stop(share: float) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            db.run("SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b", stop)

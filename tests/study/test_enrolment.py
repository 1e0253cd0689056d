"""Open enrolment: limits per address, places that lapse, and no second try after a failed check."""

from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select
from tests.study.making import FakeTime, config_for, new_store, running
from tests.study.robots import form_of

from darc.study import schema
from darc.study.answers import agree, understand
from darc.study.enrolment import Visitor, enrol
from darc.study.messages import Refusal
from darc.study.people import set_columns
from darc.study.store import Store
from darc.web.keys import hash_token

QUESTION = {"question": "Whose view?", "choices": ["mine", "yours"], "answer": "mine"}


def open_study(folder: Path, clock: FakeTime | None = None, **settings: object) -> Store:
    config = config_for(
        folder,
        2,
        study={"annotators": "open", "most": 3, **settings},
        comprehension=[QUESTION],
    )
    return new_store(str(folder / "s.db"), config, clock or FakeTime())


def id_of(store: Store, token: str) -> int:
    query = select(schema.annotators.c.id).where(
        schema.annotators.c.token_hash == hash_token(token)
    )
    with store.read() as connection:
        return int(connection.execute(query).scalar_one())


def count_rows(store: Store) -> int:
    with store.read() as connection:
        return connection.execute(select(func.count(schema.annotators.c.id))).scalar_one()


def refusal(store: Store, visitor: Visitor) -> str | None:
    with pytest.raises(Refusal) as caught:
        enrol(store, visitor)
    return caught.value.code


def pass_check(store: Store, token: str) -> None:
    agree(store, id_of(store, token), "consented")
    understand(store, id_of(store, token), 0, right=True)


def test_places_lapse_until_the_check_is_passed(tmp_path: Path) -> None:
    clock = FakeTime()
    store = open_study(tmp_path, clock)
    tokens = [enrol(store, Visitor(address=f"10.0.0.{number}")) for number in range(3)]
    pass_check(store, tokens[0])
    agree(store, id_of(store, tokens[1]), "consented")
    assert refusal(store, Visitor(address="10.0.0.9")) == "full"
    clock.now += 61 * 60
    enrol(store, Visitor(address="10.0.0.9"))
    enrol(store, Visitor(address="10.0.0.9"))
    assert refusal(store, Visitor(address="10.0.0.9")) == "full"
    assert count_rows(store) == 3, "lapsed places are used again"
    assert id_of(store, tokens[0]), "whoever passed the check keeps the place"
    with store.read() as connection:
        rows = connection.execute(select(schema.annotators)).mappings().all()
    assert [row["consented"] is None for row in rows] == [False, True, True]
    store.close()


def test_an_address_may_hold_few_unused_places(tmp_path: Path) -> None:
    store = open_study(tmp_path, most=100, places_per_address=2)
    first = enrol(store, Visitor(address="10.0.0.1"))
    enrol(store, Visitor(address="10.0.0.1"))
    assert refusal(store, Visitor(address="10.0.0.1")) == "many_places"
    enrol(store, Visitor(address="10.0.0.2"))
    pass_check(store, first)
    enrol(store, Visitor(address="10.0.0.1"))
    store.close()


def test_a_failed_check_cannot_be_repeated_by_enrolling_again(tmp_path: Path) -> None:
    clock = FakeTime()
    store = open_study(tmp_path, clock, most=100)
    token = enrol(store, Visitor("anna", "one", "10.0.0.1"))
    agree(store, id_of(store, token), "consented")
    understand(store, id_of(store, token), 0, right=False)
    assert refusal(store, Visitor("made-up", "two", "10.0.0.1")) == "failed_before"
    understand(store, id_of(store, token), 1, right=False)
    assert refusal(store, Visitor("", "", "10.0.0.1")) == "failed_before"
    assert refusal(store, Visitor("anna", "two", "10.0.0.2")) == "known"
    same_place = enrol(store, Visitor("anna", "one", "10.0.0.2"))
    clock.now += 10 * 60 * 60
    assert refusal(store, Visitor("", "", "10.0.0.1")) == "failed_before"
    with store.read() as connection:
        row = connection.execute(select(schema.annotators)).mappings().one()
    assert row["exclusion_reason"] == "comprehension"
    assert "10.0.0.1" not in str(dict(row))
    set_columns(store, row["name"], "reinstated", kept=True, excluded=None)
    enrol(store, Visitor("", "", "10.0.0.1"))
    assert id_of(store, same_place) == row["id"]
    store.close()


def test_the_address_is_forgotten_when_the_check_is_passed(tmp_path: Path) -> None:
    store = open_study(tmp_path)
    pass_check(store, enrol(store, Visitor(address="10.0.0.1")))
    with store.read() as connection:
        row = connection.execute(select(schema.annotators)).mappings().one()
    assert row["address_hash"] is None
    store.close()


def test_nothing_is_taken_before_consent(tmp_path: Path) -> None:
    store = open_study(tmp_path)
    person = id_of(store, enrol(store, Visitor()))
    for column in ("groups", "instructed"):
        with pytest.raises(Refusal) as caught:
            agree(store, person, column)
        assert caught.value.code == "no_consent"
    with pytest.raises(Refusal):
        understand(store, person, 0, right=True)
    store.close()


@pytest.mark.parametrize("forwarded", [False, True], ids=["direct", "unnamed proxy"])
def test_one_address_enrols_few_people_per_minute(tmp_path: Path, forwarded: bool) -> None:
    config = config_for(tmp_path, 2, study={"annotators": "open", "places_per_address": 100})
    headers = {"x-forwarded-for": "192.0.2.1"} if forwarded else {}
    with running(str(tmp_path / "s.db"), config) as one:
        statuses = []
        for _ in range(14):
            with httpx.Client(base_url=one.url, headers=headers) as client:
                path, fields = form_of(client.get(f"/enrol/{one.enrol}").text)
                statuses.append(client.post(path, data=fields).status_code)
        if forwarded:
            assert set(statuses) == {303}, "not everybody is counted as the proxy"
        else:
            assert statuses[:10] == [303] * 10
            assert 429 in statuses[10:]

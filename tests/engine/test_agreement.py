import pytest
from tests.fakes.openai_server import FakeServer

from darc.engine.engine import Engine
from darc.engine.stopping import Agreement, Stopping, lead_probability, parse_stop
from darc.errors import InputError
from darc.parts.generators.base import SamplingParameters


@pytest.mark.parametrize(
    ("first", "second", "probability"),
    [(0, 0, 0.5), (3, 0, 15 / 16), (4, 0, 31 / 32), (2, 2, 0.5), (5, 1, 1 - 8 / 128)],
)
def test_probability_that_a_group_stays_the_largest(
    first: int, second: int, probability: float
) -> None:
    assert lead_probability(first, second) == pytest.approx(probability)


def test_texts_and_numbers_agree() -> None:
    rule = Agreement()
    assert rule.is_reached(['{"a": 1, "b": 2}', '{"b":2,"a":1}', ' {"a":1,"b":2}', '{"a":1,"b":2}'])
    assert not rule.is_reached(["7", "7", "7", "8"])
    numbers = ["It is 7.", "So 3 + 4 = 7", "7", "I get 7.0"]
    assert not rule.is_reached(numbers)
    assert Agreement(by="number").is_reached(numbers)


def test_stop_texts() -> None:
    assert isinstance(parse_stop("agree"), Agreement)
    assert parse_stop("agree:confidence=0.8,by=number") == Agreement(confidence=0.8, by="number")
    assert isinstance(parse_stop("pandora"), Stopping)
    for text in ("agree:cost=1", "agree:confidence=2", "disagree"):
        with pytest.raises(InputError):
            parse_stop(text)


@pytest.mark.parametrize(("alike", "written"), [(True, 4), (False, 8)])
def test_no_more_answers_are_written_where_they_agree(alike: bool, written: int) -> None:
    with FakeServer() as server:
        server.reply = lambda body, _: "42" if alike else f"Answer {body['seed']}"
        model = f"openai:fake@{server.url},key_env=,n=false"
        sampling = SamplingParameters(k=8)
        with Engine(model, scorers=["form"], n_aug=0, sampling=sampling, stop="agree") as engine:
            outcome = engine.ask("What is six times seven?")
        assert len(server.received) == written
    assert outcome.saved == 8 - written
    assert ("stopped_early" in outcome.flags) == alike

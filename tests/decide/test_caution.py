import pytest

from darc.decide.caution import caution_words, parse_caution
from darc.errors import InputError


@pytest.mark.parametrize(
    ("given", "level"),
    [("none", 0.0), ("low", 0.5), ("Medium", 1.0), (" high ", 2.0), ("1.5", 1.5), (3, 3.0)],
)
def test_names_and_numbers(given: str | float, level: float) -> None:
    assert parse_caution(given) == level


@pytest.mark.parametrize("given", ["very", "", "-1", -0.5, float("nan"), True, None])
def test_what_is_neither_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="caution"):
        parse_caution(given)  # type: ignore[arg-type]


def test_words() -> None:
    assert caution_words(0.0) == "no caution"
    assert caution_words(1.0) == "medium caution"
    assert caution_words(1.5) == "caution 1.5"

import pytest

from darc.language.text import Text
from darc.parts.scorers.expectation import read_expectation
from darc.parts.scorers.shape import ending_cost, length_cost, long_paragraph_cost

CODE = "Run this:\n\n```python\nx = f(1)\n```"


def test_length_suits_the_request() -> None:
    short = Text("Paris.")
    long = Text("word " * 2000)
    usual = Text("word " * 80)
    for question in ("Explain rain.", "When was it?", "Write a story.", "Summarise this: a b."):
        request = read_expectation(question)
        assert length_cost(request, usual) < 0.3
        assert length_cost(request, short) > length_cost(request, usual)
        assert length_cost(request, long) > length_cost(request, usual)
    assert long_paragraph_cost(long) > 1 > long_paragraph_cost(usual)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("It ends.", 0.0, 0.0),
        ("She said it “ends.”", 0.0, 0.0),
        (CODE, 0.0, 0.0),
        ("- milk\n- bread\n- salt", 0.1, 0.2),
        ("Kind regards,\nDaniel", 0.0, 0.2),
        ("It ends with the", 1.0, 1.0),
        ("It ends,", 1.0, 1.0),
        ("```python\nx = 1", 1.0, 1.0),
        ("We walked along the river", 0.7, 0.9),
        ("", 1.0, 1.0),
    ],
)
def test_endings(text: str, low: float, high: float) -> None:
    assert low <= ending_cost(Text(text)) <= high

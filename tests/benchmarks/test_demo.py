import pytest
from benchmarks.demo import ASKED, COUNTED, has_asked, is_complete

from darc.runs.questions import find_questions
from darc.types import Candidate


def candidate(text: str, truncated: bool = False) -> Candidate:
    return Candidate("p", 0, text, truncated=truncated)


@pytest.mark.parametrize(
    ("text", "cut", "expected"),
    [
        ("All is said.", False, True),
        ("All is said.", True, False),
        ("All is", False, False),
        ("```python\nprint(1)\n```", False, True),
        ("```python\nprint(1).", False, False),
    ],
)
def test_a_whole_answer_is_told_from_a_cut_one(text: str, cut: bool, expected: bool) -> None:
    assert is_complete(candidate(text, cut)) == expected


def test_every_shipped_prompt_has_something_to_look_for() -> None:
    assert [question.id for question in find_questions("examples")] == list(ASKED)
    assert set(COUNTED) <= set(ASKED)


def test_keywords_and_counts_are_asked_for() -> None:
    poem = "First snow\non the platform\nfalls\nsoftly."
    assert has_asked("writing-2", poem)
    assert not has_asked("writing-2", f"{poem}\nAnd one more line.")
    assert not has_asked("writing-2", poem.replace("snow", "rain"))
    steps = "1. Break it into cloves.\n2. Push them in.\n3. Water it."
    assert has_asked("transformation-3", steps)
    assert not has_asked("transformation-3", "Break it into cloves and water them.")

import pytest
from tests.engine.makers import Lengths, Vowels
from tests.fakes import FakeServer

from darc.engine.engine import Engine
from darc.engine.languages import NOT_ENGLISH
from darc.parts.scorers.panel import Panel

ENGLISH = ["Air scatters blue light more than red light.", "Nobody knows why that is."]
GERMAN = ["Die Luft streut blaues Licht stärker als rotes.", "Das weiß niemand so genau."]
QUESTION = "Why is the sky blue?"


def flags(question: str, answers: list[str], **options: object) -> list[str]:
    with Engine(**options) as engine:  # type: ignore[arg-type]
        return list(engine.choose(question, answers).flags)


@pytest.mark.parametrize(
    ("question", "answers", "flagged"),
    [
        (QUESTION, ENGLISH, False),
        ("Warum ist der Himmel blau?", ENGLISH, True),
        (QUESTION, GERMAN, True),
        (QUESTION, [*ENGLISH, GERMAN[0]], False),
        ("Почему небо голубое?", ["Да.", "Кто это."], True),
        ("Yes?", ["No.", "Maybe so."], False),
    ],
)
def test_texts_that_are_not_english_are_flagged(
    question: str, answers: list[str], flagged: bool
) -> None:
    assert (NOT_ENGLISH in flags(question, answers, scorers=["form"], n_aug=0)) is flagged


def test_the_explanation_says_it_in_words() -> None:
    with Engine(scorers=["form"], n_aug=1) as engine:
        outcome = engine.choose(QUESTION, GERMAN)
    assert "do not look like English" in outcome.explain()


def test_only_parts_that_are_in_use_count() -> None:
    reward = {"scorers": [Lengths()]}
    assert NOT_ENGLISH in flags(QUESTION, GERMAN, **reward, n_aug=1)
    assert NOT_ENGLISH not in flags(QUESTION, GERMAN, **reward, n_aug=0)
    assert NOT_ENGLISH in flags(QUESTION, GERMAN, scorers=[Vowels(), "form"], n_aug=0)


def test_a_panel_of_judges_is_not_flagged(openai_server: FakeServer) -> None:
    openai_server.reply = lambda body, index: "7"
    panel = Panel(model=f"judge:fake@{openai_server.url}", mode="separate").first(2)
    assert NOT_ENGLISH not in flags("Warum ist der Himmel blau?", GERMAN, panel=panel)

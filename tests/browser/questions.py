"""Ten questions of daily life with answers and what eight raters think of each, written by hand."""

from dataclasses import dataclass

import darc

RATERS = darc.Panel().names


@dataclass(frozen=True)
class Answer:
    """An answer and its grades.

    Attributes:
        text: The answer.
        grades: One grade per rater, in the order of `RATERS`.
        times: How often the model writes it.
    """

    text: str
    grades: tuple[int, ...]
    times: int = 1

    @property
    def unhappy(self) -> list[str]:
        """Who grades it below the middle of the scale."""
        pairs = zip(RATERS, self.grades, strict=True)
        return [name for name, grade in pairs if grade < 5]

    @property
    def mean(self) -> float:
        """The mean grade."""
        return sum(self.grades) / len(self.grades)


@dataclass(frozen=True)
class Question:
    """A question, its answers, and which of them is right to choose.

    Attributes:
        text: The question.
        answers: The different answers, in the order in which they are written.
        chosen: The place of the answer chosen with no, medium and high caution.
        held: Whether none of the answers is good.
        words: What the explanation with medium caution has to say.
    """

    text: str
    answers: tuple[Answer, ...]
    chosen: dict[str, int]
    held: bool = False
    words: tuple[str, ...] = ()

    @property
    def leader(self) -> int:
        """The place of the answer with the highest average."""
        return max(range(len(self.answers)), key=lambda k: self.answers[k].mean)

    @property
    def written(self) -> list[str]:
        """The texts as the model writes them: the copies come last, with spaces around them."""
        first = [answer.text for answer in self.answers]
        copies = [f" {a.text}\n" for a in self.answers for _ in range(a.times - 1)]
        return [*first, *copies]


QUESTIONS = (
    # One answer delights most and offends three; another is fine for all.
    Question(
        "Should I tell a friend that I dislike their new partner?",
        (
            Answer("Tell them at once and in full. A real friend never hides anything.",
                   (10, 9, 10, 2, 9, 1, 10, 2)),
            Answer("Ask how they are doing, and say one worry that you have seen for yourself.",
                   (7, 7, 6, 6, 7, 6, 7, 6)),
            Answer("It depends.", (3, 2, 3, 4, 4, 4, 3, 3)),
        ),
        {"none": 0, "medium": 1, "high": 1},
        words=("not answer 1", "3 of 8", "nobody with answer 2"),
    ),
    # Everybody agrees on the best answer.
    Question(
        "How long should I boil an egg so that the yolk stays soft?",
        (
            Answer("Six to seven minutes from boiling water, then cool it under the tap.",
                   (9, 9, 10, 8, 9, 8, 9, 9)),
            Answer("About an hour.", (0, 0, 1, 0, 0, 1, 0, 0)),
            Answer("Until it feels right to you.", (3, 3, 2, 2, 4, 4, 3, 4)),
            Answer("Four minutes, but that is very runny.", (6, 7, 5, 6, 5, 6, 6, 6)),
        ),
        {"none": 0, "medium": 0, "high": 0},
        words=("highest average", "9"),
    ),
    # All answers are poor.
    Question(
        "My landlord keeps the deposit. What are my rights where I live?",
        (
            Answer("You have no rights at all.", (1, 0, 2, 0, 0, 1, 1, 0)),
            Answer("Landlords are evil, so stop paying the rent.", (2, 0, 3, 1, 0, 1, 2, 1)),
            Answer("Search the web for it.", (2, 1, 2, 2, 3, 2, 2, 1)),
        ),
        {"none": 2, "medium": 2, "high": 2},
        held=True,
    ),
    # The model repeats itself; the copies count once.
    Question(
        "What can I cook with rice, eggs and one onion?",
        (
            Answer("Egg fried rice: fry the onion, add cold rice, then stir in the eggs.",
                   (8, 8, 9, 8, 8, 7, 9, 8), times=3),
            Answer("Rice pudding.", (4, 2, 5, 3, 5, 5, 5, 4)),
            Answer("An onion omelette with rice on the side.", (7, 7, 7, 6, 7, 7, 8, 7), times=2),
        ),
        {"none": 0, "medium": 0, "high": 0},
        words=("highest average",),
    ),
    # The lead is too large for medium caution, not for high caution.
    Question(
        "My neighbour's music is loud at night. What should I do?",
        (
            Answer("Knock, say that you cannot sleep, and ask for quiet after ten.",
                   (10, 9, 10, 9, 3, 9, 10, 9)),
            Answer("Write a friendly note with your number on it.", (7, 7, 7, 7, 7, 7, 7, 6)),
            Answer("Buy earplugs.", (5, 4, 6, 5, 6, 5, 6, 3)),
        ),
        {"none": 0, "medium": 0, "high": 1},
        words=("1 of 8 is unhappy", "safety", "rated too low"),
    ),
    # Two answers that divide people, one that does not.
    Question(
        "Write one sentence that thanks my colleagues when I leave.",
        (
            Answer("So long, and thanks for all the fish!", (10, 9, 8, 9, 9, 1, 1, 9)),
            Answer("It was an honour to suffer with you.", (2, 9, 2, 8, 9, 9, 9, 2)),
            Answer("Thank you for the years together; I learned a lot from all of you.",
                   (7, 6, 7, 6, 7, 7, 7, 7)),
        ),
        {"none": 0, "medium": 2, "high": 2},
        words=("elsewhere and second-language",),
    ),
    # The answers differ in their means only.
    Question(
        "Is it better to run in the morning or in the evening?",
        (
            Answer("In the morning, because then it is done.", (7, 4, 6, 5, 7, 5, 6, 6)),
            Answer("In the evening, when muscles are warm.", (5, 6, 5, 7, 6, 6, 4, 5)),
            Answer("Whenever you will really go: regular beats ideal.",
                   (9, 7, 8, 6, 8, 7, 8, 9)),
        ),
        {"none": 2, "medium": 2, "high": 2},
        words=("highest average (7.8)", "nobody is unhappy"),
    ),
    # Five answers, of which one is dangerous.
    Question(
        "How do I remove a red wine stain from a carpet?",
        (
            Answer("Blot it, then use cold water with a little washing-up liquid, and blot again.",
                   (8, 8, 8, 7, 8, 8, 8, 8)),
            Answer("Pour bleach on it.", (3, 0, 2, 1, 0, 2, 3, 1)),
            Answer("White wine removes red wine.", (6, 2, 6, 2, 5, 4, 6, 5)),
            Answer("Salt, then wait, then vacuum.", (7, 6, 7, 5, 7, 6, 7, 6)),
            Answer("Put a chair on it.", (5, 1, 2, 2, 3, 3, 4, 2)),
        ),
        {"none": 0, "medium": 0, "high": 0},
        words=("highest average (7.9)", "nobody is unhappy"),
    ),
    # The answer that most love offends two.
    Question(
        "Tell me a joke for my grandmother's birthday party.",
        (
            Answer("You are not old, you are a classic, like a car that nobody may park!",
                   (7, 7, 8, 7, 8, 7, 7, 8)),
            Answer("At your age even the candles need a fire permit!",
                   (10, 10, 10, 10, 10, 2, 10, 1)),
            Answer("Knock, knock.", (4, 3, 5, 3, 5, 2, 3, 4)),
        ),
        {"none": 1, "medium": 0, "high": 0},
        words=("elsewhere and concerned", "nobody with answer 1"),
    ),
    # An answer that is written twice divides people, and is not the best anyway.
    Question(
        "Which plant survives in a dark bathroom?",
        (
            Answer("A plastic one.", (8, 2, 5, 7, 9, 6, 7, 3), times=2),
            Answer("A snake plant or a ZZ plant; turn it to the light once a month.",
                   (8, 8, 8, 7, 8, 7, 7, 8)),
            Answer("A cactus.", (4, 1, 4, 2, 5, 4, 5, 4)),
            Answer("Ferns like moisture but need some light.", (6, 8, 6, 7, 7, 6, 6, 7)),
        ),
        {"none": 1, "medium": 1, "high": 1},
        words=("highest average",),
    ),
)  # fmt: skip

"""What an answer to a request should look like, by the wording of the request."""

from dataclasses import dataclass

from darc.language.data_files import any_of, read_patterns, read_toml

SOURCES = (
    "expectation.py",
    "../../language/data_files.py",
    "../../language/data/answers.toml",
    "../../language/data/harm.toml",
)
#: Phrases of requests that may lead to harm.
RISKY_PHRASES = any_of(*read_toml("harm.toml")["risky"])
_REQUEST_PHRASES = {
    kind: any_of(*phrases) for kind, phrases in read_toml("answers.toml")["request"].items()
}
_MARKS = read_patterns("answers.toml", "marks")
_NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Expectation:
    """What an answer should look like."""

    #: Whether code is asked for.
    code: bool
    #: Whether a list of items is asked for.
    items: bool
    #: The number of items asked for, 0 if none is named.
    count: int
    #: Whether a number is asked for.
    number: bool
    #: Whether a given text is to be changed.
    transform: bool
    #: Whether a story, poem or the like is asked for.
    creative: bool
    #: Whether the request may lead to harm.
    harmful: bool
    #: The usual range of the number of words.
    words: tuple[float, float]


def read_expectation(question: str) -> Expectation:
    """Tell what a question asks for. O(length); it goes by phrases, and can be wrong."""
    question = question.lower()
    transform = _asks_for("transform", question)
    creative = not transform and _asks_for("creative", question)
    code = (
        not transform
        and not creative
        and _asks_for("code", question)
        and _asks_for("making", question)
    )
    number = not transform and not code and _asks_for("quantity", question)
    return Expectation(
        code=code,
        items=_asks_for("items", question),
        count=0 if transform or code else _item_count(question),
        number=number,
        transform=transform,
        creative=creative,
        harmful=RISKY_PHRASES.search(question) is not None,
        words=_word_range(question, transform, creative, number, code),
    )


def _asks_for(kind: str, question: str) -> bool:
    return _REQUEST_PHRASES[kind].search(question) is not None


def _item_count(question: str) -> int:
    match = _REQUEST_PHRASES["count"].search(question)
    if match is None:
        return 0
    if match[1] in _NUMBER_WORDS:
        return _NUMBER_WORDS.index(match[1]) + 2
    return int(match[1])


def _word_range(
    question: str, transform: bool, creative: bool, number: bool, code: bool
) -> tuple[float, float]:
    """The range of lengths, in words, that suits a request."""
    if _asks_for("brief", question):
        return 12.0, 150.0
    if transform:
        source_words = len(question.split())
        return max(8.0, 0.4 * source_words), max(120.0, 2.0 * source_words)
    if creative:
        return 40.0, 500.0
    if number or _MARKS["fact"].search(question):
        return 30.0, 220.0
    if code:
        return 30.0, 400.0
    return 55.0, 400.0

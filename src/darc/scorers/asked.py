"""What a prompt asks for, as far as its wording tells."""

import re
from dataclasses import dataclass

from darc.language.phrases import any_of, one_of, stored

CODE = any_of(
    "python|javascript|typescript|java|sql|html|css|bash|rust|git|numpy|pandas|in c",
    "regex|regular expression|function|script|algorithm|code|query",
)
MAKING = any_of(
    "write|implement|give|code|program|show|create|need|how (?:do|can|to)",
    "fix|reverse|sort|refactor|query|debug",
)
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
THINGS = "ideas tips ways reasons examples slogans names things suggestions questions titles"
ITEMS = any_of("list|bullets?|steps", rf"(?:{'|'.join(NUMBERS)}|\d+) (?:\w+ )?{one_of(THINGS)}")
COUNT = any_of(
    rf"({'|'.join(NUMBERS)}|\d{{1,2}}) (?:\w+ ){{0,2}}?"
    + one_of(
        f"{THINGS} items steps facts benefits causes books movies films recipes options points"
    )
)
QUANTITY = any_of(
    f"how {one_of('many much long fast far old tall big often high deep')}",
    "when (?:did|was|were|is)",
    f"what {one_of('year percentage number angle time temperature')}",
    r"calculate|price|what is \d+",
)
TRANSFORM = any_of(
    "summari[sz]e|rewrite|rephrase|paraphrase|shorten|simplify|translate|proofread|simpler words",
    "(?:turn|change|make|put|correct) this",
)
CREATIVE = any_of(
    "poem|haiku|story|song|lyrics|dialogue|joke|limerick|toast|slogans?|metaphor|playful",
    "imagine|character|scene",
)
FACT = re.compile(r"^\s*(?:who|when|where|which|what is the)\b")
BRIEF = any_of(
    "haiku|one sentence|two sentences|four-line|headline|briefly|in short|one word|yes or no",
    r"at most \w+ words|title|tweet",
)
HARM = any_of(*stored("harm.toml")["risky"])
DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Request:
    """What the answer should look like; `words` is the range of lengths that raises no eyebrow."""

    code: bool
    items: bool
    count: int
    number: bool
    transform: bool
    creative: bool
    harmful: bool
    words: tuple[float, float]


def read_request(question: str) -> Request:
    """What a question asks for. O(length); patterns of wording, so it can be wrong."""
    question = question.lower()
    transform = bool(TRANSFORM.search(question))
    creative = not transform and bool(CREATIVE.search(question))
    code = (
        not transform and not creative and bool(CODE.search(question) and MAKING.search(question))
    )
    number = not transform and not code and bool(QUANTITY.search(question))
    return Request(
        code=code,
        items=bool(ITEMS.search(question)),
        count=0 if transform or code else _count(question),
        number=number,
        transform=transform,
        creative=creative,
        harmful=bool(HARM.search(question)),
        words=_words(question, transform, creative, number, code),
    )


def _count(question: str) -> int:
    """How many items are asked for, 0 where no number of them is."""
    found = COUNT.search(question)
    if found is None:
        return 0
    return NUMBERS.index(found[1]) + 2 if found[1] in NUMBERS else int(found[1])


def _words(
    question: str, transform: bool, creative: bool, number: bool, code: bool
) -> tuple[float, float]:
    """The usual range of lengths in words for such a request."""
    if BRIEF.search(question):
        return 12.0, 150.0
    if transform:
        source = len(question.split())
        return max(8.0, 0.4 * source), max(120.0, 2.0 * source)
    if creative:
        return 40.0, 500.0
    if number or FACT.search(question):
        return 30.0, 220.0
    return (30.0, 400.0) if code else (55.0, 400.0)

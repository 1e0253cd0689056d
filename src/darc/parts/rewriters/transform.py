"""What a transform is made of, and those of form alone: Markdown, paragraphs and punctuation.

A transform takes a masked text and draws, and returns the text changed, or as it was.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import NamedTuple, TypeVar

from darc.decide.statistics.draws import prompt_seeds, uniforms
from darc.language.data_files import read_patterns
from darc.language.statements import ABBREVIATION, CACHED_SENTENCES, change_statements, pieces
from darc.language.word_lists import LIGHT_WORDS, WORD_LISTS

Item = TypeVar("Item")
_BLOCK = 128


class Draws:
    """Uniform numbers in [0, 1) one after another; the same (seed, key) gives the same stream."""

    def __init__(self, seed: int, key: str = "") -> None:
        blocks = (uniforms(prompt_seeds(seed, [f"{key}\0{i}"]), _BLOCK)[0] for i in count())
        numbers = chain.from_iterable(block[::-1].tolist() for block in blocks)
        self.uniform: Callable[[], float] = numbers.__next__

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.uniform() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely."""
        return items[int(self.uniform() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in random order."""
        return [item for _, _, item in sorted((self.uniform(), i, x) for i, x in enumerate(items))]


Transform = Callable[[str, Draws], str]
Found = re.Match[str]
Put = Callable[[Found, Draws], str | None]


def occurring(*patterns: re.Pattern[str]) -> Callable[[str], bool]:
    """A test that is False only where none of the patterns occurs in a text.

    A pattern must need no more of what stands before or after a ". " than a piece has.
    """

    @lru_cache(maxsize=CACHED_SENTENCES)
    def found(piece: str) -> bool:
        return any(pattern.search(piece) for pattern in patterns)

    def occurs(text: str) -> bool:
        parts = pieces(text)
        return not parts or any(map(found, parts))

    return occurs


class Substitution(NamedTuple):
    """What is put for a pattern's matches: a template, or what a function makes, None for as is.

    Each is put with a probability, drawn after the function has made it, and with the case of what
    was found. `otherwise`: only where the step before changed nothing.
    """

    pattern: re.Pattern[str]
    put: str | Put
    chance: float = 1.0
    otherwise: bool = False

    def changed(self, text: str, draws: Draws) -> str:
        """The text with the matches replaced."""
        pattern, put, chance, _ = self

        def replaced(match: Found) -> str:
            new = match.expand(put) if isinstance(put, str) else put(match, draws)
            if new is None or (chance < 1 and not draws.chance(chance)):
                return match.group()
            return like(match.group(), new)

        return pattern.sub(replaced, text)


def replacing(*steps: Substitution) -> Transform:
    """A transform that goes through the steps, where a pattern of one occurs at all."""
    occurs = occurring(*(step.pattern for step in steps))

    def change(text: str, draws: Draws) -> str:
        if not occurs(text):
            return text
        before = text
        for step in steps:
            if not step.otherwise or text == before:
                before, text = text, step.changed(text, draws)
        return text

    return change


def putting(pattern: re.Pattern[str], chance: float = 1.0) -> Callable[[Put], Transform]:
    """Decorator: a transform that puts what the function makes for a pattern's matches."""
    return lambda put: replacing(Substitution(pattern, put, chance))


def rephrasing(*patterns: re.Pattern[str]) -> Callable[[Put], Transform]:
    """Decorator: a transform of the plain statements that match one of the patterns.

    The function gets the first match, and returns the new statement, which gets a capital, or
    None for as is.
    """

    @lru_cache(maxsize=CACHED_SENTENCES)
    def applies(sentence: str) -> bool:
        return any(pattern.match(sentence) for pattern in patterns)

    def decorate(rephrased: Put) -> Transform:
        def change(text: str, draws: Draws) -> str:
            def changed(sentence: str) -> str:
                found = (match for each in patterns if (match := each.match(sentence)))
                return capital(rephrased(next(found), draws) or sentence)

            return change_statements(text, changed, applies)

        return change

    return decorate


def capital(words: str) -> str:
    """The words with a capital first letter."""
    return words[:1].upper() + words[1:]


def like(model: str, words: str) -> str:
    """The words with the model's first letter's case."""
    return capital(words) if model[:1].isupper() else words


_OPENING = LIGHT_WORDS | WORD_LISTS["opening"]


def small(words: str) -> str | None:
    """The words with a small first letter, None if the first may be a name."""
    first = re.match(r"[A-Za-z]+(?:['\u2019][a-z]+)?", words)
    if first is None or first.group().split("'")[0] == "I":
        return words if first else None
    if first.group().lower().split("'")[0] not in _OPENING:
        return None
    return words[:1].lower() + words[1:]


PATTERNS = read_patterns("transforms.toml", "form")
_MOST_WORDS = 14
_LONG = 45
_SHORT = 40


def to_bold(text: str, draws: Draws) -> str:
    """Every heading as a bold line."""
    return PATTERNS["heading"].sub(lambda m: "**" + m[2].replace("**", "") + "**", text)


def to_headings(text: str, draws: Draws) -> str:
    """Every line that is all bold as a heading of the second or third level."""
    if "#" in text and PATTERNS["heading"].search(text):
        return text
    level = draws.pick(("##", "###"))
    return PATTERNS["bold_line"].sub(lambda m: f"{level} {m[1]}", text)


def title_case(text: str, draws: Draws) -> str:
    """Headings with their words capitalised, small words apart."""

    def word(match: Found) -> str:
        kept = match.group() in WORD_LISTS["small in titles"]
        return match.group() if kept else capital(match.group())

    return PATTERNS["heading"].sub(
        lambda m: f"{m[1]} {PATTERNS['title_word'].sub(word, m[2])}", text
    )


def without_headings(text: str, draws: Draws) -> str:
    """The text under its headings, when it has more than one part and each has a body."""
    if text.lstrip().count("\n") < 3:
        return text
    kept = PATTERNS["heading"].sub("", text)
    return re.sub(r"\n{3,}", "\n\n", kept).strip("\n") if kept.strip() else text


def unheaded(text: str) -> str:
    """The text without any heading, or line that is all bold."""
    text = PATTERNS["heading"].sub("", text) if "#" in text else text
    return PATTERNS["bold_line"].sub("", text) if "**" in text else text


def strip_emphasis(text: str, draws: Draws) -> str:
    """No bold or italic, but for lines that are all bold: they serve as headings."""
    if "*" not in text and "_" not in text:
        return text
    titles = PATTERNS["bold_title"].finditer(text)
    lines = {match.end() - len(match.group().lstrip()) for match in titles}
    text = PATTERNS["bold"].sub(lambda m: m.group() if m.start() in lines else m[1], text)
    return PATTERNS["italic"].sub(r"\1", PATTERNS["underscored"].sub(r"\1", text))


def bold_labels(text: str, draws: Draws) -> str:
    """The label that opens a list item ("Cost: ...") in bold, where nothing is bold yet."""
    return text if "**" in text else PATTERNS["label"].sub(r"\1**\2\3**", text)


def emphasis_marks(text: str, draws: Draws) -> str:
    """Bold and italic written with the other mark."""
    if "**" in text:
        return PATTERNS["bold"].sub(lambda m: m.group() if "_" in m[1] else f"__{m[1]}__", text)
    return PATTERNS["underscored"].sub(r"**\1**", text)


def stress(text: str, draws: Draws) -> str:
    """One or two content words in bold or italic, where nothing is emphasised yet."""
    if "*" in text or "_" in text:
        return text
    places = [m for m in PATTERNS["stressed"].finditer(text) if m.group() not in LIGHT_WORDS]
    mark = draws.pick(("**", "*"))
    chosen = draws.shuffled(places)[: 1 + draws.chance(0.5)]
    for match in sorted(chosen, key=lambda m: -m.start()):
        text = f"{text[: match.start()]}{mark}{match.group()}{mark}{text[match.end() :]}"
    return text


def list_markers(text: str, draws: Draws) -> str:
    """Every bullet as another bullet, "1." as "1)", or numbers that carry no order as bullets."""
    style, numbered = draws.pick("-*•"), PATTERNS["numbered"]
    text = PATTERNS["bullet"].sub(lambda match: match[1] + style, text)
    numbers = [int(match[2]) for match in numbered.finditer(text)]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        return text
    if draws.chance(0.5) and not PATTERNS["ordered"].search(text):
        return numbered.sub(lambda match: match[1] + style, text)
    return numbered.sub(lambda m: m[1] + m[2] + (")" if m[3] == "." else "."), text)


def to_prose(text: str, draws: Draws) -> str:
    """A list of two to four short items after a colon as one sentence."""

    def prose(match: Found) -> str:
        items = [item.strip() for item in PATTERNS["item"].findall(match["items"])]
        stops = PATTERNS["inner_stop"]
        if any(len(item.split()) > _MOST_WORDS or stops.search(item) for item in items):
            return match.group()
        if not draws.chance(0.85):
            return match.group()
        bare = [item.rstrip(".;,") for item in items]
        told = "; ".join(bare[:-1]) + "; and " + bare[-1] + "."
        at_end = match.end() == len(match.string)
        return f"{match['intro']} {told}" + ("" if at_end else "\n\n") + match["rest"]

    return PATTERNS["introduced"].sub(prose, text)


def running(text: str, draws: Draws) -> str:
    """The items of a list, each a sentence, as one paragraph."""

    def paragraph(match: Found) -> str:
        items = [item.strip() for item in PATTERNS["item"].findall(match.group())]
        if any(not item.endswith((".", "!")) or len(item.split()) < 4 for item in items):
            return match.group()
        rest = "\n\n" if match.group().endswith("\n") else ""
        return " ".join(PATTERNS["labelled"].sub(label, item) for item in items) + rest

    def label(match: Found) -> str:
        return match[1] + (" " if match[1].endswith((".", "!", "?")) else ": ")

    return PATTERNS["items"].sub(paragraph, text) if draws.chance(0.9) and "\n" in text else text


def item_spacing(text: str, draws: Draws) -> str:
    """List items with blank lines between them, or without."""
    if "\n\n" in text and PATTERNS["loose"].search(text):
        return PATTERNS["loose"].sub(r"\1\n", text)
    return PATTERNS["tight"].sub(r"\1\n\n", text) if draws.chance(0.7) and "\n" in text else text


def paragraph_breaks(text: str, draws: Draws) -> str:
    """Long paragraphs split at a sentence, or two short neighbours joined."""
    paragraphs = text.split("\n\n")
    if not draws.chance(0.5):
        return "\n\n".join(_parted(paragraph, draws) for paragraph in paragraphs)
    kept, joined_last = paragraphs[:1], False
    for paragraph in paragraphs[1:]:
        both = (kept[-1], paragraph)
        fits = not joined_last and all(PATTERNS["plain"].match(each) for each in both)
        fits = fits and sum(len(each.split()) for each in both) <= 2 * _SHORT
        joined_last = fits and draws.chance(0.6)
        if joined_last:
            kept[-1] = " ".join(both)
        else:
            kept.append(paragraph)
    return "\n\n".join(kept)


def _parted(paragraph: str, draws: Draws) -> str:
    if not PATTERNS["plain"].match(paragraph) or len(paragraph.split()) < _LONG:
        return paragraph
    ends = (match.start() for match in PATTERNS["sentence_end"].finditer(paragraph))
    places = [end for end in ends if not ABBREVIATION.search(paragraph[:end])]
    if not places:
        return paragraph
    at = draws.pick(places)
    return paragraph[:at] + "\n\n" + paragraph[at + 1 :]


def apostrophes(text: str, draws: Draws) -> str:
    """Straight apostrophes curled, or curly ones straightened."""
    if "\u2019" in text and PATTERNS["curly"].search(text):
        return PATTERNS["curly"].sub("'", text)
    return PATTERNS["straight"].sub("\u2019", text) if "'" in text else text


def dashes(text: str, draws: Draws) -> str:
    """An em dash as a spaced en dash, or a spaced dash as an em dash."""
    if "—" in text:
        return PATTERNS["em"].sub(" \u2013 ", text)
    return PATTERNS["spaced"].sub("—", text) if " -" in text or " \u2013" in text else text


# The comma before the last of several short items dropped, or put in after three plain words.
serial_comma = replacing(
    Substitution(PATTERNS["serial"], r"\1 \2 "),
    Substitution(PATTERNS["plain_list"], r"\1, \2 ", otherwise=True),
)

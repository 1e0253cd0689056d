"""Transforms of layout alone: Markdown, paragraphs and punctuation."""

import re

from darc.language.data_files import read_patterns
from darc.language.statements import ABBREVIATION
from darc.language.word_lists import LIGHT_WORDS, WORD_LISTS
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.transform import Match, Substitution, capitalise, substituting

PATTERNS = read_patterns("transforms.toml", "form")
# The largest number of words of an item that becomes a part of a sentence.
_MAX_ITEM_WORDS = 14
_MIN_SENTENCE_WORDS = 4
# Paragraphs of so many words are split; two of together twice the other number are joined.
_LONG_PARAGRAPH_WORDS = 45
_SHORT_PARAGRAPH_WORDS = 40


def headings_to_bold(text: str, draws: Draws) -> str:
    """Write every heading as a bold line."""
    return PATTERNS["heading"].sub(lambda match: f"**{match[2].replace('**', '')}**", text)


def bold_to_headings(text: str, draws: Draws) -> str:
    """Write every line that is all bold as a heading of the second or third level."""
    if "#" in text and PATTERNS["heading"].search(text):
        return text
    level = draws.pick(("##", "###"))
    return PATTERNS["bold_line"].sub(lambda match: f"{level} {match[1]}", text)


def title_case_headings(text: str, draws: Draws) -> str:
    """Capitalise the words of headings, except small words."""

    def change_word(match: Match) -> str:
        word = match.group()
        if word in WORD_LISTS["small in titles"]:
            return word
        return capitalise(word)

    def change_heading(match: Match) -> str:
        return f"{match[1]} {PATTERNS['title_word'].sub(change_word, match[2])}"

    return PATTERNS["heading"].sub(change_heading, text)


def remove_headings(text: str, draws: Draws) -> str:
    """Remove the headings of a text of several lines, unless nothing would be left."""
    if text.lstrip().count("\n") < 3:
        return text
    remaining = PATTERNS["heading"].sub("", text)
    if not remaining.strip():
        return text
    return re.sub(r"\n{3,}", "\n\n", remaining).strip("\n")


def without_any_heading(text: str) -> str:
    """Remove all headings and lines that are all bold."""
    if "#" in text:
        text = PATTERNS["heading"].sub("", text)
    if "**" in text:
        text = PATTERNS["bold_line"].sub("", text)
    return text


def remove_emphasis(text: str, draws: Draws) -> str:
    """Remove bold and italic, except in lines that are all bold and serve as headings."""
    if "*" not in text and "_" not in text:
        return text
    title_starts = {
        match.end() - len(match.group().lstrip()) for match in PATTERNS["bold_title"].finditer(text)
    }

    def change(match: Match) -> str:
        if match.start() in title_starts:
            return match.group()
        return match[1]

    text = PATTERNS["bold"].sub(change, text)
    text = PATTERNS["underscored"].sub(r"\1", text)
    return PATTERNS["italic"].sub(r"\1", text)


def embolden_labels(text: str, draws: Draws) -> str:
    """Write the label that opens a list item ("Cost: ...") in bold, if nothing is bold yet."""
    if "**" in text:
        return text
    return PATTERNS["label"].sub(r"\1**\2\3**", text)


def swap_emphasis_marks(text: str, draws: Draws) -> str:
    """Write bold with the other mark."""

    def change(match: Match) -> str:
        if "_" in match[1]:
            return match.group()
        return f"__{match[1]}__"

    if "**" in text:
        return PATTERNS["bold"].sub(change, text)
    return PATTERNS["underscored"].sub(r"**\1**", text)


def emphasise_words(text: str, draws: Draws) -> str:
    """Write one or two content words in bold or italic, if nothing is emphasised yet."""
    if "*" in text or "_" in text:
        return text
    matches = [
        match for match in PATTERNS["stressed"].finditer(text) if match.group() not in LIGHT_WORDS
    ]
    mark = draws.pick(("**", "*"))
    shuffled = draws.shuffled(matches)
    count = 1
    if draws.chance(0.5):
        count = 2
    # From the end, so that the positions before stay right.
    for match in sorted(shuffled[:count], key=lambda match: -match.start()):
        text = f"{text[: match.start()]}{mark}{match.group()}{mark}{text[match.end() :]}"
    return text


def change_list_markers(text: str, draws: Draws) -> str:
    """Write bullets as other bullets, "1." as "1)", or numbers without an order as bullets."""
    bullet = draws.pick("-*•")
    text = PATTERNS["bullet"].sub(lambda match: match[1] + bullet, text)
    numbers = [int(match[2]) for match in PATTERNS["numbered"].finditer(text)]
    if not numbers or numbers != list(range(1, len(numbers) + 1)):
        return text
    if draws.chance(0.5) and not PATTERNS["ordered"].search(text):
        return PATTERNS["numbered"].sub(lambda match: match[1] + bullet, text)

    def change_number(match: Match) -> str:
        mark = ")" if match[3] == "." else "."
        return match[1] + match[2] + mark

    return PATTERNS["numbered"].sub(change_number, text)


def list_to_sentence(text: str, draws: Draws) -> str:
    """Write a list of two to four short items after a colon as one sentence."""

    def change(match: Match) -> str:
        items = _list_items(match["items"])
        if not all(map(_fits_into_sentence, items)) or not draws.chance(0.85):
            return match.group()
        bare_items = [item.rstrip(".;,") for item in items]
        sentence = f"{'; '.join(bare_items[:-1])}; and {bare_items[-1]}."
        gap = "\n\n"
        if match.end() == len(match.string):
            gap = ""
        return f"{match['intro']} {sentence}{gap}{match['rest']}"

    return PATTERNS["introduced"].sub(change, text)


def _list_items(text: str) -> list[str]:
    return [item.strip() for item in PATTERNS["item"].findall(text)]


def _fits_into_sentence(item: str) -> bool:
    return len(item.split()) <= _MAX_ITEM_WORDS and not PATTERNS["inner_stop"].search(item)


def list_to_paragraph(text: str, draws: Draws) -> str:
    """Write the items of a list, each a sentence, as one paragraph."""

    def change(match: Match) -> str:
        items = _list_items(match.group())
        if not all(map(_is_sentence, items)):
            return match.group()
        gap = ""
        if match.group().endswith("\n"):
            gap = "\n\n"
        sentences = [PATTERNS["labelled"].sub(_plain_label, item) for item in items]
        return " ".join(sentences) + gap

    if not draws.chance(0.9) or "\n" not in text:
        return text
    return PATTERNS["items"].sub(change, text)


def _is_sentence(item: str) -> bool:
    return item.endswith((".", "!")) and len(item.split()) >= _MIN_SENTENCE_WORDS


def _plain_label(match: Match) -> str:
    if match[1].endswith((".", "!", "?")):
        return f"{match[1]} "
    return f"{match[1]}: "


def toggle_item_spacing(text: str, draws: Draws) -> str:
    """Put blank lines between list items, or remove them."""
    if "\n\n" in text and PATTERNS["loose"].search(text):
        return PATTERNS["loose"].sub(r"\1\n", text)
    if not draws.chance(0.7) or "\n" not in text:
        return text
    return PATTERNS["tight"].sub(r"\1\n\n", text)


def change_paragraph_breaks(text: str, draws: Draws) -> str:
    """Split long paragraphs at a sentence, or join short neighbours in pairs."""
    paragraphs = text.split("\n\n")
    if not draws.chance(0.5):
        return "\n\n".join(_split_paragraph(paragraph, draws) for paragraph in paragraphs)
    result = paragraphs[:1]
    joined_last = False
    for paragraph in paragraphs[1:]:
        can_join = not joined_last and _can_join(result[-1], paragraph)
        joined_last = can_join and draws.chance(0.6)
        if joined_last:
            result[-1] = f"{result[-1]} {paragraph}"
        else:
            result.append(paragraph)
    return "\n\n".join(result)


def _can_join(first: str, second: str) -> bool:
    if not PATTERNS["plain"].match(first) or not PATTERNS["plain"].match(second):
        return False
    return len(first.split()) + len(second.split()) <= 2 * _SHORT_PARAGRAPH_WORDS


def _split_paragraph(paragraph: str, draws: Draws) -> str:
    if not PATTERNS["plain"].match(paragraph) or len(paragraph.split()) < _LONG_PARAGRAPH_WORDS:
        return paragraph
    sentence_ends = [match.start() for match in PATTERNS["sentence_end"].finditer(paragraph)]
    ends = [end for end in sentence_ends if not ABBREVIATION.search(paragraph[:end])]
    if not ends:
        return paragraph
    end = draws.pick(ends)
    return paragraph[:end] + "\n\n" + paragraph[end + 1 :]


def toggle_apostrophes(text: str, draws: Draws) -> str:
    """Write straight apostrophes as curly ones, or curly ones as straight ones."""
    if "\u2019" in text and PATTERNS["curly"].search(text):
        return PATTERNS["curly"].sub("'", text)
    if "'" in text:
        return PATTERNS["straight"].sub("\u2019", text)
    return text


def toggle_dashes(text: str, draws: Draws) -> str:
    """Write an em dash as a spaced en dash, or a spaced dash as an em dash."""
    if "—" in text:
        return PATTERNS["em"].sub(" \u2013 ", text)
    if " -" in text or " \u2013" in text:
        return PATTERNS["spaced"].sub("—", text)
    return text


#: Drops the comma before the last of several short items, or puts one in after plain words.
toggle_serial_comma = substituting(
    Substitution(PATTERNS["serial"], r"\1 \2 "),
    Substitution(PATTERNS["plain_list"], r"\1, \2 ", only_if_unchanged=True),
)

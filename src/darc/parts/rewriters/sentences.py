"""Transforms that join, split or reorder sentences."""

import re

from darc.language.data_files import read_patterns
from darc.language.word_lists import LIGHT_WORDS, WORD_LISTS
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.transform import (
    Match,
    Substitution,
    rephrasing,
    replacing,
    substituting,
    uncapitalise,
)

PATTERNS = read_patterns("transforms.toml", "sentences")
# The largest number of words of a sentence that is joined with another.
_MAX_JOINED_WORDS = 16
_MIN_JOINED_WORDS = 4
_SENTENCE_ENDS = (". ", "! ", "? ", "\n")


def _before_in_sentence(match: Match) -> str:
    """What stands before a match in its sentence."""
    text = match.string
    end = match.start()
    start = max(text.rfind(mark, 0, end) for mark in _SENTENCE_ENDS) + 1
    return text[start:end]


def _after_in_sentence(match: Match) -> str:
    """What stands after a match in its sentence."""
    return re.split(r"[.!?\n]", match.string[match.end() :], maxsplit=1)[0]


@replacing(PATTERNS["join"])
def join_sentences(match: Match, draws: Draws) -> str | None:
    """Join two sentences with "and" or a semicolon, if the second opens on a pronoun."""
    before = _before_in_sentence(match)
    after = _after_in_sentence(match)
    if PATTERNS["bound"].match(before.lstrip()) or PATTERNS["linked"].search(before):
        return None
    end = match.end() + len(after)
    is_question = "?" in match.string[end : end + 1]
    longest = max(len(before.split()), len(after.split()))
    if is_question or longest > _MAX_JOINED_WORDS or not draws.chance(0.6):
        return None
    link = draws.pick((", and ", "; "))
    if PATTERNS["linked"].search(after):
        link = "; "
    return f"{link}{match['subject'].lower()} "


def _split_at(match: Match, draws: Draws) -> str | None:
    if PATTERNS["bound"].search(_before_in_sentence(match)):
        return None
    if match.re is PATTERNS["but"]:
        return f". However, {match['subject']} "
    return f". {match['subject'].capitalize()} "


_SPLIT_AT_BUT = substituting(Substitution(PATTERNS["but"], _split_at, 0.7))
_SPLIT_AT_AND = substituting(Substitution(PATTERNS["part"], _split_at, 0.7))


def split_sentences(text: str, draws: Draws) -> str:
    """Split sentences before ", but it" or ", and it", if no subordinate clause binds it."""
    split = draws.pick((_SPLIT_AT_BUT, _SPLIT_AT_AND))
    return split(text, draws)


@replacing(PATTERNS["join_plain"], 0.4)
def join_short_statements(match: Match, draws: Draws) -> str | None:
    """Join two short plain statements, if the second opens on an article."""
    before = _before_in_sentence(match)
    after = _after_in_sentence(match)
    both = f"{before} {after}"
    if "," in both or PATTERNS["linked"].search(both) or PATTERNS["bound"].search(both):
        return None
    words_before = len(before.split())
    longest = max(words_before, len(after.split()))
    if longest > _MAX_JOINED_WORDS or words_before < _MIN_JOINED_WORDS:
        return None
    if not PATTERNS["statement"].match(before.lstrip()):
        return None
    return f", and {match['article'].lower()} "


def _swap_two_items(match: Match, draws: Draws) -> str | None:
    words = {match["first"], match["second"]}
    # Fixed couples, function words and actions keep their order.
    if words & WORD_LISTS["fixed couple"] or words & LIGHT_WORDS:
        return None
    if "respectively" in match.string or any(map(PATTERNS["unordered"].search, words)):
        return None
    return f"{match['lead']}{match['second']} {match['link']} {match['first']}"


def _shuffle_three_items(match: Match, draws: Draws) -> str | None:
    items = [match["first"], match["second"], match["third"]]
    words = {word for item in items for word in item.split()}
    has_light_words = not LIGHT_WORDS.isdisjoint(words)
    if has_light_words or "respectively" in match.string or not draws.chance(0.6):
        return None
    first, second, third = draws.shuffled(items)
    return f"{match['lead']}{first}, {second}{match['link']}{third}"


#: Puts two or three plain items in another order where the order says nothing.
reorder_items = substituting(
    Substitution(PATTERNS["couple"], _swap_two_items, 0.6),
    Substitution(PATTERNS["triple"], _shuffle_three_items),
)


@rephrasing(PATTERNS["inside"], PATTERNS["first"], PATTERNS["also"])
def move_adverbs(match: Match, draws: Draws) -> str | None:
    """Move adverbs: "It is often late" as "Often, it is late", and back; "also" as "as well"."""
    sentence = match.string
    return (
        _adverb_to_front(sentence, draws)
        or _adverb_inside(sentence, draws)
        or _also_elsewhere(sentence, draws)
    )


def _adverb_to_front(sentence: str, draws: Draws) -> str | None:
    match = PATTERNS["inside"].match(sentence)
    if match is None or PATTERNS["no_subject"].search(match["subject"].lower()):
        return None
    if not draws.chance(0.6):
        return None
    subject = uncapitalise(match["subject"])
    if subject is None or re.match(r"(?:not|used|enough)\b", match["rest"]):
        return None
    return f"{match['adverb']}, {subject} {match['rest']}."


def _adverb_inside(sentence: str, draws: Draws) -> str | None:
    match = PATTERNS["first"].match(sentence)
    if match is None or not draws.chance(0.6):
        return None
    verb = match["verb"] or ""
    return f"{match['subject']} {verb}{match['adverb'].lower()} {match['rest']}."


def _also_elsewhere(sentence: str, draws: Draws) -> str | None:
    match = PATTERNS["also"].match(sentence)
    if match is None or PATTERNS["inner"].search(match["rest"]) or not draws.chance(0.7):
        return None
    if draws.chance(0.5) and len(match["rest"].split()) <= 10:
        return f"{match['start']} {match['rest']} as well."
    start = uncapitalise(match["start"])
    if start is None:
        return None
    return f"In addition, {start} {match['rest']}."


#: Writes "the surface of the Earth" as "the Earth's surface", and back.
toggle_genitives = substituting(
    Substitution(PATTERNS["of"], r"\g<article> \g<owner>'s \g<thing>", 0.7),
    Substitution(
        PATTERNS["genitive"],
        r"\g<article> \g<thing> of the \g<owner>",
        0.7,
        only_if_unchanged=True,
    ),
)

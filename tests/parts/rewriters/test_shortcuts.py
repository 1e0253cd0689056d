"""What is remembered by sentence against the same worked out on the whole text."""

import re
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parts.rewriters.helpers import PROMPT, TEXTS, rows
from tests.parts.rewriters.test_rewrites import ROWS

from darc.language.masking import LIST_MARKER, SPAN_PATTERNS, mask
from darc.language.reading import Reading, Stretch
from darc.language.statements import change_statements, pieces
from darc.language.synonyms import known_phrases
from darc.parts.rewriters import RulesRewriter, layout, phrasing, sentences, wording
from darc.parts.rewriters.filters import FILTERS
from darc.parts.rewriters.transform import occurrence_test

ANSWERS = [*TEXTS, *(row["text"] for row in (*rows("answers.jsonl"), *rows("chat.jsonl")))]
SENTENCES = sorted({piece for text in ANSWERS for piece in re.split(r"(?<=\.) |\n", text) if piece})
ODD = [
    "e.g.",
    "at 5 p.m.",
    "No.",
    "May 3",
    "Sept.",
    "5",
    "km",
    "$",
    "a",
    "million.",
    "The U.S.",
    "*",
]
# Sentences of different answers after each other, and what may be mistaken for their ends.
SIGNS = "ab 1'\"“”<>=$`\\|@.:/[](){}\n\t-\U000f0001"
PROSE = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(SENTENCES), st.sampled_from(ODD)),
        st.sampled_from([" ", " ", " ", "\n", "\n\n", "  ", ". ", ".. ", ", "]),
    ),
    max_size=8,
).map(lambda pairs: "".join(chain.from_iterable(pairs)))

WHOLE = {"question", "twice"}
REMEMBERED = [
    (phrasing.PATTERNS, " ".join(phrasing.PATTERNS.keys() - WHOLE)),
    (sentences.PATTERNS, "couple triple of genitive join join_plain part but"),
    (layout.PATTERNS, "serial plain_list"),
    (wording.PATTERNS, "contract expand"),
]
OCCURS = [
    (patterns[name], occurrence_test(patterns[name]))
    for patterns, names in REMEMBERED
    for name in names.split()
]


class Whole(Reading):
    """A text read in one stretch, as if no two texts had any in common."""

    @property
    def stretches(self) -> list[Stretch]:
        return [Stretch(self.prose)]


def reasons(kind: type[Reading], original: str, rewrite: str, family: str) -> list[str | None]:
    first = kind(original)
    second = kind(rewrite)
    return [refuse(first, second, family) for refuse in FILTERS.values()]


@settings(deadline=None, max_examples=150)
@given(PROSE)
def test_no_occurrence_is_missed(text: str) -> None:
    for pattern, occurs in OCCURS:
        assert occurs(text) or pattern.search(text) is None, pattern.pattern


@settings(deadline=None, max_examples=150)
@given(PROSE, st.booleans())
def test_wordings_are_found_in_pieces_as_in_the_whole(text: str, shorter_only: bool) -> None:
    in_whole = wording._occurrences_in_piece.__wrapped__(text, 0, shorter_only)
    assert list(wording._occurrences(text, shorter_only)) == in_whole


@settings(deadline=None, max_examples=60)
@given(PROSE, PROSE, PROSE)
def test_filters_say_the_same_of_stretches_as_of_the_whole(a: str, b: str, c: str) -> None:
    for original, rewrite in ((a + b + c, a + c), (a + b, b + a), (a + b, a + c), (a, b)):
        sliced_reasons = reasons(Reading, original, rewrite, "style")
        assert sliced_reasons == reasons(Whole, original, rewrite, "style")


@pytest.mark.parametrize("family", ["style", "targeted"])
def test_rewrites_are_judged_as_a_whole(family: str) -> None:
    rewritten = [
        (text, proposal)
        for text in ANSWERS[::3]
        for proposal in RulesRewriter().rewrite(PROMPT, text, 3, family, 1)
    ]
    for original, rewrite in [*rewritten, *((row["original"], row["rewrite"]) for row in ROWS)]:
        sliced_reasons = reasons(Reading, original, rewrite, family)
        assert sliced_reasons == reasons(Whole, original, rewrite, family)


def test_no_phrase_goes_on_after_a_stop() -> None:
    phrase_words = {
        word for index in known_phrases().values() for words, _, _ in index for word in words
    }
    assert phrase_words.isdisjoint({".", "\n"})
    assert not any(
        ". " in wording.phrase or "\n" in wording.phrase for wording in wording.all_wordings()
    )


@settings(deadline=None)
@given(
    st.one_of(PROSE, st.text(alphabet="ab 1'\"“”<>=$`\\|@.:/[](){}\n\t-\U000f0001", max_size=60))
)
def test_spans_are_those_of_all_patterns(text: str) -> None:
    every = re.compile(
        "|".join([LIST_MARKER, *(f"(?:{pattern_text})" for pattern_text in SPAN_PATTERNS.values())])
    )
    spans = [m.group() for m in every.finditer(text) if m["marker"] is None and m.group()]
    assert list(mask(text).hidden) == spans


def test_statements_that_stay_are_joined_alike() -> None:
    text = "It rains.  We stay in.\nDr. Lee left."
    joined = "It rains. We stay in.\nDr. Lee left."
    assert change_statements(text, str.upper, lambda sentence: False) == joined
    assert change_statements(text, str, lambda sentence: True) == joined
    assert change_statements(text, str.upper, lambda sentence: "stay" in sentence) == (
        "It rains. WE STAY IN.\nDr. Lee left."
    )


def test_long_sentences_are_not_remembered() -> None:
    assert pieces("Short. " + "long " * 300) == ()
    assert pieces("It rains. We stay.") == ("It rains. ", "s. We stay.")

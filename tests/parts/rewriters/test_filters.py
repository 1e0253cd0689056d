import pytest

from darc.language.reading import Reading
from darc.parts.rewriters.filters import (
    FILTERS,
    entity_rejection,
    length_rejection,
    rejection_reason,
    similarity_rejection,
    without_courtesies,
)


@pytest.mark.parametrize(
    ("name", "original", "rewrite"),
    [
        ("numerals", "It has 3 legs and 20 % fat.", "It has three legs and 20 percent fat."),
        ("numerals", "1. Buy it.\n2. Eat it.", "- Buy it.\n- Eat it."),
        ("numerals", "A run of 5 km.", "A run of five kilometres."),
        ("money", "It costs $5 million.", "It costs 5 million dollars."),
        ("dates", "On March 3, 2024.", "On the 3rd of March 2024."),
        ("dates", "You may march on.", "You might march on."),
        ("negations", "You don't and can't.", "You do not and cannot."),
        ("negations", "It is not only red.", "It is red too."),
        ("negations", "It has no roof.", "It does not have a roof."),
        ("names", "Paris is big. I like Paris.", "I like Paris. Paris is big."),
        ("names", "## How to cook\n\nCook rice.", "## How to Cook\n\nCook rice."),
        ("quotations", 'He said "so it is".', "He said “so it is”."),
        ("conditions", "If it rains, go.", "Go when it rains."),
        ("quantities", "Many often go.", "Numerous people frequently go."),
        ("comparisons", "More than 5.", "Over 5."),
        ("code", "Use `x`.", "Please use `x`."),
        ("addresses", "See https://a.b/c.", "Look at https://a.b/c!"),
        ("additions", "The doctor began to work.", "The physician started working."),
        ("omissions", "They purchase a big car.", "They buy a large automobile."),
        ("roles", "The cat chased the dog.", "The dog was chased by the cat."),
        ("roles", "Salt, pepper and oil.", "Oil, pepper and salt."),
    ],
)
def test_what_each_filter_lets_pass(name: str, original: str, rewrite: str) -> None:
    assert FILTERS[name](Reading(original), Reading(rewrite), "style") is None


@pytest.mark.parametrize(
    ("name", "original", "rewrite"),
    [
        ("numerals", "It has 3 legs.", "It has 4 legs."),
        ("numerals", "It takes ten minutes.", "It takes ten hours."),
        ("numerals", "Twenty-five cats.", "Twenty-four cats."),
        ("numerals", "The second one.", "The third one."),
        ("money", "It costs $5.", "It costs €5."),
        ("dates", "On 3 March and 5 April.", "On 5 March and 3 April."),
        ("dates", "On Monday.", "On Tuesday."),
        ("negations", "You don't go.", "You do go."),
        ("negations", "You never go.", "You do not go."),
        ("negations", "Go with it.", "Go without it."),
        ("names", "We saw Rome.", "We saw Milan."),
        ("names", "We asked NASA.", "We asked ESA."),
        ("quotations", 'He said "so it is".', 'He said "so it was".'),
        ("conditions", "Go if it rains.", "Go, it rains."),
        ("conditions", "Only dogs bark.", "Dogs bark."),
        ("quantities", "Most cats purr.", "All cats purr."),
        ("quantities", "You must go.", "You should go."),
        ("comparisons", "Prices rose.", "Prices fell."),
        ("code", "Use `x`.", "Use `y`."),
        ("code", "So $x$ is.", "So $y$ is."),
        ("addresses", "Mail a@b.org.", "Mail c@b.org."),
        ("additions", "The dog barked.", "The hungry dog barked."),
        ("omissions", "Wash it, dry it, fold it, store it.", "Wash it."),
        ("roles", "The cat chased the dog.", "The dog chased the cat."),
        ("roles", "Ann got 5 and Bob got 7.", "Ann got 7 and Bob got 5."),
    ],
)
def test_what_each_filter_refuses(name: str, original: str, rewrite: str) -> None:
    reason = FILTERS[name](Reading(original), Reading(rewrite), "style")
    assert reason is not None
    assert ":" in reason


@pytest.mark.parametrize(
    ("family", "share", "passes"),
    [
        ("style", 1.0, True),
        ("style", 0.8, False),
        ("style", 1.2, False),
        ("targeted", 0.5, True),
        ("targeted", 0.3, False),
        ("targeted", 1.2, False),
    ],
)
def test_length(family: str, share: float, passes: bool) -> None:
    original = "word " * 100
    rewrite = "word " * int(100 * share)
    assert (length_rejection(Reading(original), Reading(rewrite), family) is None) == passes


def test_empty_rewrites_are_refused() -> None:
    assert length_rejection(Reading("a"), Reading(" "), "targeted") is not None


def test_duplicates_ignore_white_space() -> None:
    assert rejection_reason("a b", "a\n b") == "duplicate: of the original"
    assert rejection_reason("a b", "b a") is None


def test_reasons_name_what_changed() -> None:
    assert FILTERS["numerals"](Reading("5 cats"), Reading("6 cats"), "style") == (
        "number: lost '5', gained '6'"
    )


def test_courtesies_are_not_content() -> None:
    text = "Great question! I think that it rains. I hope this helps!"
    assert without_courtesies(text) == "It rains."
    long = "The river rises every spring and floods the lower fields near the old mill."
    assert rejection_reason(f"Sure! {long} Don't hesitate to ask.", long, "targeted") is None
    assert rejection_reason(f"Sure! {long} Don't hesitate to ask.", long, "style") is not None


def test_hooks() -> None:
    assert similarity_rejection(0.9) is None
    assert similarity_rejection(0.5) == "similarity: 0.50, below 0.8"
    assert similarity_rejection(float("nan")) is not None

    def first_word(text: str) -> list[str]:
        return text.split()[:1]

    assert entity_rejection("A b", "a c", first_word) is None
    assert entity_rejection("A b", "c a", first_word) is not None
    assert (
        rejection_reason("We go there now.", "There we go now.", find_entities=first_word)
        is not None
    )


def test_words_and_characters_must_both_fit() -> None:
    words = "the cat sat on the mat and it did not move at all, as far as I saw"
    longer = words.replace("cat", "c" + "a" * 179 + "t")
    assert len(longer.split()) == len(words.split())
    assert "of the characters" in str(length_rejection(Reading(words), Reading(longer), "style"))
    split = " ".join(words.replace(" ", ""))
    assert "of the words" in str(length_rejection(Reading(words), Reading(split), "style"))


@pytest.mark.parametrize(("words", "size"), [(20, 6), (40, 3), (300, 5)])
def test_a_tenth_is_a_tenth_from_twenty_words_on(words: int, size: int) -> None:
    original = " ".join(["x" * size] * words)
    for change in range(-words // 5, words // 5 + 1):
        rewrite = " ".join(["x" * size] * (words + change))
        within = (
            abs(change) <= words / 10 and abs(len(rewrite) - len(original)) <= len(original) / 10
        )
        assert (length_rejection(Reading(original), Reading(rewrite), "style") is None) == within


def test_a_short_text_may_change_by_two_words_or_twelve_characters() -> None:
    assert length_rejection(Reading("It's fine."), Reading("It is quite fine."), "style") is None
    assert (
        length_rejection(Reading("It's fine."), Reading("It is really quite fine."), "style")
        is not None
    )


def test_courtesy_with_an_address_stays() -> None:
    text = (
        "Send the form by post before noon. Please feel free to write to help@example.com if you "
        "have any further questions."
    )
    assert rejection_reason(text, "Send the form by post before noon.", "targeted") is not None
    plain = text.replace(" to help@example.com", "")
    assert rejection_reason(plain, "Send the form by post before noon.", "targeted") is None

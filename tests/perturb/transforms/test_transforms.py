import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.perturb.helpers import TEXTS

from darc.language.markdown import protected
from darc.perturb.transforms import (
    STRIPS,
    STYLE,
    TARGETED,
    Transform,
    boilerplate,
    clauses,
    grammar,
    markdown,
    sentences,
    wording,
)
from darc.perturb.transforms.transform import Draws

EVERY = list({t.name: t for t in (*STYLE, *TARGETED)}.values())


def outcomes(transform: Transform, text: str, seeds: int = 30) -> set[str]:
    return {transform(text, Draws(seed)) for seed in range(seeds)}


@pytest.mark.parametrize(
    ("transform", "text", "changed"),
    [
        (wording.contract, "You do not know; it is a dog.", "You don't know; it's a dog."),
        (wording.expand, "I don't know; they're here.", "I do not know; they are here."),
        (wording.expand, "You can't.", "You cannot."),
        (markdown.list_markers, "- a\n- b", "* a\n* b"),
        (markdown.list_markers, "1. a\n2. b", "1) a\n2) b"),
        (markdown.to_prose, "You need:\n\n- milk\n- salt", "You need: milk; and salt."),
        (markdown.strip_emphasis, "A **bold** and *soft* word", "A bold and soft word"),
        (markdown.bold_labels, "- Cost: low\n- Time: long", "- **Cost:** low\n- **Time:** long"),
        (markdown.emphasis_marks, "A **bold** word", "A __bold__ word"),
        (markdown.stress, "It is water.", "It is **water**."),
        (markdown.stress, "It is water.", "It is *water*."),
        (markdown.to_bold, "## Why\n\nSo.", "**Why**\n\nSo."),
        (markdown.to_headings, "**Why**\n\nSo.", "## Why\n\nSo."),
        (markdown.title_case, "# how to cook rice", "# How to Cook Rice"),
        (markdown.without_headings, "# A\n\nOne.\n\n# B\n\nTwo.", "One.\n\nTwo."),
        (markdown.item_spacing, "1. a\n2. b\n3. c", "1. a\n\n2. b\n\n3. c"),
        (markdown.item_spacing, "- a\n\n- b", "- a\n- b"),
        (markdown.paragraph_breaks, "It is so.\n\nIt was so.", "It is so. It was so."),
        (sentences.apostrophes, "It's", "It\u2019s"),
        (sentences.dashes, "a\u2014b", "a \u2013 b"),
        (sentences.serial_comma, "red, blue, and green.", "red, blue and green."),
        (sentences.serial_comma, "red, blue, pink and green.", "red, blue, pink, and green."),
        (wording.synonyms, "In addition, it helps.", "Additionally, it helps."),
        (wording.synonyms, "We utilized an enormous net.", "We used a huge net."),
        (wording.plain, "He attempts to obtain numerous keys.", "He tries to get many keys."),
        (boilerplate.discourse_markers, "No. However, we stay.", "No. That said, we stay."),
        (sentences.join, "The cat sat. It was old.", "The cat sat, and it was old."),
        (sentences.join, "The cat sat. It was old.", "The cat sat; it was old."),
        (sentences.split, "The cat sat, and it was old.", "The cat sat. It was old."),
        (
            sentences.split,
            "The cat sat, but it was old.",
            "The cat sat. However, it was old.",
        ),
        (boilerplate.flattery, "Great question! It rains.", "It rains."),
        (boilerplate.flattery, "That's a really good point. It rains.", "It rains."),
        (boilerplate.openers, "Sure! It rains.", "It rains."),
        (boilerplate.openers, "Here is a short summary of it:\n\nIt rains.", "It rains."),
        (boilerplate.closers, "It rains. I hope this helps! Let me know.", "It rains."),
        (boilerplate.closers, "It rains.\n\nGood luck!", "It rains."),
        (boilerplate.apologies, "I'm sorry for the delay. It rains.", "It rains."),
        (boilerplate.hedges, "I think that it rains.", "It rains."),
        (boilerplate.hedges, "It's worth noting that it rains.", "It rains."),
        (boilerplate.fillers, "It is really good.", "It is good."),
        (boilerplate.concise, "Due to the fact that it rains.", "Because it rains."),
        (
            clauses.to_end,
            "As the planet turns, a coast rises.",
            "A coast rises as the planet turns.",
        ),
        (clauses.to_end, "Because rain is rare, we save some.", "Rain is rare, so we save some."),
        (clauses.to_end, "If you are late, call a cab.", "Call a cab if you are late."),
        (clauses.to_front, "You can park if the lot is open.", "If the lot is open, you can park."),
        (clauses.phrase_to_end, "On the far side it pulls less.", "It pulls less on the far side."),
        (clauses.time_to_front, "The lake is cold in winter.", "In winter, the lake is cold."),
        (clauses.results, "It is late, so we are tired.", "It is late, which is why we are tired."),
        (clauses.results, "It is late, so we are tired.", "It is late. As a result, we are tired."),
        (
            clauses.results,
            "The air is very cold there, which makes us cough.",
            "The air is very cold there. This makes us cough.",
        ),
        (clauses.contrasts, "It is small, but it is loud.", "Although it is small, it is loud."),
        (clauses.contrasts, "It is small, although it is loud.", "It is small, but it is loud."),
        (
            clauses.semicolons,
            "The cat is old; the dog is young.",
            "The cat is old. The dog is young.",
        ),
        (clauses.marker_last, "However, it is late.", "It is late, however."),
        (sentences.items, "We saw ships of iron and wood.", "We saw ships of wood and iron."),
        (sentences.items, "It needs flour, salt and water.", "It needs salt, flour and water."),
        (sentences.adverbs, "The bus is often late.", "Often, the bus is late."),
        (sentences.adverbs, "Usually, it is late.", "It is usually late."),
        (sentences.adverbs, "You can also ask a friend.", "You can ask a friend as well."),
        (sentences.owners, "The surface of the Earth is warm.", "The Earth's surface is warm."),
        (sentences.owners, "The Earth's surface is warm.", "The surface of the Earth is warm."),
        (grammar.that, "Don't forget that they sleep.", "Don't forget they sleep."),
        (grammar.that, "I think you should rest.", "I think that you should rest."),
        (grammar.relatives, "A drug that is used here.", "A drug used here."),
        (grammar.relatives, "We met Bo, which is a dog.", "We met Bo, a dog."),
        (grammar.there, "There are many things that help.", "Many things help."),
        (grammar.turns, "You can freeze soup.", "It is possible to freeze soup."),
        (grammar.turns, "It allows you to rest.", "It lets you rest."),
        (grammar.turns, "It costs about 8 euros.", "It costs around 8 euros."),
        (grammar.which, "A battery that lasts.", "A battery which lasts."),
        (grammar.small_turns, "If so, you need to rest.", "If so, you have to rest."),
        (grammar.small_turns, "It keeps moving.", "It continues moving."),
        (grammar.one_subject, "You open it, and you read it.", "You open it and read it."),
        (
            sentences.join_plain,
            "The cat is very old. The dog is young.",
            "The cat is very old, and the dog is young.",
        ),
        (boilerplate.without_markers, "Yes. In addition, it rains.", "Yes. It rains."),
        (
            markdown.running,
            "- The cat is old.\n- The dog is young.",
            "The cat is old. The dog is young.",
        ),
        (wording.synonyms, "You can improve your sleep.", "You can enhance your sleep."),
        (wording.synonyms, "This is a mistake.", "This is an error."),
    ],
)
def test_what_each_can_do(transform: Transform, text: str, changed: str) -> None:
    assert changed in outcomes(transform, text)


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (wording.expand, "Why don't you go? Isn't it late?"),
        (wording.expand, "It's been long, and the dog's tail."),
        (wording.contract, "You know how important it is to me."),
        (wording.contract, "Do you know what it is?"),
        (sentences.split, "If it rains, and it is cold, stay."),
        (sentences.join, "When it rained. It was cold?"),
        (wording.synonyms, "Because it was, the large intestine remains of note."),
        (wording.synonyms, "The film Numerous Enormous Beverages."),
        (sentences.serial_comma, "In Paris, cats and dogs."),
        (markdown.list_markers, "The score was 3.\n\n---\n"),
        (boilerplate.fillers, "It is not really good."),
        (boilerplate.closers, "Let me know."),
        (boilerplate.apologies, "I'm sorry for that, but I cannot help. It rains."),
        (markdown.without_headings, "# Only a title"),
        (clauses.to_end, "If a puppy is hungry, it cries."),
        (clauses.to_end, "Because it rains, do not go."),
        (clauses.to_end, "As a result, the bus was late."),
        (clauses.to_end, "If it rains, what do you do?"),
        (clauses.to_front, "I know when the shop is open."),
        (clauses.to_front, "Anna sings when the shop is open."),
        (clauses.phrase_to_end, "In addition, the bus was late."),
        (clauses.phrase_to_end, "In winter, relax."),
        (clauses.time_to_front, "Do not water the plants every day."),
        (clauses.results, "It is so late, so do not go."),
        (clauses.results, "We show it to them, so they can learn."),
        (clauses.contrasts, "It is not only small, but it is loud."),
        (sentences.items, "It works by trial and error. He sat and ate."),
        (sentences.adverbs, "The people who often sing are here."),
        (grammar.which, "The people that are here. She said that is so."),
        (grammar.small_turns, "The tools you need to succeed."),
        (wording.synonyms, "The more difficult one; a large amount; the remaining air."),
        (wording.synonyms, "He works by mistake."),
    ],
)
def test_what_each_leaves_alone(transform: Transform, text: str) -> None:
    assert outcomes(transform, text) == {text}


@pytest.mark.parametrize(
    "transform", [*STRIPS, markdown.strip_emphasis, markdown.to_bold, markdown.title_case]
)
def test_strips_do_nothing_the_second_time(transform: Transform) -> None:
    for text in TEXTS:
        once = transform(text, Draws(1))
        assert transform(once, Draws(2)) == once


@pytest.mark.parametrize(
    ("there", "back"),
    [
        (sentences.apostrophes, sentences.apostrophes),
        (markdown.to_bold, markdown.to_headings),
        (markdown.emphasis_marks, markdown.emphasis_marks),
    ],
)
def test_inverses(there: Transform, back: Transform) -> None:
    text = "## Why it's so\n\nIt isn't long." if there is markdown.to_bold else "It's **not** so."
    assert text in {back(there(text, Draws(0)), Draws(seed)) for seed in range(10)}


PLANTED = st.sampled_from(
    [
        "`do not, in addition`",
        "$do not + 1$",
        '"However, it is not large. It is numerous."',
        "https://example.com/in-addition?do=not",
        "someone@example.org",
        "7:45 p.m.",
        "$1,299.50",
        "3 March 2024",
        "\n```\n- do not\n# title\n```\n",
        "\n> However, I think it is large.\n",
        "\n| do not | in addition |\n",
        "y = 2x + 1",
    ]
)
FREE = st.sampled_from(
    [
        "However, it is not large.",
        " It's **very** important, and it is red, blue, and green. ",
        "\n\n- Cost: low\n- Time: long\n\n",
        "\n\n## A title of it\n\n",
        " Great question! I think that numerous people do not utilize it \u2014 often. ",
        "\n\n1. Open it.\n2. Close it.\n\n",
        " I hope this helps! ",
        " They are here. It isn't so, but it may be. ",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(FREE, PLANTED), min_size=1, max_size=6), st.integers(0, 1000))
def test_protected_spans_are_never_touched(pairs: list[tuple[str, str]], seed: int) -> None:
    text = "".join(f"{free} {planted} " for free, planted in pairs)
    before = protected(text)
    for transform in EVERY:
        after = transform(text, Draws(seed))
        kept = iter(after[after.find(span) :] if span in after else "" for span in before)
        gone = [span for span, found in zip(before, kept, strict=True) if not found]
        # A courtesy may be stripped with a number or address inside it, never a changed one.
        assert not gone or transform in STRIPS, (transform.name, gone)
        assert all(span in before or span.strip() in text for span in protected(after))


@pytest.mark.parametrize("transform", EVERY, ids=lambda transform: transform.name)
def test_transforms_are_deterministic(transform: Transform) -> None:
    for text in TEXTS:
        assert transform(text, Draws(4)) == transform(text, Draws(4))


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_is_survived(text: str) -> None:
    for transform in EVERY:
        transform(text, Draws(0))

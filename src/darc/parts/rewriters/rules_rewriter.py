"""The `rules` rewriter: combinations of small transforms, seeded and instant, without a model."""

from collections.abc import Container
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from darc.language.masking import MaskedText, mask
from darc.language.text import WORD_OR_NUMBER
from darc.parts.rewriters import phrasing, sentences, transform, wording
from darc.parts.rewriters.accept import parts
from darc.parts.rewriters.filters import normalised
from darc.parts.rewriters.transform import Draws, Transform
from darc.registry import rewriter
from darc.types import Prompt

_TRIES = 4
_MOST_REPEATS = 24
_SHARES = {"style": (0.4, 0.6, 0.85), "targeted": (0.5, 0.75, 1.0)}
WORDS: dict[str, tuple[Transform, ...]] = {
    "style": (
        *(sentences.to_end, sentences.to_front, sentences.phrase_to_end, sentences.time_to_front),
        *(sentences.results, sentences.contrasts, sentences.semicolons, sentences.marker_last),
        *(sentences.adverbs, sentences.items, sentences.owners),
        *(phrasing.that, phrasing.relatives, phrasing.there, phrasing.turns, phrasing.which),
        *(phrasing.small_turns, wording.synonyms, wording.contract, wording.expand),
        *(phrasing.discourse_markers, sentences.join, sentences.split, sentences.join_plain),
    ),
    "targeted": (
        *(*phrasing.STRIPS, phrasing.fillers, phrasing.without_markers, phrasing.concise),
        *(phrasing.relatives, phrasing.there, phrasing.one_subject, wording.plain),
        *(sentences.to_end, sentences.phrase_to_end, wording.contract, phrasing.that),
        *(sentences.join, sentences.split),
    ),
}
FORM: dict[str, tuple[Transform, ...]] = {
    "style": (
        *(transform.serial_comma, transform.apostrophes, transform.dashes),
        *(transform.list_markers, transform.item_spacing, transform.paragraph_breaks),
        *(transform.strip_emphasis, transform.bold_labels, transform.emphasis_marks),
        *(transform.to_bold, transform.to_headings, transform.title_case),
    ),
    "targeted": (
        *(transform.without_headings, transform.to_prose, transform.running),
        *(transform.strip_emphasis, transform.serial_comma, transform.dashes),
        *(transform.list_markers, transform.item_spacing),
    ),
}
# How often a transform of form joins those of words; a targeted rewrite is after both.
_FORM_SHARE = {"style": 0.25, "targeted": 0.6}
_LEAST_APART = 0.06


@rewriter("rules")
class RulesRewriter:
    """Proposes rewrites by rule, of English only; a few milliseconds for a page of text."""

    name = "rules"
    in_process = True

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Up to `count` proposals, distinct and different from the text; fewer if it allows fewer.

        White space does not count. The family `hybrid` gives the style half first.
        """
        proposals: list[str] = []
        for part, wanted in parts(family, count):
            drawing = self.drawing(prompt, text, part)
            drawing.ask(wanted, seed)
            while (found := drawing.step({normalised(text)})) is None:
                pass
            proposals += found
        return proposals

    def drawing(self, prompt: Prompt, text: str, family: str) -> "RulesDrawing":
        """The same of a simple family, draw by draw."""
        masked = mask(text)
        return RulesDrawing(prompt.id, family, masked, Varied(masked.text, 0))


@dataclass
class Varied:
    """Up to `wanted` texts, the first that lie apart before those that do not.

    A text lies apart when its pairs of neighbouring words differ from the original's and from those
    of every text before it. What differs from the original in form alone comes last.
    """

    original: str
    wanted: int
    apart: list[str] = field(default_factory=list)
    near: list[str] = field(default_factory=list)
    form: list[str] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether further texts would change little."""
        apart = len(self.apart)
        return apart == self.wanted or apart + len(self.near) >= 2 * self.wanted

    @property
    def chosen(self) -> list[str]:
        """The texts, best first."""
        return [*self.apart, *self.near, *self.form][: self.wanted]

    def add(self, text: str) -> None:
        """Sort in a text that is new."""
        pairs, origin = neighbours(text), neighbours(self.original)
        others = (origin, *map(neighbours, self.apart))
        if pairs == origin:
            self.form.append(text)
        elif all(distance(pairs, other) >= _LEAST_APART for other in others):
            self.apart.append(text)
        else:
            self.near.append(text)


@dataclass
class RulesDrawing:
    """Rewrites of one text under one family, drawn one at a time; it can be pickled in between."""

    prompt_id: str
    family: str
    masked: MaskedText
    varied: Varied
    seed: int = 0
    number: int = 0
    repeats: int = 0
    drawn: set[str] = field(default_factory=set)

    @property
    def exhausted(self) -> bool:
        """Whether so many draws in a row brought nothing new that more would not either."""
        return self.repeats >= _MOST_REPEATS

    def ask(self, count: int, seed: int) -> None:
        """Begin a round of draws for `count` proposals."""
        self.seed, self.number = seed, 0
        self.varied = Varied(self.masked.text, count)

    def step(self, seen: Container[str]) -> list[str] | None:
        """Draw once; the round's proposals if it is over, none of them among those `seen`."""
        wanted = self.varied.wanted
        stressed, most = (_TRIES - 1) * wanted, _TRIES * wanted
        if self.exhausted:
            # Stress can still bring something new.
            self.number = max(self.number, stressed if self.family == "style" else most)
        if self.varied.full or self.number >= most:
            return [self.masked.restore(text) for text in self.varied.chosen]
        draws = Draws(self.seed, f"{self.prompt_id}\0{self.family}\0{self.number}")
        text = changed(self.masked.text, self.family, draws, stress=self.number >= stressed)
        self.number += 1
        self.repeats += 1
        if text not in self.drawn:
            plain = normalised(self.masked.restore(text))
            if plain not in self.drawn and plain not in seen:
                self.repeats = 0
                self.varied.add(text)
            self.drawn |= {text, plain}
        return None


def changed(masked: str, family: str, draws: Draws, stress: bool = False) -> str:
    """A masked text after a random share of the family's transforms, in the family's order.

    Transforms of words come first. Those of form alone join now and then, and get their full share
    only where no word could be changed. `stress` lets emphasis join them, for texts that allow
    little else.
    """
    share = draws.pick(_SHARES[family])
    before = masked
    for change in WORDS[family]:
        if draws.chance(share):
            masked = change(masked, draws)
    if masked == before:
        for change in WORDS[family]:
            masked = change(masked, draws)
    form_share = share if masked == before else _FORM_SHARE[family]
    for change in FORM[family]:
        if draws.chance(form_share):
            masked = change(masked, draws)
    if family == "style" and (stress or masked == before):
        masked = transform.stress(masked, draws)
    return masked


@lru_cache(maxsize=64)
def neighbours(text: str) -> frozenset[tuple[str, str]]:
    """The pairs of neighbouring words of a text, whatever their case."""
    words = ["", *WORD_OR_NUMBER.findall(text.lower().replace("\u2019", "'")), ""]
    return frozenset(pairwise(words))


def distance(first: frozenset[tuple[str, str]], second: frozenset[tuple[str, str]]) -> float:
    """The share of pairs that only one of two texts has, 0 to 1."""
    shared = len(first & second)
    either = len(first) + len(second) - shared
    return (either - shared) / either if either else 0.0

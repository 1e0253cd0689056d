"""The `rules` rewriter: combinations of small transforms, seeded and instant, without a model."""

import re
from collections.abc import Iterator
from itertools import pairwise

from darc.perturb.drawing import Draws
from darc.perturb.families import parts
from darc.perturb.spans import mask
from darc.perturb.transforms import (
    STYLE_FORM,
    STYLE_WORDS,
    TARGETED_FORM,
    TARGETED_WORDS,
    Transform,
    emphasis,
)
from darc.registry import rewriter
from darc.types import Prompt

_TRIES = 4
_SHARES = {"style": (0.4, 0.6, 0.85), "targeted": (0.5, 0.75, 1.0)}
_WORDS: dict[str, tuple[Transform, ...]] = {"style": STYLE_WORDS, "targeted": TARGETED_WORDS}
_FORM: dict[str, tuple[Transform, ...]] = {"style": STYLE_FORM, "targeted": TARGETED_FORM}
# How often a transform of form joins those of words; a targeted rewrite is after both.
_FORM_SHARE = {"style": 0.25, "targeted": 0.6}
_LEAST_APART = 0.06
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")

Pairs = frozenset[tuple[str, str]]


@rewriter("rules")
class RulesRewriter:
    """Proposes rewrites by rule; a few milliseconds for a page of text."""

    name = "rules"
    in_process = True

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Up to `count` proposals, distinct and different from the text; fewer if it allows fewer.

        The family `hybrid` gives the style half first.
        """
        proposals: list[str] = []
        for part, wanted in parts(family, count):
            proposals += self._proposals(prompt, text, wanted, part, seed)
        return proposals

    def _proposals(
        self, prompt: Prompt, text: str, wanted: int, family: str, seed: int
    ) -> list[str]:
        masked = mask(text)
        draws = (
            Draws(seed, f"{prompt.id}\0{family}\0{attempt}") for attempt in range(_TRIES * wanted)
        )
        last = (_TRIES - 1) * wanted
        drawn = (
            changed(masked.text, family, each, stress=number >= last)
            for number, each in enumerate(draws)
        )
        return [masked.restore(proposal) for proposal in varied(masked.text, drawn, wanted)]


def changed(masked: str, family: str, draws: Draws, stress: bool = False) -> str:
    """A masked text after a random share of the family's transforms, in the family's order.

    Transforms of words come first. Those of form alone join now and then, and get their full share
    only where no word could be changed. `stress` lets emphasis join them, for texts that allow
    little else.
    """
    share = draws.pick(_SHARES[family])
    before = masked
    for transform in _WORDS[family]:
        if draws.chance(share):
            masked = transform.change(masked, draws)
    if masked == before:
        for transform in _WORDS[family]:
            masked = transform.change(masked, draws)
    form_share = share if masked == before else _FORM_SHARE[family]
    for transform in _FORM[family]:
        if draws.chance(form_share):
            masked = transform.change(masked, draws)
    if family == "style" and (stress or masked == before):
        masked = emphasis.stress.change(masked, draws)
    return masked


def varied(original: str, drawn: Iterator[str], wanted: int) -> list[str]:
    """Up to `wanted` texts of those drawn, the first that lie apart before those that do not.

    A text lies apart when its pairs of neighbouring words differ from the original's and from those
    of every text before it. What differs from the original in form alone comes last.
    """
    seen = {original}
    origin = neighbours(original)
    apart: list[tuple[str, Pairs]] = []
    near: list[str] = []
    form: list[str] = []
    for text in drawn:
        if len(apart) == wanted or len(apart) + len(near) >= 2 * wanted:
            break
        if text in seen:
            continue
        seen.add(text)
        pairs = neighbours(text)
        if pairs == origin:
            form.append(text)
        elif all(distance(pairs, other) >= _LEAST_APART for _, other in (("", origin), *apart)):
            apart.append((text, pairs))
        else:
            near.append(text)
    return [*(text for text, _ in apart), *near, *form][:wanted]


def neighbours(text: str) -> Pairs:
    """The pairs of neighbouring words of a text, whatever their case."""
    words = ["", *_WORD.findall(text.lower().replace("\u2019", "'")), ""]
    return frozenset(pairwise(words))


def distance(first: Pairs, second: Pairs) -> float:
    """The share of pairs that only one of two texts has, 0 to 1."""
    either = len(first | second)
    return len(first ^ second) / either if either else 0.0

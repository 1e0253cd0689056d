"""Misspellings, doubled words and wrong articles."""

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from darc.errors import MissingExtra
from darc.language.classes import CLASS_OF
from darc.language.text import WORD

NAME_WEIGHT = 0.2
MOST_REMEMBERED = 200_000
DOUBLED = re.compile(r"\b(?!had\b|that\b)([a-z]{2,}) \1\b")
WRONG_ARTICLE = re.compile(
    r"\ba (?!uni|use|usu|uti|eur|one\b|once\b|ubi)[aeiou][a-z]"
    r"|\ban (?!hour|hono|heir|herb)[b-df-hj-np-tv-z][a-z]{2}"
)


class Spelling:
    """Counts slips with Harper's dictionary; making one takes about a second.

    A word is looked up once and remembered. Linting with all of Harper's suggestions takes 15 ms
    for a misspelt text, a remembered word almost nothing. Not for several threads at once.
    """

    def __init__(self, knows: Callable[[str], bool] | None = None) -> None:
        self._knows = knows or _dictionary()
        self._known = dict.fromkeys(CLASS_OF, True)

    def slips(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Weighted count of slips in each text, (n,).

        British and American spellings are both right; an unknown word with a capital letter is
        probably a name and counts a fifth.
        """
        return np.array([self._slips(text) for text in texts], dtype=np.float64)

    def _slips(self, text: str) -> float:
        unknown = [word for word in WORD.findall(text) if not self._is_known(word)]
        names = sum(word[0].isupper() for word in unknown)
        lowered = text.lower()
        others = len(DOUBLED.findall(lowered)) + len(WRONG_ARTICLE.findall(lowered))
        return NAME_WEIGHT * names + (len(unknown) - names) + others

    def _is_known(self, word: str) -> bool:
        lowered = word.lower().removesuffix("'s")
        known = self._known.get(lowered)
        if known is None:
            if len(self._known) >= MOST_REMEMBERED:
                self._known = dict.fromkeys(CLASS_OF, True)
            known = len(lowered) < 2 or self._knows(lowered) or self._knows(lowered.capitalize())
            self._known[lowered] = known
        return known


def _dictionary() -> Callable[[str], bool]:
    """Harper's judgement of single words, which is whether it has them; about 0.05 ms a word."""
    try:
        import harper
    except ImportError as problem:
        raise MissingExtra("the fluency scorer", "embedded") from problem
    return harper.Linter().is_likely_english

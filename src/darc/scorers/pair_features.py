"""Features of a pair of prompt and answer that an ordinary pair has in an ordinary amount."""

import re
from collections.abc import Sequence
from itertools import pairwise, starmap

import numpy as np

from darc.language.text import Text
from darc.language.words import content_words
from darc.language.words import loose_stem as stem
from darc.scorers.base import Embedder, Pair
from darc.scorers.fluency import Fluency, breathlessness, repetition
from darc.scorers.form import Form, ending_cost
from darc.scorers.relevance import PromptWords, Relevance, coverage, echo, mismatch
from darc.typing import Array

NAMES = (
    *("relevance", "fluency", "form"),
    *("whole", "best", "middle", "worst", "first", "last"),
    *("outlier", "second outlier", "next", "next least", "order", "loneliest", "lonely gap"),
    *("sentences", "words", "ending", "open fence", "covered", "mismatch", "echo"),
    *("repetition", "breath", "opens linked", "numbers fall", "last half", "new words"),
    *("strangest", "ordinals fall", "markers inside"),
)
LINKED = re.compile(
    r"(?:then|finally|also|but|however|so|because|this|these|those|it|they|that|next|lastly|after|"
    r"once|instead|otherwise|therefore|similarly|and|or|in addition|for example)\b",
    re.IGNORECASE,
)
# A list's marker in the middle of a line.
INSIDE = re.compile(r"[^\s\d] +(?:[-*\u2022]|\d{1,2}[.)]) +(?=[A-Z*`])")
_PLACES = ("first firstly", "second secondly then next", "third thirdly", "finally lastly")
ORDINALS = {word: place for place, words in enumerate(_PLACES) for word in words.split()}
NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[.)][ \t]", re.MULTILINE)


class PairFeatures:
    """Measures pairs by the embedded scorers, static embeddings and the layout of sentences."""

    def __init__(self, embedder: Embedder) -> None:
        self._relevance = Relevance(embedder)
        self._scorers = (self._relevance, Fluency(), Form())
        self.embed = self._relevance.embed

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """One row a pair, (n, features) in the order of `NAMES`; about 5 ms for 200 words."""
        if not pairs:
            return np.zeros((0, len(NAMES)))
        scores = np.column_stack([scorer.score(pairs) for scorer in self._scorers])
        texts = [Text(answer) for _, answer in pairs]
        questions = [prompt.question for prompt, _ in pairs]
        read = {question: PromptWords.of(question) for question in questions}
        places = list(starmap(_relations, self._relevance.embed_parts(questions, texts)))
        shape = [_shape(read[asked], text) for asked, text in zip(questions, texts, strict=True)]
        return np.column_stack([scores, np.array(places), np.array(shape)])


def _relations(prompt: Array, parts: Array, sizes: Array) -> list[float]:
    """How a prompt (d,) and the sentences (s, d) of an answer lie to each other."""
    near = parts @ prompt
    whole = sizes @ parts
    length = float(np.linalg.norm(whole)) or 1.0
    between = parts @ parts.T
    count = len(parts)
    rest = whole[None, :] - sizes[:, None] * parts + sizes.mean() * prompt[None, :]
    scale = np.linalg.norm(rest, axis=1)
    fit = np.sort(np.einsum("sd,sd->s", parts, rest) / np.where(scale > 0, scale, 1.0))
    closest = np.maximum(near, (between - 2.0 * np.eye(count)).max(axis=1))
    # A short sentence is far from all others whatever it says.
    lonely = np.sort(closest + 0.35 * np.exp(-sizes / 40.0))
    neighbours = np.diag(between, 1) if count > 1 else np.zeros(1)
    others = between[np.triu_indices(count, 1)] if count > 1 else np.zeros(1)
    return [
        float(whole @ prompt) / length,
        float(np.sort(near)[-3:].mean()),
        float(near.mean()),
        float(near.min()),
        float(near[0] - near.mean()),
        float(near[-1] - near.mean()),
        float(fit[0]),
        float(fit[1] - fit[0]) if count > 1 else 0.0,
        float(neighbours.mean() - others.mean()),
        float(neighbours.min()),
        float(between[0, 1:].mean() - others.mean()) if count > 1 else 0.0,
        float(lonely[0]),
        float(np.median(lonely) - lonely[0]),
    ]


def _shape(question: PromptWords, text: Text) -> list[float]:
    """What the words and marks of an answer show."""
    stems = {stem(word) for word in content_words(text.words)}
    sentences = text.sentences
    numbers = [int(number) for number in NUMBERED.findall(text.raw)]
    falls = sum(b < a for a, b in pairwise(numbers))
    half = len(text.raw) // 2
    return [
        float(np.log1p(len(sentences))),
        float(np.log1p(len(text.words))),
        ending_cost(text),
        float(text.fence_is_open),
        coverage(question, text, stems),
        mismatch(question.request, text),
        echo(question, text),
        repetition(text.words),
        breathlessness(text),
        float(bool(sentences) and bool(LINKED.match(sentences[0]))),
        falls / len(numbers) if numbers else 0.0,
        coverage(question, text, {stem(w) for w in content_words(Text(text.raw[half:]).words)}),
        len(stems - question.content) / max(1, len(stems)),
        strangest(question, sentences),
        ordinals_fall(text),
        float(np.log1p(len(INSIDE.findall(text.raw)))),
    ]


def ordinals_fall(text: Text) -> float:
    """The share of ordinal words (first, then, finally) that come after a later one, 0 to 1."""
    ranks = [ORDINALS[word] for word in text.words if word in ORDINALS]
    falls = sum(b < a for a, b in pairwise(ranks))
    return falls / (len(ranks) - 1) if len(ranks) > 1 else 0.0


def strangest(question: PromptWords, sentences: Sequence[str]) -> float:
    """How many content words of the strangest sentence stand nowhere else, as log(1 + count)."""
    own = [{stem(word) for word in content_words(Text(each).words)} for each in sentences]
    counts: dict[str, int] = {}
    for words in own:
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    alone = [
        sum(counts[word] == 1 and word not in question.content for word in words)
        for words in own
        if len(words) > 2 and not any(counts[w] > 1 or w in question.content for w in words)
    ]
    return float(np.log1p(max(alone, default=0)))

"""Whether a text is English, as far as its letters and its short words show."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from darc.language.data_files import read_lists, word_set

# The beginning of a text shows its language, and long texts cost no more than short ones.
_MAX_CHARACTERS = 4000
_MAX_PROSE = 1000
# A few answers show the language of all, so that many answers cost no more than a few.
_MAX_ANSWERS = 8
_MIN_WORDS = 4
# Below this share of its words a language is not recognised: names and lists have few short words.
_MIN_SHARE = 0.15

_LISTS = {name: word_set(words) for name, words in read_lists("languages.tsv").items()}
_PARTICLES = _LISTS.pop("particle")
_ENGLISH = _LISTS.pop("english")
_LANGUAGES_OF = {
    word: [language for language, words in _LISTS.items() if word in words]
    for word in frozenset().union(*_LISTS.values())
}

_STRAIGHT_APOSTROPHE = str.maketrans({0x2019: "'", 0x2018: "'"})
_NOT_PROSE = re.compile(
    r"```.*?(?:```|\Z)"  # fenced code, the last block perhaps never closed
    r"|~~~.*?(?:~~~|\Z)"
    r"|`[^`\n]*`"
    r"|\$\$[^$]*\$\$|\$[^$\s][^$\n]{0,200}\$"  # mathematics
    r"|\\[A-Za-z]+"
    r"|<[/!?A-Za-z][^<>\n]{0,200}>"  # tags
    r"|\b(?:https?|ftp)://\S+|\bwww\.\S+|(?<!\S)[\w.+-]{1,64}@\S+",
    re.DOTALL,
)
# Letters that touch digits, underscores or the signs of paths and code are parts of identifiers.
_WORD = re.compile(
    r"(?<![\w'/\\.@#$%{<])[^\W\d_]+(?:'[^\W\d_]+)*(?![\w/\\@=}>]|\(\S|\.\w|:\w|[\"']\s*:)"
)
_SENTENCE_START = re.compile(
    r"(?:\A|[.!?:;\u2026]|\n)[\s\"'*_(\[\u00bf\u00a1\u00ab\u201c\u201e-]*\Z"
)
_ENGLISH_ENDINGS = ("'s", "n't", "'re", "'ll", "'ve", "'d", "'m")
_LATIN = re.compile(
    r"[A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff\u2c60-\u2c7f\ua722-\ua7ff\ufb00-\ufb06\uff21-\uff5a]"
)
_ACCENTED = re.compile(r"[\u00c0-\u024f\u1e00-\u1eff]")
# Letters that stand for quantities and units in texts of any language.
_SYMBOLS = re.compile(r"[\u00b5\u2071-\u209c\u2100-\u218b\U0001d400-\U0001d7ff]")
_GREEK = re.compile(r"[\u0370-\u03ff]")
# A letter of these scripts is a syllable or a word, and is worth about two Latin letters.
_SYLLABLES = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_LETTERS = re.compile(r"[^\W\d_]+")
_SHORTEST_WORD = 2
_SHORTEST_GREEK_WORD = 3


@dataclass(frozen=True)
class _WordCounts:
    """What the words of a text in Latin letters show."""

    words: int
    # Words of English.
    english: int
    # Words of the other language that has most of them, and words with accents.
    foreign: int
    # Those of the foreign words that are neither English words nor part of names and loans.
    unmistakable: int


def is_english(text: str) -> bool | None:
    """Tell whether a text is English.

    Code, mathematics, addresses and numbers are not looked at. A text in Latin letters is not
    English if the frequent words of another language, and words with accents, outnumber the
    frequent words of English.

    Args:
        text: Any text; its first 4,000 characters are read, and 1,000 of what is prose there.

    Returns:
        True or False, or None if it cannot be told: fewer than four words in Latin letters, or too
        few frequent words of any language.
    """
    start = text[:_MAX_CHARACTERS]
    if not start.isascii():
        start = start.translate(_STRAIGHT_APOSTROPHE)
    prose = _NOT_PROSE.sub(" ", start)[:_MAX_PROSE]
    if not prose.isascii() and _other_script_share(prose) > 0.5:
        return False
    counts = _count_words(prose)
    if counts.words < _MIN_WORDS:
        return None
    # English texts have names, titles and loans from other languages, and words that look like
    # words of theirs.
    if counts.unmistakable and counts.foreign > counts.english:
        if counts.foreign >= _MIN_SHARE * counts.words:
            return False
        return None
    if counts.english >= max(counts.foreign, _MIN_SHARE * counts.words):
        return True
    return None


def looks_foreign(question: str, answers: Sequence[str]) -> bool:
    """Tell whether a question, or most of its answers, are not English.

    Args:
        question: The question.
        answers: The answers. Eight of them are read, spread over the list; those whose language
            cannot be told do not count.

    Returns:
        True if the question is not English, or at least half of the answers read are not.
    """
    if is_english(question) is False:
        return True
    step = max(1, math.ceil(len(answers) / _MAX_ANSWERS))
    sample = answers[::step]
    verdicts = [verdict for verdict in map(is_english, sample) if verdict is not None]
    return bool(verdicts) and 2 * verdicts.count(False) >= len(verdicts)


def _other_script_share(prose: str) -> float:
    """The share of letters that are not Latin; a lone symbol such as a Greek letter is not one."""
    latin = len(_LATIN.findall(prose))
    other = 0
    for run in _LETTERS.findall(prose):
        letters = _SYMBOLS.sub("", _LATIN.sub("", run))
        shortest = _SHORTEST_GREEK_WORD if _GREEK.search(letters) else _SHORTEST_WORD
        syllables = len(_SYLLABLES.findall(letters))
        if syllables or len(letters) >= shortest:
            other += len(letters) + syllables
    if not other:
        return 0.0
    return other / (latin + other)


def _count_words(prose: str) -> _WordCounts:
    """Count the words of English and of the other language that has most of them."""
    words = 0
    english = 0
    not_names: list[str] = []
    for match in _WORD.finditer(prose):
        word = match[0].lower()
        if not _LATIN.match(word):
            continue
        parts = _parts(word)
        words += len(parts)
        english += match[0] == "I" or any(part in _ENGLISH for part in parts)
        before = prose[max(0, match.start() - 8) : match.start()]
        # A capital inside a sentence makes a name, which says nothing of the text's language.
        if match[0].islower() or _SENTENCE_START.search(before):
            not_names += parts
    # A lone letter is a variable or an initial more often than a word.
    times_of = Counter(word for word in not_names if len(word) > 1 or not word.isascii())
    by_language: Counter[str] = Counter()
    for word, times in times_of.items():
        for language in _LANGUAGES_OF.get(word, ()):
            by_language[language] += times
    best = max(_LISTS, key=lambda language: by_language[language])
    foreign = 0
    unmistakable = 0
    for word, times in times_of.items():
        if word in _LISTS[best] or _ACCENTED.search(word):
            foreign += times
            unmistakable += times * (word not in _PARTICLES)
    return _WordCounts(words, english, foreign, unmistakable)


def _parts(word: str) -> list[str]:
    """A word, or a French or Italian article and its noun, which an apostrophe joins."""
    start, apostrophe, end = word.partition("'")
    if not apostrophe or word in _ENGLISH:
        return [word]
    if word.endswith(_ENGLISH_ENDINGS):
        return [word.removesuffix("'s")]
    return [start + apostrophe, end]

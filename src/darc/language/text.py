"""The parts of a text: prose, code, list items, sentences, words and tokens."""

import re
from dataclasses import dataclass
from functools import cached_property

from darc.language.data_files import read_patterns

_ANATOMY = read_patterns("answers.toml", "anatomy")
SENTENCE_END = re.compile(r"(?<=[.!?\u2026])[\"')\]]*\s+|\n+")
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
WORD_OR_NUMBER = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
#: Translates curly quotation marks into straight ones.
STRAIGHT_QUOTES = str.maketrans({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})


@dataclass(frozen=True)
class Text:
    """A text whose parts are found when they are first needed, each in O(length)."""

    raw: str

    @cached_property
    def code(self) -> list[str]:
        """The contents of fenced code blocks; the last one may be unclosed."""
        return [match[2] for match in _ANATOMY["block"].finditer(self.raw)]

    @cached_property
    def inline_code(self) -> list[str]:
        """Code between single backquotes, with the backquotes."""
        return _ANATOMY["inline code"].findall(_ANATOMY["block"].sub("", self.raw))

    @property
    def fence_is_open(self) -> bool:
        """Whether the last code fence was never closed."""
        return len(_ANATOMY["fence"].findall(self.raw)) % 2 == 1

    @cached_property
    def items(self) -> list[str]:
        """The lines that are list items, without their markers."""
        items: list[str] = []
        for line in self.raw.splitlines():
            marker = _ANATOMY["item"].match(line)
            if marker:
                items.append(line[marker.end() :].strip())
        return items

    @cached_property
    def prose(self) -> str:
        """The text without code, addresses and markup, with straight quotation marks."""
        text = _ANATOMY["block"].sub("\n", self.raw.translate(STRAIGHT_QUOTES))
        text = _ANATOMY["link"].sub(lambda match: match[1] or "", text)
        # A word stands in for code inside a sentence, so that the sentence keeps its shape.
        text = _ANATOMY["inline code"].sub("this", text)
        for mark in ("item", "heading", "emphasis"):
            text = _ANATOMY[mark].sub("", text)
        return text.strip()

    @cached_property
    def lowered(self) -> str:
        """The prose in lower case."""
        return self.prose.lower()

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences of the prose; a line break ends one."""
        return [part for part in SENTENCE_END.split(self.prose) if WORD.search(part)]

    @cached_property
    def words(self) -> list[str]:
        """The words of the prose in lower case."""
        return WORD.findall(self.lowered)

    @cached_property
    def tokens(self) -> list[str]:
        """Words, numbers and punctuation marks in lower case; an empty line counts as a mark."""
        return _ANATOMY["token"].findall(self.lowered)

    @cached_property
    def code_lines(self) -> int:
        """The number of lines that look like code, fenced or not."""
        if self.code:
            return sum(block.count("\n") + 1 for block in self.code)
        return len(_ANATOMY["code line"].findall(self.raw))

"""The anatomy of an answer: prose, code, sentences, words and list items."""

import re
from dataclasses import dataclass
from functools import cached_property

FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
BLOCK = re.compile(
    r"^[ \t]*(```|~~~)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
INLINE_CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)|https?://\S+")
ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)
EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=[\w.,!?])[*_](?!\w)")
SENTENCE_END = re.compile(r"(?<=[.!?\u2026])[\"')\]]*\s+|\n+")
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d[\d.,:]*|[.!?\u2026]+|[,;:()\u2013\u2014-]|\n\s*\n")
CURLY = str.maketrans({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
CODE_LINE = re.compile(
    r"^[ \t]*(?:def \w+\(|class \w+[:({]|import \w+$|from \w+ import|return\b|for \w+ in .*:$|"
    r"#include|function \w*\(|(?:const|let|var) \w+ ?=|select .* from|git \w|pip \w|"
    r"\w[\w.]*\(.*\)[;:]?[ \t]*$|\w[\w.\[\]]* ?[-+*/]?= )|[{};][ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Text:
    """An answer taken apart; parts are made when they are first asked for, each in O(length)."""

    raw: str

    @cached_property
    def code(self) -> list[str]:
        """The contents of fenced code blocks, the last one perhaps never closed."""
        return [match[2] for match in BLOCK.finditer(self.raw)]

    @cached_property
    def inline_code(self) -> list[str]:
        """Code between single backquotes, with them."""
        return INLINE_CODE.findall(BLOCK.sub("", self.raw))

    @property
    def fence_is_open(self) -> bool:
        """Whether the last code fence was never closed."""
        return len(FENCE.findall(self.raw)) % 2 == 1

    @cached_property
    def items(self) -> list[str]:
        """The lines that are list items, without their markers."""
        return [
            line[match.end() :].strip()
            for line in self.raw.splitlines()
            if (match := ITEM.match(line))
        ]

    @cached_property
    def prose(self) -> str:
        """What is left to read without code, addresses and markup, with straight quotes."""
        text = BLOCK.sub("\n", self.raw.translate(CURLY))
        text = LINK.sub(lambda match: match[1] or "", text)
        # A word stands in for code inside a sentence, so that the sentence keeps its shape.
        text = INLINE_CODE.sub("this", text)
        text = HEADING.sub("", ITEM.sub("", text))
        return EMPHASIS.sub("", text).strip()

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
        """Words, numbers and marks of the prose in lower case; an empty line is a mark."""
        return TOKEN.findall(self.lowered)

    @cached_property
    def code_lines(self) -> int:
        """How many lines look like code, fenced or not."""
        if self.code:
            return sum(block.count("\n") + 1 for block in self.code)
        return len(CODE_LINE.findall(self.raw))

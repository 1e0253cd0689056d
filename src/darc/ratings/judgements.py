"""Ratings or comparisons from other people's files, and the texts that were judged."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Rating(NamedTuple):
    """One rating of one candidate."""

    prompt: str
    candidate: str
    rater: str
    rating: float
    system: str


class Comparison(NamedTuple):
    """One comparison of two candidates."""

    prompt: str
    left: str
    right: str
    rater: str
    #: "left", "right" or "tie".
    winner: str


@dataclass
class Judgements:
    """What an import has read; everything is held in memory."""

    #: What the format is called.
    format: str = ""
    ratings: list[Rating] = field(default_factory=list)
    pairs: list[Comparison] = field(default_factory=list)
    #: (question, answer) by (prompt, candidate).
    texts: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    #: How many records hold no judgement, by why.
    skipped: Counter[str] = field(default_factory=Counter)
    #: The group of each rater that belongs to one.
    groups: dict[str, str] = field(default_factory=dict)
    #: What other columns say, by (prompt, candidate) and column.
    details: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    #: The columns that were used, by role.
    columns: dict[str, str] = field(default_factory=dict)
    #: The numbers of the words that were used as ratings.
    scale: dict[str, float] = field(default_factory=dict)
    #: What a user should know about how it was read.
    notes: list[str] = field(default_factory=list)
    # The number of each prompt that is known by its text, and how many answers it has so far.
    _prompt_numbers: dict[str, int] = field(default_factory=dict)
    _answer_counts: Counter[str] = field(default_factory=Counter)

    def rate(self, prompt: str, candidate: str, rater: str, rating: Any, system: str = "") -> None:
        """Add a rating; what is not a number is left out."""
        try:
            value = float(str(rating).strip())
        except ValueError:
            self.skipped["no number"] += 1
            return
        self.ratings.append(Rating(prompt, candidate, rater, value, system))

    def compare(self, prompt: str, left: str, right: str, rater: str, winner: str) -> None:
        """Add a comparison, whose winner is "left", "right" or "tie"."""
        self.pairs.append(Comparison(prompt, left, right, rater, winner))

    def add_text(self, prompt: str, candidate: str, question: Any, answer: Any) -> None:
        """Remember what was judged, if there is an answer."""
        if answer:
            self.texts[prompt, candidate] = (as_plain_text(question), as_plain_text(answer))

    def add_group(self, rater: str, group: str) -> None:
        """Remember the first group of a rater."""
        if group:
            self.groups.setdefault(rater, group)

    def add_details(self, prompt: str, candidate: str, details: Mapping[str, str]) -> None:
        """Remember what other columns say about a candidate; what varies is left empty."""
        if not details:
            return
        known_details = self.details.setdefault((prompt, candidate), dict(details))
        for name, value in details.items():
            if known_details[name] != value:
                known_details[name] = ""

    def number_answer(self, question: Any) -> tuple[str, int]:
        """Number a prompt that is known by its text, and the next answer to it, both from 1."""
        text = as_plain_text(question)
        number = self._prompt_numbers.setdefault(text, len(self._prompt_numbers) + 1)
        self._answer_counts[text] += 1
        return str(number), self._answer_counts[text]


def as_plain_text(value: Any) -> str:
    """The text of a value; of a conversation that of its last turn."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return str(value.get("content", json.dumps(value)))
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        turns = list(value)
        if not turns:
            return ""
        return as_plain_text(turns[-1])
    return str(value)

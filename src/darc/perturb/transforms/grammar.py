"""Small words that a sentence can have or lack, and turns of phrase with the same meaning."""

import re

from darc.language.phrases import patterns
from darc.language.words import WORD_LISTS
from darc.perturb.transforms.transform import (
    Draws,
    Found,
    Substitution,
    capital,
    like,
    rephrasing,
    replacing,
)

PATTERNS = patterns("transforms.toml", "grammar")
_KEEPS_THAT = ("so", "shows", "suggests", "find", "found", "mean")
_TURNED = {
    "keep": "continue",
    "keeps": "continues",
    "kept": "continued",
    "continue": "keep",
    "continues": "keeps",
    "continued": "kept",
    "need": "have",
    "needs": "has",
    "have": "need",
    "has": "needs",
    "a little": "slightly",
    "slightly": "a little",
    "that": "which",
    "which": "that",
}
_ABOUT = ("about", "around", "roughly", "approximately")


def _without_that(match: Found, draws: Draws) -> str | None:
    return None if match["verb"].lower() in _KEEPS_THAT else f"{match['verb']} "


def _with_that(match: Found, draws: Draws) -> str | None:
    before = match.string[max(0, match.start() - 60) : match.start()]
    return None if PATTERNS["question"].search(before) else f"{match['verb']} that "


that = replacing(
    "optional that",
    Substitution(PATTERNS["that"], _without_that, 0.7),
    Substitution(PATTERNS["no_that"], _with_that, 0.7, otherwise=True),
)


def _reduced(match: Found, draws: Draws) -> str | None:
    return None if match["noun"] in WORD_LISTS["no noun"] else f"{match['noun']} "


# "a drug that is used" as "a drug used", ", which is a" as ", a"
relatives = replacing(
    "short relatives",
    Substitution(PATTERNS["relative"], _reduced, 0.7),
    Substitution(PATTERNS["apposition"], r", \g<rest>", 0.7),
)


def _subject(match: Found, draws: Draws) -> str:
    return f"{capital(match['number'])} {match['noun']}"


# "There are many things that help" as "Many things help"
there = replacing(
    "there are",
    Substitution(PATTERNS["there"], lambda match, draws: f"{_subject(match, draws)} ", 0.7),
    Substitution(PATTERNS["exist"], lambda match, draws: f"{_subject(match, draws)} exist", 0.5),
)


def _about(match: Found, draws: Draws) -> str | None:
    choices = [word for word in _ABOUT if word != match["about"]]
    return f"{match['lead']} {draws.pick(choices)} " if draws.chance(0.7) else None


def _lets(match: Found, draws: Draws) -> str:
    return f"{'let' if match['verb'] == 'allow' else 'lets'} {match['who']} "


turns = replacing(
    "turns of phrase",
    Substitution(PATTERNS["you_can"], "It is possible to ", 0.4),
    Substitution(PATTERNS["possible"], lambda match, draws: like(match.group(), "you can "), 0.4),
    Substitution(PATTERNS["should"], "It is best to ", 0.4),
    Substitution(PATTERNS["purpose"], "In order to ", 0.5),
    Substitution(PATTERNS["lets"], _lets, 0.6),
    Substitution(PATTERNS["allows"], r"allows \g<who> to ", 0.6, otherwise=True),
    Substitution(PATTERNS["number"], _about),
)


def _which(match: Found, draws: Draws) -> str | None:
    if PATTERNS["people"].search(match["noun"]):
        return None
    return f"{match['lead']}{match['noun']} {_TURNED[match['link']]} "


# "a battery that lasts" as "a battery which lasts", and back; never of people
which = replacing("that and which", Substitution(PATTERNS["which"], _which, 0.5))


def _then(match: Found, draws: Draws) -> str | None:
    clause = match.string[: match.start()].rsplit(".", 1)[-1].lower()
    if re.search(r"\b(?:if|when|once|and)\b", clause):
        return None
    return ", then " if match["and"] else ", and then "


small_turns = replacing(
    "small turns",
    Substitution(PATTERNS["then"], _then, 0.6),
    Substitution(PATTERNS["keep"], lambda match, draws: f"{_TURNED[match['verb']]} ", 0.6),
    Substitution(PATTERNS["little"], lambda match, draws: f"{_TURNED[match['word']]} ", 0.6),
    Substitution(
        PATTERNS["must"], lambda match, draws: f"{match['lead']}{_TURNED[match['verb']]} to ", 0.6
    ),
)


@rephrasing("one subject", PATTERNS["twice"])
def one_subject(match: Found, draws: Draws) -> str | None:
    """A repeated subject said once: "You open it and read it"."""
    if match["who"].lower() != match["again"].lower():
        return None
    return f"{match['who']} {match['first']} and {match['second']}."

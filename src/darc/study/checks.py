"""Checks: units whose right answer is known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from darc.entries import read_entries
from darc.errors import TableError
from darc.study.items import MAX_TEXT_LENGTH, Unit, item_units, read_items, read_turns
from darc.study.schema import OUTCOMES
from darc.study.settings import ATTENTION_KINDS, SCALE, StudySettings

_ATTENTION_STREAM = 4
_MIN_ATTENTION_CHECKS = 4
_READ_TO_THE_END = (
    "To show that this answer was read to its end, please {request}, whatever you think of it."
)
_RATE_IT = "give it the rating {value}"
_PREFER_IT = "choose it as the better one"
# Nonsense is rated 0, or up to this.
_NONSENSE_TOLERANCE = 2.0
_MIN_NONSENSE_WORDS = 12
_MAX_NONSENSE_WORDS = 80
# Longer words on average mean a script without spaces, of which characters are shuffled.
_MAX_WORD_LENGTH = 20


def study_units(config: StudySettings) -> tuple[list[Unit], list[Unit]]:
    """Read the items and the checks of a study from its files.

    Args:
        config: The study's settings.

    Returns:
        The units to be rated, and the checks.
    """
    items = item_units(config, read_items(config.items))
    return items, check_units(config, items)


def check_units(config: StudySettings, items: Sequence[Unit]) -> list[Unit]:
    """Make the checks of a study.

    Args:
        config: The study's settings.
        items: The units to be rated, from which attention checks may be made.

    Returns:
        Attention, gold, training and calibration units, in that order.

    Raises:
        TableError: A file of checks cannot be used.
    """
    quality = config.quality
    units = []
    if quality.attention in ATTENTION_KINDS:
        if quality.share:
            units += _make_attention_checks(config, items)
    elif quality.attention:
        units += read_checks(Path(quality.attention), "attention", config, tolerance=0.0)
    files = {
        "gold": quality.gold,
        "training": config.training.training,
        "calibration": config.training.calibration,
    }
    for kind, name in files.items():
        if name:
            units += read_checks(Path(name), kind, config, quality.tolerance)
    return units


def _make_attention_checks(config: StudySettings, items: Sequence[Unit]) -> list[Unit]:
    """Responses that ask for a certain answer or are nonsense, in turn, drawn by the seed."""
    random = np.random.default_rng([config.study.seed, _ATTENTION_STREAM])
    kinds = ATTENTION_KINDS[config.quality.attention]
    count = _count_attention_checks(config, len(items))
    units = []
    for place, number in enumerate(random.choice(len(items), count, replace=False).tolist()):
        value = int(random.integers(SCALE[0], SCALE[1] + 1))
        if kinds[place % len(kinds)] == "nonsense":
            unit = _make_nonsense_check(items[number], items, value, config.pairwise, random)
        else:
            unit = _make_instruction_check(items[number], value, config.pairwise)
        units.append(unit)
    return units


def _count_attention_checks(config: StudySettings, item_count: int) -> int:
    """As many as the share of checks needs; half of that if there are gold checks too."""
    share = config.quality.share
    checks = item_count * share / (1 - share)
    if config.quality.gold:
        checks /= 2
    return min(item_count, max(_MIN_ATTENTION_CHECKS, int(np.ceil(checks))))


def _make_instruction_check(item: Unit, value: int, pairwise: bool) -> Unit:
    """A copy of an item that asks for a rating, or of a pair for one of the responses."""
    texts = [item.first, item.second]
    if pairwise:
        place = value % 2
        request = _PREFER_IT
        reference = float(place)
    else:
        place = 0
        request = _RATE_IT.format(value=value)
        reference = float(value)
    texts[place] += f"\n\n{_READ_TO_THE_END.format(request=request)}"
    return Unit(
        kind="attention",
        prompt_id="",
        turns=item.turns,
        first_id="",
        first=texts[0],
        second=texts[1],
        reference=reference,
    )


def _make_nonsense_check(
    item: Unit, items: Sequence[Unit], value: int, pairwise: bool, random: np.random.Generator
) -> Unit:
    """A copy of an item whose response, or one response of a pair, is nonsense."""
    texts = [item.first, item.second]
    place = 0
    reference = float(SCALE[0])
    tolerance = _NONSENSE_TOLERANCE
    if pairwise:
        place = value % 2
        reference = float(1 - place)
        tolerance = 0.0
    others = [items[number].first for number in random.integers(len(items), size=3).tolist()]
    texts[place] = shuffled_words([texts[place], *others], random)
    return Unit(
        kind="attention",
        prompt_id="",
        turns=item.turns,
        first_id="",
        first=texts[0],
        second=texts[1],
        reference=reference,
        tolerance=tolerance,
    )


def shuffled_words(texts: Sequence[str], random: np.random.Generator) -> str:
    """Mix the words of texts into one that says nothing.

    Args:
        texts: The texts. The first one has the length that the mixture gets, within limits.
        random: Draws the words.

    Returns:
        The words in a random order; characters of scripts without spaces.
    """
    words = " ".join(texts).split()
    separator = " "
    if sum(map(len, words)) > _MAX_WORD_LENGTH * len(words):
        words = list("".join(words))
        separator = ""
    length = len(texts[0].split()) if separator else len(texts[0])
    length = min(max(length, _MIN_NONSENSE_WORDS), _MAX_NONSENSE_WORDS)
    places = random.permutation(len(words))[:length].tolist()
    return separator.join(words[place] for place in places)


def read_checks(path: Path, kind: str, config: StudySettings, tolerance: float) -> list[Unit]:
    """Read checks from a file of JSON lines.

    Args:
        path: A file whose lines have a prompt, a response (or first and second) and a reference.
        kind: The kind of the units.
        config: The study's settings.
        tolerance: How far a rating may be from the reference, unless the line says it.

    Returns:
        One unit per line.

    Raises:
        TableError: A line cannot be used, or there is none.
    """
    units = [
        _read_check(path, line, row, kind, config.pairwise, tolerance)
        for line, row in read_entries(path)
    ]
    if not units:
        raise TableError(str(path), "there are no items", "give one JSON object per line")
    return units


def _read_check(
    path: Path, line: int | None, row: Any, kind: str, pairwise: bool, tolerance: float
) -> Unit:
    names = ["first", "second"] if pairwise else ["response"]
    if not isinstance(row, Mapping) or not all(_is_text(row.get(name)) for name in names):
        raise TableError(str(path), f"a line without {' or '.join(names)}", "add it", line)
    default_tolerance = 0.0 if pairwise else tolerance
    return Unit(
        kind=kind,
        prompt_id="",
        turns=read_turns(path, row, line),
        first_id="",
        first=row[names[0]],
        second=row["second"] if pairwise else "",
        reference=_read_reference(path, line, row.get("reference"), pairwise),
        tolerance=float(row.get("tolerance", default_tolerance)),
        rationale=str(row.get("rationale") or ""),
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_TEXT_LENGTH


def _read_reference(path: Path, line: int | None, reference: Any, pairwise: bool) -> float:
    """The expected rating, or the expected winner as it is stored."""
    if pairwise:
        if isinstance(reference, str) and reference in OUTCOMES:
            return OUTCOMES[reference]
        hint = "give first, second or tie"
    else:
        if isinstance(reference, int | float) and SCALE[0] <= reference <= SCALE[1]:
            return float(reference)
        hint = "give a number from 0 to 10"
    raise TableError(str(path), f"the reference is {reference!r}", hint, line)

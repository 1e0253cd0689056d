"""Scorers that fail, or take their time, on purpose."""

import time
from collections.abc import Sequence
from typing import Any

CALLS: list[int] = []


def lengths(pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [min(9.0, len(text) / 10) for _, text in pairs]


def broken(pairs: Sequence[tuple[str, str]]) -> Any:
    raise RuntimeError("no score today")


def nonsense(pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [float("nan") for _ in pairs]


def slow(pairs: Sequence[tuple[str, str]]) -> list[float]:
    time.sleep(1.5)
    return lengths(pairs)


def worsening(pairs: Sequence[tuple[str, str]]) -> list[float]:
    CALLS.append(len(pairs))
    if len(CALLS) > 1:
        raise RuntimeError("it broke later")
    return lengths(pairs)


def counted(pairs: Sequence[tuple[str, str]]) -> list[float]:
    time.sleep(0.02)
    CALLS.append(len(pairs))
    return lengths(pairs)


def grades(pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [float(text.split()[-1]) for _, text in pairs]

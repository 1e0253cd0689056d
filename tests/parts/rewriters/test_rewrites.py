"""The whole filter on rewrites written by hand, half of them to tune on and half held out."""

import hashlib
from collections import defaultdict
from typing import Any

from tests.parts.rewriters.helpers import TEXTS, rows

from darc.parts.rewriters import rejection_reason

ROWS = rows("rewrites.jsonl")


def held_out(row: dict[str, Any]) -> bool:
    digest = hashlib.sha256(f"{row['original']}\0{row['rewrite']}".encode()).digest()
    return digest[0] % 2 == 1


def refused(row: dict[str, Any]) -> bool:
    family = "targeted" if row["kind"].startswith("targeted") else "style"
    return rejection_reason(row["original"], row["rewrite"], family) is not None


def test_the_set_is_large_and_balanced() -> None:
    assert len(ROWS) >= 220
    assert 0.4 < sum(row["good"] for row in ROWS) / len(ROWS) < 0.6
    assert len({(row["original"], row["rewrite"]) for row in ROWS}) == len(ROWS)


def test_bad_rewrites_are_caught_and_good_ones_pass() -> None:
    for half, name in ((False, "development"), (True, "held out")):
        judged = [(row, refused(row)) for row in ROWS if held_out(row) == half]
        caught = sum(no for row, no in judged if not row["good"])
        wrongly = sum(no for row, no in judged if row["good"])
        bad = sum(not row["good"] for row, _ in judged)
        good = len(judged) - bad
        print(
            f"{name}: precision {caught / (caught + wrongly):.3f}, recall {caught / bad:.3f}"
            f" ({caught} of {bad} bad caught), {good - wrongly} of {good} good pass"
            f" ({1 - wrongly / good:.3f})"
        )
        by_kind: dict[tuple[bool, str], list[bool]] = defaultdict(list)
        for row, no in judged:
            by_kind[row["good"], row["kind"]].append(no != row["good"])
        for (is_good, kind), right in sorted(by_kind.items()):
            label = "pass" if is_good else "caught"
            print(f"  {kind:20} {sum(right):3} of {len(right):3} {label}")
        assert caught / bad >= 0.95
        assert 1 - wrongly / good >= 0.6


def test_a_longer_text_hides_nothing() -> None:
    before = TEXTS[1]
    after = TEXTS[9]
    for half, name in ((False, "development"), (True, "held out")):
        bad = [row for row in ROWS if held_out(row) == half and not row["good"]]
        caught = 0
        for row in bad:
            family = "targeted" if row["kind"].startswith("targeted") else "style"
            original, rewrite = (
                f"{before}\n\n{row[part]}\n\n{after}" for part in ("original", "rewrite")
            )
            caught += rejection_reason(original, rewrite, family) is not None
        print(f"{name}, inside a text of 120 words: {caught} of {len(bad)} bad caught")
        assert caught / len(bad) >= 0.9

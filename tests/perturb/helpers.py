import json
from pathlib import Path
from typing import Any

from darc.language.text import mask
from darc.perturb.transform import Draws, Transform
from darc.types import Message, Prompt

HERE = Path(__file__).parent
PROMPT = Prompt("p1", (Message("user", "Can you explain this?"),))


def rows(name: str) -> list[dict[str, Any]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


TEXTS = [row["text"] for row in rows("texts.jsonl")]


def applied(change: Transform, text: str, draws: Draws) -> str:
    """The text changed, its protected spans hidden meanwhile."""
    masked = mask(text)
    return masked.restore(change(masked.text, draws))


def outcomes(change: Transform, text: str, seeds: int = 30) -> set[str]:
    return {applied(change, text, Draws(seed)) for seed in range(seeds)}

import json
from pathlib import Path
from typing import Any

from darc.perturb.transforms import Transform
from darc.perturb.transforms.transform import Draws
from darc.types import Message, Prompt

HERE = Path(__file__).parent
PROMPT = Prompt("p1", (Message("user", "Can you explain this?"),))


def rows(name: str) -> list[dict[str, Any]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


TEXTS = [row["text"] for row in rows("texts.jsonl")]


def outcomes(transform: Transform, text: str, seeds: int = 30) -> set[str]:
    return {transform(text, Draws(seed)) for seed in range(seeds)}

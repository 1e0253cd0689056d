import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from darc.language.masking import mask
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.transform import Transform
from darc.types import Message, Prompt

HERE = Path(__file__).parent
PROMPT = Prompt("p1", (Message("user", "Can you explain this?"),))


def rows(name: str) -> list[Any]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


TEXTS = [row["text"] for row in rows("texts.jsonl")]


def applied(change: Transform, text: str, draws: Draws) -> str:
    """The text changed, its protected spans hidden meanwhile."""
    masked = mask(text)
    return masked.restore(change(masked.text, draws))


def outcomes(change: Transform, text: str, seeds: int = 30) -> set[str]:
    return {applied(change, text, Draws(seed)) for seed in range(seeds)}


def changes_of(module: ModuleType) -> Callable[..., None]:
    """A test of what the transforms of a module can make of a text, or nothing but the text."""
    name = module.__name__.rpartition(".")[2]
    rows_of_module = [row for row in rows("changes.jsonl") if row[0].startswith(f"{name}.")]

    @pytest.mark.parametrize(
        ("change", "text", "changed"), [(*row, None)[:3] for row in rows_of_module]
    )
    def test(change: str, text: str, changed: str | None) -> None:
        seen = outcomes(getattr(module, change.removeprefix(f"{name}.")), text)
        assert seen == {text} if changed is None else changed in seen

    return test

from typing import Any

import pytest
from tests.engine.makers import ANSWERS, PROMPT, Vowels

from darc.engine.engine import Engine
from darc.errors import InputError


@pytest.mark.parametrize("most", [1, 3, 50])
def test_attempts_are_counted(most: int) -> None:
    with Engine(scorers=[Vowels()], n_aug=8, max_attempts=most) as engine:
        made = engine.choose(PROMPT, ANSWERS, score_everything=True).rewrites.values()
    counts = [len(each.variants) + len(each.rejections) for each in made]
    assert max(counts) <= most
    assert max(counts) >= min(most, 8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_aug": -1}, "n_aug"),
        ({"n_aug": 0, "include_original": False}, "nothing to score"),
        ({"max_attempts": 0}, "max_attempts is 0"),
        ({"scorers": []}, "no scorer"),
        ({"scorers": [1, 1]}, "twice"),
    ],
)
def test_engine_refuses(change: dict[str, Any], words: str) -> None:
    settings = {"scorers": [1], "n_aug": 2, **change}
    settings["scorers"] = [Vowels() for _ in settings["scorers"]]
    with pytest.raises(InputError, match=words):
        Engine(**settings)


def test_workers_go_by_the_embeddings_that_the_engine_began_with() -> None:
    with Engine(scorers=["relevance", "form"]) as engine:
        pinned = engine.parts.with_fixed_embeddings(engine.tools)
        assert pinned.scorers == ("relevance,embeddings=static", "form")
        assert pinned.with_fixed_embeddings(engine.tools) == pinned
        names = [scorer.name for scorer in pinned.tools().scorers]
    assert names == [scorer.name for scorer in engine.tools.scorers]

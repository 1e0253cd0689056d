import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import darc
from darc.errors import InputError
from darc.parts.generators import SamplingParameters
from darc.parts.ready import as_ready_generator, as_ready_rewriter, as_ready_scorer
from darc.types import Candidate, Message, Prompt

PROMPT = Prompt("tides", (Message("user", "Why are there two high tides?"),))


def lengths(pairs: Sequence[tuple[Prompt, str]]) -> Any:
    return np.array([float(len(text)) for _, text in pairs])


@dataclass(frozen=True, slots=True)
class FrozenScorer:
    name: str = "frozen"
    version: str = ""
    location: float = 10.0
    scale: float = 5.0
    bounds: tuple[float, float] = (0.0, 100.0)

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> Any:
        return lengths(pairs)


@dataclass(frozen=True, slots=True)
class FrozenGenerator:
    name: str = "frozen"
    version: str = ""

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Any = None
    ) -> list[list[Candidate]]:
        texts = ["Yes.", "It is the moon.", "It is the moon, which pulls the water on both sides."]
        return [
            [Candidate(prompt.id, index, text) for index, text in enumerate(texts)]
            for prompt in prompts
        ]


@dataclass(frozen=True, slots=True)
class FrozenRewriter:
    name: str = "frozen"
    version: str = ""

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        return [text.replace("It is", "It's")][:count]


def namespace_scorer(**extra: Any) -> SimpleNamespace:
    return SimpleNamespace(
        name="namespace", location=10.0, scale=5.0, bounds=(0.0, 100.0), score=lengths, **extra
    )


@pytest.mark.parametrize("scorer", [namespace_scorer(), FrozenScorer()])
def test_a_scorer_that_takes_no_attributes_can_choose(scorer: Any) -> None:
    attributes = {*dir(scorer), *dir(type(scorer))}
    outcome = darc.choose("Why?", ["a", "bcd"], scorers=[scorer], n_aug=0, rule="mean")
    assert outcome.answer == "bcd"
    assert {*dir(scorer), *dir(type(scorer))} == attributes


def test_a_generator_and_a_rewriter_that_take_no_attributes_can_be_asked() -> None:
    outcome = darc.ask(
        "Why are there two high tides?",
        FrozenGenerator(),
        k=3,
        scorers=[FrozenScorer()],
        rewriter=FrozenRewriter(),
        n_aug=1,
        rule="mean",
    )
    assert outcome.index == 2
    assert "It's the moon, which pulls the water on both sides." in [
        variant.text for rewrites in outcome.rewrites.values() for variant in rewrites.variants
    ]


def test_what_a_part_does_not_declare_has_a_default() -> None:
    ready = as_ready_scorer(namespace_scorer())
    assert (ready.name, ready.version, ready.bounds) == ("namespace", "", (0.0, 100.0))
    assert (ready.location, ready.scale) == (10.0, 5.0)
    assert (ready.parallel, ready.batch_size, ready.criteria) == (1, 16, ())
    assert (ready.remote, ready.in_process) == (False, False)
    assert (ready.embeddings, ready.licence) == ("", "")
    assert ready.samples is None
    generator = as_ready_generator(FrozenGenerator())
    assert (generator.max_tokens, generator.continues, generator.version) == (None, False, "")


def test_what_a_part_declares_counts() -> None:
    scorer = namespace_scorer(remote=True, parallel=8, batch_size=1, criteria=("tone",))
    ready = as_ready_scorer(scorer)
    assert (ready.remote, ready.parallel, ready.batch_size) == (True, 8, 1)
    assert ready.criteria == ("tone",)
    assert as_ready_scorer(ready) is ready
    assert ready.part is scorer


def test_a_part_without_async_methods_is_awaited_in_a_thread() -> None:
    async def ask_all() -> tuple[Any, Any, Any]:
        scores = await as_ready_scorer(FrozenScorer()).score_async([(PROMPT, "four")])
        (candidates,) = await as_ready_generator(FrozenGenerator()).generate_async(
            [PROMPT], SamplingParameters(k=3)
        )
        rewriter = as_ready_rewriter(FrozenRewriter())
        texts = await rewriter.rewrite_async(PROMPT, "It is so.", 1, "style", 0)
        await rewriter.aclose()
        return scores.tolist(), len(candidates), texts

    assert asyncio.run(ask_all()) == ([4.0], 3, ["It's so."])


def test_a_part_is_closed_once_by_its_own_method() -> None:
    closed: list[str] = []

    async def close_in_loop() -> None:
        closed.append("loop")

    asyncio.run(as_ready_scorer(namespace_scorer(close=lambda: closed.append("thread"))).aclose())
    asyncio.run(as_ready_scorer(namespace_scorer(aclose=close_in_loop)).aclose())
    assert closed == ["thread", "loop"]


def test_a_part_that_lacks_something_is_named() -> None:
    with pytest.raises(InputError, match="bounds"):
        as_ready_scorer(SimpleNamespace(name="odd", score=lengths))
    with pytest.raises(InputError, match="generate"):
        as_ready_generator(SimpleNamespace(name="odd"))

"""A request is tried six times in all, whoever makes it, and at each of several servers in turn."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.fakes import FakeServer, Fault

from darc.errors import DarcError
from darc.models.remote.errors import BackendError
from darc.models.remote.retry import RetryPolicy
from darc.parts.generators import ChatGenerator, SamplingParameters
from darc.parts.generators.chat import openai
from darc.parts.rewriters import LlmRewriter
from darc.parts.scorers import HttpScorer, Judge
from darc.types import Message, Prompt

SEA = Prompt("sea", (Message("user", "Write of the sea."),))
PAIRS = [(SEA, "Blue."), (SEA, "It is blue."), (SEA, "Wide.")]
ONE = SamplingParameters(k=1)
Part = Judge | HttpScorer | ChatGenerator | LlmRewriter
# Each part by the URLs of its servers, what it does at once, and the same awaited.
PARTS: dict[str, tuple[Callable[[str], Part], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "judge": (
        lambda urls: Judge(f"m@{urls}"),
        lambda part: part.score(PAIRS[:1]).tolist(),
        lambda part: part.score_async(PAIRS[:1]),
    ),
    "http": (
        lambda urls: HttpScorer("|".join(f"{url}/plain" for url in urls.split("|"))),
        lambda part: part.score(PAIRS[:1]).tolist(),
        lambda part: part.score_async(PAIRS[:1]),
    ),
    "generator": (
        lambda urls: openai(f"m@{urls}"),
        lambda part: part.generate([SEA], ONE),
        lambda part: part.generate_async([SEA], ONE),
    ),
    "rewriter": (
        lambda urls: LlmRewriter(f"m@{urls}"),
        lambda part: part.rewrite(SEA, "Blue.", 1, "style", 0),
        lambda part: part.rewrite_async(SEA, "Blue.", 1, "style", 0),
    ),
}


def grade(body: Any, index: int) -> str:
    return "7"


@pytest.fixture
def second() -> Iterator[FakeServer]:
    with FakeServer() as server:
        server.reply = grade
        yield server


async def awaited(part: Part, work: Callable[[Any], Any]) -> Any:
    try:
        return await work(part)
    finally:
        await part.aclose()


@pytest.mark.parametrize("name", PARTS)
def test_six_attempts_in_all(
    openai_server: FakeServer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RetryPolicy, "pause", lambda *_: 0.0)
    make, _, later = PARTS[name]
    again = Fault(status=503, headers={"Retry-After": "0"})
    openai_server.faults = [again] * 20
    part = make(openai_server.url)
    with pytest.raises(BackendError, match=r"answered 503: it broke \(6 attempts\)"):
        asyncio.run(awaited(part, later))
    assert len(openai_server.received) == 6


@pytest.mark.parametrize("name", PARTS)
def test_several_servers_and_both_forms(
    openai_server: FakeServer, second: FakeServer, name: str
) -> None:
    make, work, later = PARTS[name]
    openai_server.reply = grade
    part = make(f"{openai_server.url}|{second.url}")
    assert part.remote
    found = asyncio.run(awaited(part, later))
    assert work(part) == (found.tolist() if isinstance(found, np.ndarray) else found)
    part.close()
    assert (len(openai_server.received), len(second.received)) == (1, 1)
    openai_server.close()
    for _ in range(2):
        work(part)
    part.close()
    assert len(second.received) == 3


def test_forms_in_the_callers_loop_run_side_by_side(openai_server: FakeServer) -> None:
    openai_server.reply = grade
    openai_server.latency = 0.05

    async def main() -> list[Any]:
        judge = Judge(f"m@{openai_server.url}")
        scorer = HttpScorer(f"{openai_server.url}/plain")
        try:
            many = [judge.score_async(PAIRS) for _ in range(4)]
            return list(await asyncio.gather(*many, scorer.score_async(PAIRS)))
        finally:
            await judge.aclose()
            await scorer.aclose()

    found = asyncio.run(main())
    assert [len(scores) for scores in found] == [3] * 5
    assert openai_server.busiest > 8


def test_two_loops_at_a_time_are_refused(openai_server: FakeServer) -> None:
    openai_server.reply = grade
    judge = Judge(f"m@{openai_server.url}")
    judge.score(PAIRS[:1])
    with pytest.raises(DarcError, match="two event loops at a time"):
        asyncio.run(judge.score_async(PAIRS[:1]))
    judge.close()

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from darc.models.remote.errors import Rejected, Unreachable
from darc.models.remote.sampling import ChoiceRequest, ServerSamples, sample_choices

SEEDS = [11, 12, 13, 14]


class Server:
    """Answers bodies: the seed's word for a single call, n words for one that asks for n."""

    def __init__(self, several: Callable[[int], list[str]] | None = None) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.several = several
        self.slow: set[int] = set()
        self.broken: dict[int, Exception] = {}
        self.cancelled = 0

    async def ask(self, body: dict[str, Any]) -> list[str]:
        self.bodies.append(body)
        if "n" in body and self.several is None:
            raise Rejected("no n", "", 400, "no n")
        try:
            await asyncio.sleep(30 if body["seed"] in self.slow else 0.001)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if body["seed"] in self.broken:
            raise self.broken[body["seed"]]
        if "n" in body and self.several is not None:
            return self.several(body["n"])
        return [f"word {body['seed']}"]


def draw(server: Server, seconds: float | None = None, **given: Any) -> ServerSamples[str]:
    async def main() -> ServerSamples[str]:
        deadline = None if seconds is None else asyncio.get_running_loop().time() + seconds
        body = {"temperature": given.pop("temperature", 1.0)}
        request: ChoiceRequest[str] = ChoiceRequest(
            ask=server.ask,
            body=body,
            seeds=SEEDS,
            identity=lambda word: word,
            deadline=deadline,
            **given,
        )
        return await sample_choices(request)

    return asyncio.run(main())


def seeds(found: ServerSamples[str]) -> list[tuple[int, int | None, str]]:
    return [(sample.index, sample.seed, sample.choice) for sample in found.choices]


SINGLE = [(i, seed, f"word {seed}") for i, seed in enumerate(SEEDS)]


def test_one_call_for_all() -> None:
    server = Server(lambda n: [f"choice {i}" for i in range(n + 1)])
    found = draw(server)
    assert seeds(found) == [(0, 11, "choice 0"), *((i, None, f"choice {i}") for i in (1, 2, 3))]
    assert found.supports_n
    assert server.bodies == [{"temperature": 1.0, "n": 4, "seed": 11}]


def test_copies_are_made_again_singly() -> None:
    server = Server(lambda n: ["word 11"] * n)
    found = draw(server)
    assert seeds(found) == SINGLE
    assert not found.supports_n
    assert [body["seed"] for body in server.bodies] == [11, 12, 13, 14]
    greedy = draw(Server(lambda n: ["word"] * n), temperature=0)
    assert len(greedy.choices) == 4
    assert greedy.supports_n


@pytest.mark.parametrize("several", [None, lambda n: ["word 11"]])
def test_refused_or_ignored_n_is_remembered(several: Any) -> None:
    found = draw(Server(several))
    assert (seeds(found), found.supports_n) == (SINGLE, False)


def test_seeds_of_their_own() -> None:
    server = Server()
    arrived: list[int] = []
    found = draw(server, use_n=False, on_choice=lambda sample: arrived.append(sample.index))
    assert seeds(found) == SINGLE
    assert sorted(arrived) == [0, 1, 2, 3]
    assert not any("n" in body for body in server.bodies)


def test_what_has_come_by_the_deadline_is_taken_and_the_rest_cancelled() -> None:
    server = Server()
    server.slow = {12, 14}
    found = draw(server, 0.2, use_n=False)
    assert [sample.index for sample in found.choices] == [0, 2]
    assert found.deadline_passed
    assert server.cancelled == 2
    at_once = Server(lambda n: ["x"] * n)
    at_once.slow = {11}
    found = draw(at_once, 0.05)
    assert (found.choices, found.deadline_passed, found.supports_n) == ([], True, True)


def test_failures_are_survived_unless_strict() -> None:
    server = Server()
    server.broken = {13: Unreachable("gone")}
    found = draw(server, use_n=False, strict=False)
    assert [sample.index for sample in found.choices] == [0, 1, 3]
    assert [str(problem) for problem in found.failures] == ["gone"]
    server.slow = {11}
    with pytest.raises(Unreachable):
        draw(server, use_n=False)
    assert server.cancelled == 1


def test_refusal_ends_all_calls() -> None:
    server = Server()
    server.broken = {12: Rejected("no", "", 403, "no")}
    server.slow = {11, 13, 14}
    with pytest.raises(Rejected):
        draw(server, use_n=False, strict=False)
    assert server.cancelled == 3

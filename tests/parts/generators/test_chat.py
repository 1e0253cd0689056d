from typing import Any

import pytest
from tests.fakes import FakeServer, Fault

from darc.errors import InputError
from darc.models.remote.errors import Rejected
from darc.models.remote.openai import OpenAIModel
from darc.parts.generators import ChatGenerator, Generator, SamplingParameters, candidate_seeds
from darc.parts.generators.chat import openai
from darc.registry import generators
from darc.types import Candidate, Message, Prompt

SEA = Prompt("sea", (Message("user", "Write one line about the sea."),))
EGG = Prompt("egg", (Message("user", "How do I boil an egg?"),))
FOUR = SamplingParameters(k=4, seed=7, max_tokens=50)


def generate(
    server: FakeServer, settings: SamplingParameters = FOUR, **options: Any
) -> list[list[Candidate]]:
    generator = openai(f"fake@{server.url}", **options)
    try:
        return generator.generate([SEA, EGG], settings)
    finally:
        generator.close()


def test_one_call_a_prompt(openai_server: FakeServer) -> None:
    candidates = generate(openai_server)
    assert [[(one.prompt_id, one.index) for one in row] for row in candidates] == [
        [("sea", i) for i in range(4)],
        [("egg", i) for i in range(4)],
    ]
    assert len(openai_server.received) == 2
    body = next(b for b in openai_server.bodies if b["messages"][0]["content"] == SEA.question)
    seed = candidate_seeds(FOUR, "sea")[0]
    assert (body["n"], body["seed"]) == (4, seed)
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.8, 0.98, 50)
    assert "best_of" not in body
    assert [one.seed for one in candidates[0]] == [seed, None, None, None]
    assert len({one.text for one in candidates[0]}) > 1
    assert all(one.tokens == len(one.text.split()) and one.log_likelihood for one in candidates[0])


def test_first_of_many_is_what_its_seed_makes(openai_server: FakeServer) -> None:
    many = generate(openai_server)
    single = generate(openai_server, n=False)
    assert single[0][0] == many[0][0]


def test_single_calls_have_seeds_of_their_own(openai_server: FakeServer) -> None:
    candidates = generate(openai_server, n=False)
    assert len(openai_server.received) == 8
    assert not any("n" in body for body in openai_server.bodies)
    for row, prompt in zip(candidates, (SEA, EGG), strict=True):
        assert [one.seed for one in row] == candidate_seeds(FOUR, prompt.id)


@pytest.mark.parametrize("status", [400, 422])
def test_refused_n_is_remembered(openai_server: FakeServer, status: int) -> None:
    generator = openai(f"fake@{openai_server.url}", concurrency=1)
    openai_server.faults = [Fault(status=status, message="n must be 1")]
    (row,) = generator.generate([SEA], FOUR)
    assert [one.seed for one in row] == candidate_seeds(FOUR, "sea")
    assert len(openai_server.received) == 5
    generator.generate([EGG], FOUR)
    assert len(openai_server.received) == 9
    generator.close()


def test_ignored_n_costs_no_answer(openai_server: FakeServer) -> None:
    openai_server.ignores = {"n"}
    generator = openai(f"fake@{openai_server.url}")
    reports: list[tuple[int, int]] = []
    (row,) = generator.generate([SEA], FOUR, lambda done, total: reports.append((done, total)))
    assert reports == [(i, 4) for i in range(1, 5)]
    assert len(openai_server.received) == 4
    assert [one.seed for one in row] == candidate_seeds(FOUR, "sea")
    generator.generate([EGG], FOUR)
    assert sum("n" in body for body in openai_server.bodies) == 1
    generator.close()


def test_same_answer_again_and_again_is_no_n(openai_server: FakeServer) -> None:
    openai_server.reply = lambda body, index: f"seed {body['seed']}"
    candidates = generate(openai_server)
    assert all(len({one.text for one in row}) == 4 for row in candidates)
    assert [one.seed for one in candidates[1]] == candidate_seeds(FOUR, "egg")


def test_greedy_duplicates_are_kept(openai_server: FakeServer) -> None:
    candidates = generate(openai_server, SamplingParameters(k=3, temperature=0))
    assert all(len({one.text for one in row}) == 1 for row in candidates)
    assert len(openai_server.received) == 2


def test_one_candidate_needs_no_n(openai_server: FakeServer) -> None:
    generate(openai_server, SamplingParameters(k=1))
    assert not any("n" in body for body in openai_server.bodies)


def test_refused_request_is_not_taken_for_a_lack_of_n(openai_server: FakeServer) -> None:
    generator = openai(f"fake@{openai_server.url}")
    openai_server.refuses = {"messages"}
    with pytest.raises(Rejected, match="'messages'"):
        generator.generate([SEA], FOUR)
    openai_server.refuses = set()
    generator.generate([SEA], FOUR)
    assert [body["n"] for body in openai_server.bodies if "n" in body] == [4, 4]
    generator.close()


def test_prompts_share_the_bound(openai_server: FakeServer) -> None:
    openai_server.latency = 0.02
    generate(openai_server, n=False, concurrency=4)
    assert openai_server.busiest == 4


def test_as_users_write_it(openai_server: FakeServer) -> None:
    candidates = generators.make(f"openai:fake@{openai_server.url},n=false,timeout=5")
    assert isinstance(candidates, ChatGenerator)
    assert isinstance(candidates, Generator)
    assert candidates.version == f"fake@{openai_server.url}/v1"
    assert isinstance(candidates.model, OpenAIModel)
    assert "n" in candidates.model.unsupported
    with pytest.raises(InputError, match="write openai:MODEL@URL"):
        generators.make("openai")

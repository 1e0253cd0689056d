"""The memory that bodies of requests may take together."""

import asyncio

import pytest

from darc.web.bodies import check_value_count
from darc.web.body_memory import BodyMemory
from darc.web.problems import Problem


def test_large_bodies_beyond_the_limit_are_refused_until_others_are_released() -> None:
    memory = BodyMemory(1_000_000)
    first = memory.share()
    first.grow(900_000)
    second = memory.share()
    second.grow(1000)
    with pytest.raises(Problem) as refusal:
        second.grow(200_000)
    assert refusal.value.status == 429
    assert "Retry-After" in refusal.value.headers
    asyncio.run(first.release())
    second.grow(200_000)
    asyncio.run(second.release())
    assert memory.used == 0


def test_small_bodies_are_always_read() -> None:
    memory = BodyMemory(10)
    memory.share().grow(40_000)
    assert memory.used == 40_000


@pytest.mark.parametrize("content", [b"[[],[],[],[]]", b"[{},{},{},{}]", b"[1,1,1,1,1,1]"])
def test_a_body_with_too_many_values_is_refused(content: bytes) -> None:
    with pytest.raises(Problem) as refusal:
        check_value_count(content, 4)
    assert refusal.value.status == 400
    assert "max_values" in refusal.value.message


def test_commas_and_brackets_in_texts_are_not_counted() -> None:
    content = rb'{"messages": ["a, b, [c], {d}, \"e, f\", g, h, i, j, k"]}'
    assert check_value_count(content, 4) <= 4
    unfinished = b'["' + rb"\"" * 100_000 + b"," * 100
    assert check_value_count(unfinished, 4) <= 4

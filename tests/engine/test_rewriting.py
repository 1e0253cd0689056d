import asyncio
import threading
import time
from typing import Any

import pytest
from tests.engine.makers import ANSWERS, PROMPT, Vowels

from darc.engine.engine import Engine
from darc.engine.scoring import ScorerRetry
from darc.errors import DarcError
from darc.types import Prompt


def test_no_more_rewriters_work_at_once_than_may() -> None:
    class Slow:
        name = "slow"
        parallel = 2
        at_work = most = 0

        def rewrite(self, prompt: Any, text: str, count: int, family: str, seed: int) -> list[str]:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            time.sleep(0.02)
            self.at_work -= 1
            return []

    rewriter = Slow()
    with Engine(scorers=[Vowels()], rewriter=rewriter, n_aug=2) as engine:
        engine.choose(PROMPT, ANSWERS, score_everything=True)
    assert rewriter.most == 2


class Distant:
    """A rewriter on a server: it may only be awaited, and notes the thread of each call."""

    name = "distant"
    version = "1"
    remote = True
    parallel = 8

    def __init__(self) -> None:
        self.busy = self.busiest = 0
        self.threads: set[int] = set()

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        words = ("Well", "Indeed", "So", "Now")
        return [f"{words[(seed + i) % 4]}, {text[:1].lower()}{text[1:]}" for i in range(count)]

    async def rewrite_async(self, *arguments: Any) -> list[str]:
        self.threads.add(threading.get_ident())
        self.busy += 1
        self.busiest = max(self.busy, self.busiest)
        await asyncio.sleep(0.05)
        self.busy -= 1
        return self.rewrite(*arguments)


@pytest.mark.parametrize("family", ["style", "hybrid"])
def test_rewriters_on_servers_are_awaited_to_the_same_rewrites(family: str) -> None:
    rewriter = Distant()
    with Engine(
        scorers=[Vowels()], rewriter=rewriter, n_aug=4, family=family, guard=False
    ) as engine:
        outcome = engine.choose(PROMPT, ANSWERS, score_everything=True)
        known = [engine.tools.rewrite(PROMPT, answer, 4) for answer in ANSWERS]
    assert [outcome.rewrites[k] for k in range(4)] == known
    assert any(each.variants for each in known)
    # All four candidates at once, in the engine's own loop and not in a thread of each.
    assert (rewriter.busiest, len(rewriter.threads)) == (4, 1)


def test_a_rewriter_on_a_server_that_hangs_is_given_up() -> None:
    class Hanging(Distant):
        async def rewrite_async(self, *arguments: Any) -> list[str]:
            await asyncio.sleep(60)
            return []

    patience = ScorerRetry(seconds=0.2)
    with (
        Engine(scorers=[Vowels()], rewriter=Hanging(), n_aug=2, retry=patience) as engine,
        pytest.raises(DarcError, match=r"no answer within 0\.2 s"),
    ):
        engine.choose(PROMPT, ANSWERS, score_everything=True)


@pytest.mark.parametrize("workers", [0, 2])
def test_rewriting_in_slices_is_rewriting_at_once(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darc.engine.rewriting._SLICE_SECONDS", 0.001)
    with Engine(scorers=["form"], n_aug=6, guard=False, workers=workers) as engine:
        engine.run(engine.warm())
        outcome = engine.choose(PROMPT, ANSWERS, score_everything=True)
        once = [engine.tools.rewrite(PROMPT, candidate, 6) for candidate in ANSWERS]
    assert [outcome.rewrites[k] for k in range(4)] == once

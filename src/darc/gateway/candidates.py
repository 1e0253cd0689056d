"""The candidates of a request, in one wave of calls, and what choosing among them costs."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from darc.engine.samples import Clock
from darc.engine.stopping import FEWER
from darc.errors import DarcError
from darc.gateway.backends import Backend
from darc.gateway.bodies import Budget
from darc.gateway.errors import told
from darc.gateway.requests import Method, wrong
from darc.gateway.settings import ServeSettings
from darc.models.completion import without_thoughts
from darc.models.remote.http import Meter
from darc.models.remote.problems import Failed, OverLimit
from darc.models.remote.protocol import mean_log, said_in, samples, token_entries
from darc.types import Candidate, Prompt
from darc.web.problems import Problem

STAGES = ("candidates", "rewrites", "scores")
Arrived = Callable[["Reply"], None]
# What came of a wave, in the order of the candidates, and the flags that say what did not.
Wave = tuple[list["Reply"], list[str]]
# A choice, after the answer that it stands in.
Chosen = tuple[dict[str, Any], dict[str, Any]]


@dataclass(frozen=True)
class Reply:
    """One candidate: the backend's choice as it came, and what scorers see of it.

    `bound` says that it has a form that no rewrite may touch: tool calls. `endless` is one that
    never came to the end of what it thought aloud.
    """

    index: int
    choice: dict[str, Any]
    seed: int | None
    head: Mapping[str, Any]
    text: str
    bound: bool
    tokens: int
    log_likelihood: float | None
    endless: bool = False

    def candidate(self, prompt_id: str, index: int) -> Candidate:
        """The same as the rest of DARC knows it."""
        cut = self.choice.get("finish_reason") == "length"
        return Candidate(
            prompt_id, index, self.text, self.tokens, cut, self.log_likelihood, self.seed
        )


@dataclass
class ReplyCalls:
    """Calls of the backend for the replies of one request, a seed each.

    With `strict` a call that fails is the end; otherwise there is one reply fewer, and a flag.
    `arrived` hears of replies as they come.
    """

    backend: Backend
    body: Mapping[str, Any]
    seeds: Sequence[int]
    headers: Mapping[str, str]
    strict: bool
    arrived: Arrived
    prompt_id: str
    _made: dict[int, Reply] = field(default_factory=dict)
    _failures: list[Failed] = field(default_factory=list)

    async def all(self, several: bool, deadline: float | None = None) -> Wave:
        """As many replies as there are seeds, in one call where the backend can, else in as many.

        Without `several` every one has a call of its own: no call for several says which seed made
        which. At the `deadline` what has come is taken.
        """

        async def ask(sent: dict[str, Any]) -> list[Chosen]:
            answer = await self.backend.answer(sent, self.headers)
            return [(answer, choice) for choice in sorted(answer["choices"], key=_place)]

        try:
            found = await samples(
                ask,
                self.body,
                self.seeds,
                same=lambda chosen: json.dumps(chosen[1]["message"], sort_keys=True),
                several=several and self.backend.several,
                strict=self.strict,
                deadline=deadline,
                arrived=lambda drawn: self._take(*drawn.choice, drawn.index, drawn.seed),
            )
        except DarcError as problem:
            raise told(problem) from None
        self._failures = found.failures
        if several and found.drawn and not found.several:
            self.backend.several = False
        replies, flags = self.taken([drawn.index for drawn in found.drawn])
        return replies, ["budget_milliseconds"] * found.late + flags

    def wave(self, first: int, count: int) -> list[Awaitable[Candidate | None]]:
        """Calls for some of them, from a place on, of which only some may be taken in the end."""
        return [self._one(place) for place in range(first, first + count)]

    def taken(self, places: Sequence[int]) -> Wave:
        """Those that were taken; raises why there are none."""
        endless = any(reply.endless for reply in self._made.values())
        if not places and not endless:
            late = Problem(504, "the budget ended before any answer came", "server_error", "budget")
            raise told(self._failures[0]) if self._failures else late
        ended = [self._made[place] for place in places if not self._made[place].endless]
        over = any(isinstance(failure, OverLimit) for failure in self._failures)
        flags = [FEWER] * (endless or bool(self._failures)) + ["budget_upstream"] * over
        return ended or [self._made[min(self._made)]], flags

    async def _one(self, place: int) -> Candidate | None:
        seed = self.seeds[place]
        try:
            answer = await self.backend.answer({**self.body, "seed": seed}, self.headers)
        except Failed as failed:
            if self.strict:
                raise told(failed) from None
            self._failures.append(failed)
            return None
        except DarcError as problem:
            raise told(problem) from None
        reply = self._take(answer, min(answer["choices"], key=_place), place, seed)
        return None if reply.endless else reply.candidate(self.prompt_id, place)

    def _take(
        self, answer: Mapping[str, Any], choice: dict[str, Any], place: int, seed: int | None
    ) -> Reply:
        self._made[place] = reply = read_reply(answer, choice, place, seed)
        self.arrived(reply)
        return reply


def own_reply(place: int, text: str) -> Reply:
    """A candidate that the client brings."""
    choice = {"index": place, "message": {"role": "assistant", "content": text}}
    said = without_thoughts(text)
    if said is None:
        raise wrong(f"candidates.{place}", "is a thought (<think>) that never ends")
    return Reply(place, choice, None, {}, said, False, len(said.split()), None)


def read_reply(
    answer: Mapping[str, Any], choice: dict[str, Any], index: int, seed: int | None
) -> Reply:
    """A choice as a candidate."""
    message = choice["message"]
    calls = message.get("tool_calls") or message.get("function_call")
    audio = message.get("audio")
    content = said_in(message) or (audio.get("transcript") if isinstance(audio, Mapping) else None)
    said = without_thoughts(content) if isinstance(content, str) else ""
    text = said or ""
    if calls:
        text = (text + "\n" if text else "") + json.dumps(calls, ensure_ascii=False)
    tokens = token_entries(choice)
    used = (answer.get("usage") or {}).get("completion_tokens")
    alone = len(answer["choices"]) == 1 and isinstance(used, int)
    return Reply(
        index=index,
        choice=choice,
        seed=seed,
        head={k: v for k, v in answer.items() if k not in ("choices", "usage", "object")},
        text=text,
        bound=bool(calls),
        tokens=used if alone and isinstance(used, int) else len(tokens) or len(text.split()),
        log_likelihood=mean_log(tokens),
        endless=said is None,
    )


def _place(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def check_work(
    method: Method, prompt: Prompt, k: int, settings: ServeSettings, texts: Sequence[str] = ()
) -> None:
    """Refuse what would be too long to choose among.

    The work is the characters that are read: each of the `texts`, where they are known yet, once
    and for each of its rewrites, and the prompt once a wave of the k candidates and theirs.
    """
    samples = samples_of(settings, method.n_aug)
    waves = -(-k * samples // method.options.wave)
    asked = sum(len(message.content) for message in prompt.messages)
    work = samples * sum(map(len, texts)) + waves * asked
    if work > settings.max_work:
        message = (
            f"choosing would read {work} characters, more than {settings.max_work} (max_work): "
            "send less text, or ask for a smaller darc.k or darc.n_aug"
        )
        raise Problem(400, message, code="max_work", param="darc")


def samples_of(settings: ServeSettings, n_aug: int) -> int:
    """How often each candidate is read: by all raters, or with each of its rewrites."""
    panel = settings.parts.panel
    return n_aug + 1 if panel is None else len(panel) * panel.repeats


def rewrites_within(settings: ServeSettings, texts: Sequence[str], n_aug: int) -> int | None:
    """How many rewrites each of the texts may have, None where they are too long to be scored."""
    if max(map(len, texts)) > settings.max_candidate_characters:
        return None
    times = settings.max_work // max(1, sum(map(len, texts)))
    if settings.parts.panel is not None:
        return n_aug if times >= samples_of(settings, n_aug) else None
    return min(n_aug, times - 1) if times else None


class Spent:
    """Calls and tokens by stage, as the servers that were called report them.

    The budget's upstream limits bound all stages together, retries included.
    """

    def __init__(self, budget: Budget) -> None:
        self.whole = Meter(budget.upstream_calls, budget.upstream_tokens)
        self._stages = {name: Meter(whole=self.whole) for name in STAGES}

    def meter(self, stage: str) -> Meter:
        """What counts the calls of a stage."""
        return self._stages[stage]

    def total(self, saved: int | None = None) -> dict[str, Any]:
        """The usage of the candidates, all of them, in OpenAI's shape.

        Beside it, `upstream` has the calls and tokens of all models, retries included, and how many
        calls of a panel were `saved`, where there is one.
        """
        upstream = {"calls": self.whole.calls, "tokens": self.whole.tokens}
        return {
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "total_tokens": 0,
            **self.meter("candidates").usage,
            "upstream": upstream if saved is None else {**upstream, "saved": saved},
        }

    def items(self) -> dict[str, Any]:
        """Calls and tokens by stage."""
        return {name: {"calls": own.calls, **own.usage} for name, own in self._stages.items()}


@dataclass(frozen=True)
class Work:
    """One request: how and for what it chooses, and what that has cost."""

    method: Method
    prompt: Prompt
    request_id: str
    clock: Clock = field(default_factory=Clock)
    begun: float = field(default_factory=time.perf_counter)

    @cached_property
    def spent(self) -> Spent:
        """Calls and tokens so far."""
        return Spent(self.method.budget)

    @property
    def deadline(self) -> float | None:
        """When the time is up, by the event loop's clock."""
        if self.method.budget.milliseconds is None:
            return None
        left = self.method.budget.milliseconds / 1000 - (time.perf_counter() - self.begun)
        return asyncio.get_running_loop().time() + left

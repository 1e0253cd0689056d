"""The candidates of a request, in one wave of calls, and what choosing among them costs."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from darc.engine.copies import MergedCandidates, merge_copies
from darc.engine.cost import Clock
from darc.engine.flags import FEWER_CANDIDATES
from darc.engine.samples import Samples
from darc.models.completion import without_thoughts
from darc.models.remote.errors import BackendError, OverLimit
from darc.models.remote.meter import Meter
from darc.models.remote.protocol import mean_log_probability, message_text, token_entries
from darc.models.remote.sampling import ChoiceRequest, sample_choices
from darc.serve.backends import Backend
from darc.serve.requests import Method
from darc.types import Candidate, Prompt
from darc.web.problems import Problem

Tell = Callable[[str, Any], None]
STAGES = ("candidates", "rewrites", "scores")
# What came of a wave, in the order of the candidates, and the flags that say what did not.
Wave = tuple[list["Reply"], list[str]]
# A choice, after the answer that it stands in.
Chosen = tuple[dict[str, Any], dict[str, Any]]


@dataclass(frozen=True)
class Reply:
    """One candidate as scorers see it, and the backend's choice and answer as they came.

    `bound` says that it has a form that no rewrite may touch: tool calls. `endless` is one that
    never came to the end of what it thought aloud.
    """

    candidate: Candidate
    choice: dict[str, Any]
    answer: Mapping[str, Any]
    bound: bool
    endless: bool

    @property
    def text(self) -> str:
        """Its words."""
        return self.candidate.text

    def named(self, name: str) -> "Reply":
        """The same with a name for its candidate."""
        return replace(self, candidate=replace(self.candidate, name=name))


def read_reply(
    prompt_id: str,
    answer: Mapping[str, Any],
    choice: dict[str, Any],
    index: int,
    seed: int | None = None,
) -> Reply:
    """A choice as a candidate."""
    message = choice["message"]
    calls = message.get("tool_calls") or message.get("function_call")
    audio = message.get("audio")
    content = message_text(message) or (
        audio.get("transcript") if isinstance(audio, Mapping) else None
    )
    said = without_thoughts(content) if isinstance(content, str) else ""
    text = said or ""
    if calls:
        text = (text + "\n" if text else "") + calls_text(calls)
    entries = token_entries(choice)
    used = (answer.get("usage") or {}).get("completion_tokens")
    alone = len(answer["choices"]) == 1
    tokens = used if alone and isinstance(used, int) else len(entries) or len(text.split())
    cut = choice.get("finish_reason") == "length"
    candidate = Candidate(prompt_id, index, text, tokens, cut, mean_log_probability(entries), seed)
    return Reply(candidate, choice, answer, bool(calls), said is None)


def calls_text(calls: Any) -> str:
    """Tool calls as scorers see them: names and arguments in one order, without their random ids.

    Calls that differ in nothing else have the same text.
    """
    if isinstance(calls, list):
        canonical = [_canonical_call(call) for call in calls]
    else:
        canonical = _canonical_call(calls)
    return json.dumps(canonical, ensure_ascii=False, sort_keys=True)


def _canonical_call(call: Any) -> Any:
    if not isinstance(call, Mapping):
        return call
    function = call.get("function", call)
    if not (isinstance(function, Mapping) and "name" in function and "arguments" in function):
        return {key: value for key, value in call.items() if key != "id"}
    arguments = function["arguments"]
    if isinstance(arguments, str):
        with suppress(ValueError, RecursionError):
            arguments = json.loads(arguments)
    return {"name": function["name"], "arguments": arguments}


def merge_replies(replies: Sequence[Reply]) -> tuple[list[Reply], MergedCandidates]:
    """The first reply of each text, its candidate merged, and how they were merged."""
    merged = merge_copies([reply.candidate for reply in replies])
    pairs = zip(merged.candidates, merged.places, strict=True)
    return [replace(replies[place], candidate=candidate) for candidate, place in pairs], merged


@dataclass
class Work:
    """One request: how and for what it chooses, and what that has cost.

    `headers` go with its calls of the backend, and `tell` hears of candidates as they come.
    `samples` keep what was scored, where candidates may be decided on again. The `stages` count
    calls and tokens as servers report them; the budget's upstream limits bound the `whole`, retries
    included.
    """

    method: Method
    prompt: Prompt
    request_id: str
    headers: Mapping[str, str]
    tell: Tell | None = None
    clock: Clock = field(default_factory=Clock)
    begun: float = field(default_factory=time.perf_counter)
    samples: Samples | None = None

    def __post_init__(self) -> None:
        """Begin with nothing spent."""
        budget = self.method.options.budget
        self.whole = Meter(budget.upstream_calls, budget.upstream_tokens)
        self.stages = {name: Meter(whole=self.whole) for name in STAGES}
        # As the engine calls them.
        self.meters = {"rewrite": self.stages["rewrites"], "score": self.stages["scores"]}

    @property
    def deadline(self) -> float | None:
        """When the time is up, by the event loop's clock."""
        most = self.method.options.budget.milliseconds
        if most is None:
            return None
        left = most / 1000 - (time.perf_counter() - self.begun)
        return asyncio.get_running_loop().time() + left

    def usage(self, saved: int | None = None) -> dict[str, Any]:
        """The usage of the candidates, all of them, in OpenAI's shape.

        Beside it, `upstream` has the calls and tokens of all models, retries included, and how many
        calls of a panel were `saved`, where there is one.
        """
        upstream = {"calls": self.whole.calls, "tokens": self.whole.tokens}
        return {
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "total_tokens": 0,
            **self.stages["candidates"].usage,
            "upstream": upstream if saved is None else {**upstream, "saved": saved},
        }


@dataclass
class ReplyCalls:
    """Calls of the backend for the replies of one request, a seed each.

    Where its policy is closed a call that fails is the end; otherwise there is one reply fewer, and
    a flag. Whoever hears of replies is told places from `first` on.
    """

    backend: Backend
    work: Work
    body: Mapping[str, Any]
    seeds: Sequence[int]
    first: int = 0
    _made: dict[int, Reply] = field(default_factory=dict)
    _failures: list[BackendError] = field(default_factory=list)

    async def all(self, several: bool) -> Wave:
        """As many replies as there are seeds, in one call where the backend can, else in as many.

        Without `several` every one has a call of its own: no call for several says which seed made
        which. At the deadline what has come is taken.
        """
        request = ChoiceRequest(
            ask=self._ask,
            body=self.body,
            seeds=self.seeds,
            identity=lambda chosen: json.dumps(chosen[1]["message"], sort_keys=True),
            use_n=several and self.backend.several,
            strict=self.work.method.options.closed,
            deadline=self.work.deadline,
            on_choice=lambda sample: self._take(sample.choice, sample.index, sample.seed),
        )
        found = await sample_choices(request)
        self._failures = found.failures
        if several and found.choices and not found.supports_n:
            self.backend.several = False
        replies, flags = self.taken([sample.index for sample in found.choices])
        return replies, ["budget_milliseconds"] * found.deadline_passed + flags

    def wave(self, first: int, count: int) -> list[Awaitable[Candidate | None]]:
        """Calls for some of them, from a place on, of which only some may be taken in the end."""
        return [self._one(place) for place in range(first, first + count)]

    def taken(self, places: Sequence[int]) -> Wave:
        """Those that were taken; raises why there are none."""
        endless = any(reply.endless for reply in self._made.values())
        if not places and not endless:
            late = Problem(504, "the budget ended before any answer came", "server_error", "budget")
            raise self._failures[0] if self._failures else late
        ended = [self._made[place] for place in places if not self._made[place].endless]
        over = any(isinstance(failure, OverLimit) for failure in self._failures)
        flags = [FEWER_CANDIDATES] * (endless or bool(self._failures)) + ["budget_upstream"] * over
        return ended or [self._made[min(self._made)]], flags

    async def _ask(self, sent: dict[str, Any]) -> list[Chosen]:
        answer = await self.backend.answer(sent, self.work.headers)
        return [(answer, choice) for choice in sorted(answer["choices"], key=_place)]

    async def _one(self, place: int) -> Candidate | None:
        try:
            first, *_ = await self._ask({**self.body, "seed": self.seeds[place]})
        except BackendError as failed:
            if self.work.method.options.closed:
                raise
            self._failures.append(failed)
            return None
        reply = self._take(first, place, self.seeds[place])
        return None if reply.endless else reply.candidate

    def _take(self, chosen: Chosen, place: int, seed: int | None) -> Reply:
        self._made[place] = reply = read_reply(self.work.prompt.id, *chosen, place, seed)
        if self.work.tell is not None:
            index = self.first + place
            self.work.tell("candidate", {"index": index, "seed": seed, "text": reply.text})
        return reply


def _place(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0

"""Chat completions as they stand on the wire, and K of them by one call or by K."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence, Set
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Generic, TypeVar

from darc.models.completion import THOUGHT, Completion, Request
from darc.models.remote.client import together
from darc.models.remote.problems import Failed, Malformed, Refused

LIMIT, NEWER_LIMIT = "max_tokens", "max_completion_tokens"
# Where servers put what a model thinks before it answers.
REASONING = ("reasoning_content", "reasoning")
Result = TypeVar("Result")
_LOGPROBS = re.compile(r"\b(?:top_)?logprobs\b")


def unknown_field(refused: Refused, lacks: Set[str]) -> str:
    """Which of `logprobs` and `max_tokens` an error says that the server lacks; empty if none.

    What it is known to lack already is not what the error is about.
    """
    if refused.status not in (400, 422):
        return ""
    if "logprobs" not in lacks and _LOGPROBS.search(refused.said):
        return "logprobs"
    return LIMIT if LIMIT not in lacks and NEWER_LIMIT in refused.said else ""


def adapted(body: Mapping[str, Any], lacks: Set[str]) -> dict[str, Any]:
    """A body as a server that lacks some fields understands it."""
    gone = ("logprobs", "top_logprobs") if "logprobs" in lacks else ()
    names = {LIMIT: NEWER_LIMIT} if LIMIT in lacks else {}
    return {names.get(name, name): value for name, value in body.items() if name not in gone}


def chat_body(model: str, request: Request) -> dict[str, Any]:
    """A request as servers take it."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        LIMIT: request.max_tokens,
        "logprobs": True,
    }
    if request.stop:
        body["stop"] = list(request.stop)
    if request.top:
        body["top_logprobs"] = request.top
    return body


def read_choices(answer: Any) -> list[Completion]:
    """The choices of an answer in the order of their indices.

    A token count is that of the log-probabilities or of the usage. The usage of several choices is
    their sum: without log-probabilities it is shared out by the length of the texts.
    """
    try:
        choices = sorted(answer["choices"], key=lambda choice: choice.get("index", 0))
        texts = [said_in(choice["message"]) for choice in choices]
        contents = [token_entries(choice) for choice in choices]
        used = int((answer.get("usage") or {}).get("completion_tokens") or 0)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise Malformed("no chat completion") from None
    if not choices:
        raise Malformed("no choices")
    if not all(isinstance(text, str) for text in texts):
        raise Malformed("no chat completion")
    counts = [used] if len(choices) == 1 and used else [len(content) for content in contents]
    if not all(counts):
        counts = shared(used, [len(text) for text in texts])
    return [
        Completion(
            text=text,
            tokens=tokens,
            truncated=choice.get("finish_reason") == "length",
            log_likelihood=mean_log(content),
            alternatives=() if thinks(choice["message"]) else _alternatives(content),
        )
        for choice, text, tokens, content in zip(choices, texts, counts, contents, strict=True)
    ]


def listed(answer: Any) -> list[dict[str, Any]]:
    """The models of an answer that lists some."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise Malformed("no list of models")
    return [dict(each) for each in data if isinstance(each, dict) and "id" in each]


def shared(total: int, sizes: Sequence[int]) -> list[int]:
    """Whole numbers that sum to `total` and are near to proportional to `sizes`."""
    sizes = sizes if any(sizes) else [1] * len(sizes)
    ends = [-(-total * size // sum(sizes)) for size in accumulate(sizes)]
    return [end - start for start, end in pairwise([0, *ends])]


def said_in(message: Mapping[str, Any]) -> Any:
    """What a message says; where it has thoughts alone, those, as a thought without an end."""
    text = message.get("content") or message.get("refusal") or ""
    called = message.get("tool_calls") or message.get("function_call")
    return THOUGHT if not text and not called and thinks(message) else text


def thinks(message: Mapping[str, Any]) -> bool:
    """Whether a message has thoughts before its answer."""
    content = message.get("content")
    aloud = isinstance(content, str) and THOUGHT in content
    return aloud or any(message.get(name) for name in REASONING)


def token_entries(choice: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a choice says of its tokens, empty where it says nothing."""
    given = choice.get("logprobs")
    content = given.get("content") if isinstance(given, Mapping) else None
    entries = content if isinstance(content, list) else []
    return [entry for entry in entries if isinstance(entry, dict)]


def mean_log(entries: Sequence[Mapping[str, Any]]) -> float | None:
    """The mean log-probability of tokens, None where one is missing or infinite."""
    logs = [entry.get("logprob") for entry in entries]
    known = [float(log) for log in logs if isinstance(log, int | float) and math.isfinite(log)]
    return math.fsum(known) / len(known) if known and len(known) == len(logs) else None


def _alternatives(content: Sequence[dict[str, Any]]) -> tuple[dict[str, float], ...]:
    if not any(entry.get("top_logprobs") for entry in content):
        return ()
    return tuple(
        {
            str(other["token"]): float(other["logprob"])
            for other in [*(entry.get("top_logprobs") or ()), entry]
            if isinstance(other, dict) and isinstance(other.get("logprob"), int | float)
        }
        for entry in content
    )


Choice = TypeVar("Choice")


@dataclass(frozen=True)
class DrawnChoice(Generic[Choice]):
    """The choice of a place among K, and the seed that makes it again, None where none does."""

    index: int
    seed: int | None
    choice: Choice


@dataclass
class ServerSamples(Generic[Choice]):
    """What has come, in the order of the places, and what has not.

    `late` says that the deadline ended the wait, and `several` whether a later request may ask for
    several choices in one call.
    """

    drawn: list[DrawnChoice[Choice]] = field(default_factory=list)
    failures: list[Failed] = field(default_factory=list)
    late: bool = False
    several: bool = True


async def samples(
    ask: Callable[[dict[str, Any]], Awaitable[Sequence[Choice]]],
    body: Mapping[str, Any],
    seeds: Sequence[int],
    *,
    same: Callable[[Choice], Hashable],
    several: bool = True,
    strict: bool = True,
    deadline: float | None = None,
    arrived: Callable[[DrawnChoice[Choice]], object] | None = None,
) -> ServerSamples[Choice]:
    """As many choices as there are seeds, in one call where the server can, else in as many.

    `ask` gives at least one choice for a body. With `several`, one call asks for all, with the
    first seed: that seed belongs to its first choice, and the others have none. Where the server
    refuses that, gives fewer, or at a temperature over 0 the `same` one again and again, single
    calls with seeds of their own make what is missing.

    Where a call fails the others' choices are taken, unless `strict` or the failure is one that
    they will share: then it is raised. At the `deadline`, a time of the loop, what has come is
    taken. Whatever ends the wait cancels the calls that are still under way. `arrived` hears of
    choices as they come.
    """
    found: ServerSamples[Choice] = ServerSamples(several=several)
    several = several and len(seeds) > 1
    there = 0

    def take(index: int, seed: int | None, choice: Choice) -> None:
        drawn = DrawnChoice(index, seed, choice)
        found.drawn.append(drawn)
        if arrived is not None:
            arrived(drawn)

    async def at_once() -> Sequence[Choice]:
        try:
            choices = await ask({**body, "n": len(seeds), "seed": seeds[0]})
        except Refused as refused:
            if refused.status not in (400, 422):
                raise
            return []
        copies = body.get("temperature") != 0 and len({same(choice) for choice in choices}) == 1
        return choices[:1] if copies else choices[: len(seeds)]

    async def single(index: int) -> None:
        try:
            choices = await ask({**body, "seed": seeds[index]})
        except Failed as problem:
            if strict:
                raise
            found.failures.append(problem)
        else:
            take(index, seeds[index], choices[0])

    try:
        async with asyncio.timeout_at(deadline):
            for index, choice in enumerate(await at_once() if several else ()):
                take(index, None if index else seeds[0], choice)
            there = len(found.drawn)
            await together(single(index) for index in range(there, len(seeds)))
    except TimeoutError:
        found.late = True
    different = len({same(drawn.choice) for drawn in found.drawn}) > 1
    if several and there < len(seeds) and (different or not there) and found.drawn:
        found.several = False
    found.drawn.sort(key=lambda drawn: drawn.index)
    return found


@dataclass(frozen=True)
class Caller:
    """The model that a request names, empty where it names none, and headers that go with it.

    They are meant for the server at `url`, and for no other.
    """

    url: str
    model: str
    headers: Mapping[str, str] = field(default_factory=dict)


CALLER: ContextVar[Caller | None] = ContextVar("darc_caller", default=None)

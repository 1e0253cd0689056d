"""The candidates of a request, in one wave of calls."""

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from darc.errors import DarcError
from darc.gateway.backend import Backend
from darc.gateway.errors import told
from darc.models.remote import Refused
from darc.types import Candidate
from darc.web.problems import Problem

Arrived = Callable[["Reply"], None]


@dataclass(frozen=True)
class Reply:
    """One candidate: the backend's choice as it came, and what scorers see of it.

    `bound` says that it has a form that no rewrite may touch: tool calls.
    """

    index: int
    choice: dict[str, Any]
    seed: int | None
    head: Mapping[str, Any]
    text: str
    bound: bool
    tokens: int
    log_likelihood: float | None

    def candidate(self, prompt_id: str, index: int) -> Candidate:
        """The same as the rest of DARC knows it."""
        cut = self.choice.get("finish_reason") == "length"
        return Candidate(
            prompt_id, index, self.text, self.tokens, cut, self.log_likelihood, self.seed
        )


@dataclass
class Wave:
    """What came of a wave, in the order of the candidates, and what is to be said of it."""

    replies: list[Reply] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)


async def candidates(
    backend: Backend,
    body: Mapping[str, Any],
    seeds: Sequence[int],
    headers: Mapping[str, str],
    *,
    seeded: bool,
    singly: bool = False,
    strict: bool = False,
    deadline: float | None = None,
    arrived: Arrived | None = None,
) -> Wave:
    """As many candidates as there are seeds, in one call where the backend can, else in as many.

    With seeds that the client asked for (`seeded`) every candidate has a call of its own, because
    no call for several says which seed made which. Where some calls fail, the others' answers are
    taken, and flagged, unless `strict`. At the `deadline` what has come is taken.
    """
    wave = Wave()

    def take(answer: Mapping[str, Any], index: int, seed: int | None) -> None:
        reply = read_reply(answer, answer["choices"][0], index, seed)
        wave.replies.append(reply)
        if arrived is not None:
            arrived(reply)

    several = len(seeds) > 1 and backend.several and not seeded and not singly
    if several:
        for answer, choice in await _at_once(backend, body, seeds, headers, deadline):
            index = len(wave.replies)
            reply = read_reply(answer, choice, index, None if index else seeds[0])
            wave.replies.append(reply)
            if arrived is not None:
                arrived(reply)
    there = len(wave.replies)
    calls: dict[asyncio.Future[dict[str, Any]], int] = {
        asyncio.ensure_future(backend.answer({**body, "seed": seed}, headers)): index
        for index, seed in enumerate(seeds)
        if index >= there
    }
    failures = await _collected(calls, seeds, take, strict, deadline, wave)
    if failures and (strict or not wave.replies):
        raise _of(failures[0])
    if not wave.replies:
        raise Problem(504, "the budget ended before any answer came", "server_error", "budget")
    if failures:
        wave.flags.append("fewer_candidates")
    texts = {reply.text for reply in wave.replies}
    if several and there < len(seeds) and (not there or len(texts) > 1):
        backend.several = False
    wave.replies.sort(key=lambda reply: reply.index)
    return wave


async def _collected(
    calls: dict["asyncio.Future[dict[str, Any]]", int],
    seeds: Sequence[int],
    take: Callable[[Mapping[str, Any], int, int | None], None],
    strict: bool,
    deadline: float | None,
    wave: Wave,
) -> list[Exception]:
    """Take answers as they come; the failures, in the order in which they came."""
    failures: list[Exception] = []
    loop, left = asyncio.get_running_loop(), set(calls)
    try:
        while left:
            wait = None if deadline is None else max(0.0, deadline - loop.time())
            done, left = await asyncio.wait(left, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                wave.flags.append("budget_milliseconds")
                break
            for call in done:
                try:
                    take(call.result(), calls[call], seeds[calls[call]])
                except (DarcError, Problem) as problem:
                    failures.append(problem)
            if failures and (strict or any(map(_is_final, failures))):
                break
    finally:
        for call in left:
            call.cancel()
        await asyncio.gather(*left, return_exceptions=True)
    if any(map(_is_final, failures)):
        raise _of(next(filter(_is_final, failures)))
    return failures


async def _at_once(
    backend: Backend,
    body: Mapping[str, Any],
    seeds: Sequence[int],
    headers: Mapping[str, str],
    deadline: float | None,
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The choices of one call for all; none where the backend refuses to give several."""
    call = backend.answer({**body, "n": len(seeds), "seed": seeds[0]}, headers)
    try:
        async with asyncio.timeout_at(deadline):
            answer = await call
    except TimeoutError:
        raise Problem(
            504, "the budget ended before any answer came", "server_error", "budget"
        ) from None
    except Refused as refused:
        if refused.status not in (400, 422):
            raise _of(refused) from None
        return []
    except DarcError as problem:
        raise _of(problem) from None
    choices = sorted(answer["choices"], key=_place)[: len(seeds)]
    if len({json.dumps(choice["message"], sort_keys=True) for choice in choices}) == 1:
        choices = choices[:1]
    return [(answer, choice) for choice in choices]


def read_reply(
    answer: Mapping[str, Any], choice: dict[str, Any], index: int, seed: int | None
) -> Reply:
    """A choice as a candidate."""
    message = choice["message"]
    calls = message.get("tool_calls") or message.get("function_call")
    content = message.get("content") or message.get("refusal")
    text = content if isinstance(content, str) else ""
    if calls:
        text = (text + "\n" if text else "") + json.dumps(calls, ensure_ascii=False)
    logs = _logs(choice)
    used = (answer.get("usage") or {}).get("completion_tokens")
    alone = len(answer["choices"]) == 1 and isinstance(used, int)
    return Reply(
        index=index,
        choice=choice,
        seed=seed,
        head={k: v for k, v in answer.items() if k not in ("choices", "usage", "object")},
        text=text,
        bound=bool(calls),
        tokens=used if alone and isinstance(used, int) else len(logs) or len(text.split()),
        log_likelihood=math.fsum(logs) / len(logs) if logs else None,
    )


def _logs(choice: Mapping[str, Any]) -> list[float]:
    """The log-probabilities of the tokens, empty unless all are there and finite."""
    given = choice.get("logprobs")
    content = given.get("content") if isinstance(given, Mapping) else None
    if not isinstance(content, list):
        return []
    logs = [entry.get("logprob") if isinstance(entry, Mapping) else None for entry in content]
    found = [float(log) for log in logs if isinstance(log, int | float) and math.isfinite(log)]
    return found if len(found) == len(logs) else []


def _place(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _is_final(problem: Exception) -> bool:
    """Whether the other calls will be refused too."""
    if isinstance(problem, Problem):
        return problem.status < 500
    return isinstance(problem, Refused) or not hasattr(problem, "status")


def _of(problem: Exception) -> Problem:
    if isinstance(problem, Problem):
        return problem
    assert isinstance(problem, DarcError)
    return told(problem)

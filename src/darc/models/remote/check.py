"""What a chat server can do, found out by a handful of tiny calls."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from darc.models.completion import Completion, Request
from darc.models.remote.client import JSON, KEY, AsyncClient
from darc.models.remote.endpoints import CHAT, Breaker, Retry, base_url
from darc.models.remote.http import METER, Meter, Response
from darc.models.remote.openai import NAMED, OpenAIModel
from darc.models.remote.problems import Failed, Refused, json_object, said
from darc.models.remote.protocol import LIMIT, NEWER_LIMIT, adapted, chat_body, read_choices
from darc.types import Message

TEXT = "Write one short and unusual sentence about the sea."
TOKENS = 16
CHOICES = 3
SINGLY = "one call a candidate: n=false"
LISTED = 5
# A turn of a chat template has two marks at least; texts that are only joined have one or none.
MARKS = 1.25
TOOL = {
    "type": "function",
    "function": {
        "name": "tide",
        "description": "When the next high tide is.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}
LONGEST = 100
USER = ({"role": "user", "content": TEXT},)
# What came of a trial, what that means for DARC, and whether it is fine, None if nobody knows.
Found = tuple[str, str, bool | None]


@dataclass(frozen=True)
class Finding:
    """One thing that was tried: what came of it, and what that means for DARC.

    `fine` is None where nothing was learnt.
    """

    what: str
    result: str
    meaning: str = ""
    fine: bool | None = True


@dataclass
class ServerReport:
    """What is known of a server; `problem` says why DARC cannot use it, and is empty if it can.

    `kind` is "chat", "reward", or empty where it is neither; `status` is that of the failure then.
    `options` are those of the generator or scorer that suit it.
    """

    url: str
    model: str = ""
    kind: str = ""
    findings: list[Finding] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    reachable: bool = True
    status: int | None = None
    calls: int = 0
    tokens: int = 0

    def add(self, what: str, result: str, meaning: str = "", fine: bool | None = True) -> None:
        """Add a finding."""
        self.findings.append(Finding(what, result, meaning, fine))

    def failed(self, what: str, problem: Refused | Failed) -> None:
        """Add what makes the server useless."""
        reason = problem.said if isinstance(problem, Refused) else problem.message
        self.add(what, "no", one_line(reason), False)
        self.problem, self.status = str(problem), problem.status
        self.reachable = problem.status is not None

    async def attempt(self, what: str, check: Callable[[], Awaitable[Found]], refused: str) -> None:
        """Add what a check finds; one that fails says so, and stops no other."""
        try:
            self.add(what, *await check())
        except Refused as problem:
            self.add(what, one_line(f"refused ({problem.status})", problem.said), refused, False)
        except Failed as problem:
            self.add(what, "not known", one_line(problem.message), None)


@asynccontextmanager
async def trying(report: ServerReport, key_env: str, timeout: float) -> AsyncIterator[AsyncClient]:
    """A client that tries once, and gives up on a server that has gone; counts for a report."""
    once: dict[str, Any] = {"retry": Retry(attempts=1), "breaker": Breaker(threshold=3)}
    meter = Meter()
    before = METER.set(meter)
    try:
        async with AsyncClient(
            report.url, key_env=key_env, timeout=timeout, concurrency=1, **once
        ) as client:
            yield client
    finally:
        METER.reset(before)
        report.calls += meter.calls
        report.tokens += meter.tokens


def one_line(*parts: str) -> str:
    """Parts that are not empty on one line, cut where they are long."""
    text = ": ".join(filter(None, (" ".join(part.split()) for part in parts)))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


async def check_chat(
    url: str, model: str = "", *, key_env: str = KEY, timeout: float = 60.0
) -> ServerReport:
    """What the chat server below a URL can do; `model` is by default the first that it lists."""
    report = ServerReport(base_url(url), model)
    async with trying(report, key_env, timeout) as client:
        trial = _Trial(report, client)
        names = await trial.models()
        if not report.problem:
            report.model = model or next(iter(names), "default")
            if model and names and model not in names:
                report.add("model", f"{model} is not listed", "is the name right?", False)
            await trial.run()
    return report


class _Trial:
    """The calls to one model, one after another."""

    def __init__(self, report: ServerReport, client: AsyncClient) -> None:
        self.report, self.client = report, client
        self.model = OpenAIModel(f"{NAMED}@{report.url}", client=client)
        self.first = ""
        self.one_text = False
        self.prompt_tokens = 0

    async def models(self) -> list[str]:
        """The names of the models that the server lists, without the key should it repeat it."""
        report, key, name_it = self.report, self.client.key, "name the model: MODEL@URL"
        try:
            names = await self.model.models()
        except (Refused, Failed) as problem:
            if problem.status is None:
                report.failed("reachable", problem)
                return []
            report.add("reachable", "yes")
            told = one_line(f"not listed ({problem.status})", said(problem.body, key))
            report.add("models", told, name_it, None)
            return []
        report.add("reachable", "yes")
        names = [name.replace(key, "***") if key else name for name in names if name.isprintable()]
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        listed = ", ".join(names[:LISTED]) or "none"
        report.add("models", listed + more, "" if names else name_it, bool(names))
        return names

    async def choices(self, **fields: Any) -> list[Completion]:
        """The answers to DARC's own request, with some fields set otherwise."""
        request = Request([Message("user", TEXT)], TOKENS, seed=1)
        return await self.model.choices({**chat_body(self.report.model, request), **fields})

    async def run(self) -> None:
        report = self.report
        if not await self.own_request():
            return
        report.kind = "chat"
        for what, check, refused in (
            ("seed", self.seeds, ""),
            ("n", self.several, SINGLY),
            ("logprobs", self.log_probabilities, "judges read the number in the reply instead"),
            ("stream", self.stream, "clients of darc serve can stream chosen answers only"),
            ("chat template", self.template, ""),
            ("system role", self.system, "prompts with a system message are refused"),
            ("tools", self.tools, "requests with tools fail; DARC itself needs none"),
            ("response_format", self.json_object, "requests for JSON fail; DARC itself needs none"),
        ):
            await report.attempt(what, check, refused)
        if any(one.what == "n" and one.fine is False for one in report.findings):
            report.options["n"] = "false"

    async def own_request(self) -> bool:
        """Whether DARC's own request is answered; tells of the token limit too."""
        report, begun = self.report, monotonic()
        try:
            (one,) = await self.choices()
        except (Refused, Failed) as problem:
            refused = isinstance(problem, Refused)
            report.failed("chat completions", problem)
            report.status = problem.status if refused else None
            if refused and problem.status in (400, 422):
                await report.attempt("the least request", self.least, "")
            return False
        seconds = monotonic() - begun
        self.first = one.text
        took = f"{seconds:.1f} s for {one.tokens} tokens"
        report.add("chat completions", f"yes: {report.model}", took)
        if one.tokens > TOKENS:
            told = f"ignored: {one.tokens} tokens, not {TOKENS}"
            report.add("max_tokens", told, "answers may be long and dear", False)
        elif LIMIT in self.model.lacks:
            told = f"refused; {NEWER_LIMIT} is kept"
            report.add("max_tokens", told, "DARC finds that out by itself")
        else:
            report.add("max_tokens", "kept")
        return True

    async def least(self) -> Found:
        await self.ask()
        return "answered", "model and messages alone are accepted", None

    async def seeds(self) -> Found:
        again, other = [(await self.choices(seed=seed))[0].text for seed in (1, 2)]
        if again == other == self.first:
            # Two short answers may be alike by chance.
            other = (await self.choices(seed=3))[0].text
        if not self.first + again + other:
            self.one_text = True
            told = f"nothing is said within {TOKENS} tokens: does the model think first?"
            return "not known", told, None
        if again != self.first:
            return "ignored", "answers cannot be made again; candidates still differ", False
        if other == self.first:
            self.one_text = True
            told = "candidates may be copies: there is nothing to choose from"
            return "other seeds give the same text", told, False
        return "honoured", "a candidate can be made again", True

    async def several(self) -> Found:
        try:
            found = await self.choices(n=CHOICES)
        except Failed as problem:
            if problem.status is None:
                raise
            return f"fails ({problem.status})", SINGLY, False
        if len(found) < CHOICES:
            return f"ignored: {len(found)} of {CHOICES} choices", SINGLY, False
        if len({one.text for one in found}) > 1:
            return f"{CHOICES} choices in one call", "one call writes all candidates", True
        if self.one_text:
            return f"{CHOICES} copies, like any seed", "see seed", None
        return f"{CHOICES} copies of one text", SINGLY, False

    async def log_probabilities(self) -> Found:
        known = self.model.lacks
        without = "no log-likelihood; judges read the number in the reply instead"
        if "logprobs" in known:
            return "refused", without, False
        try:
            (one,) = await self.choices(top_logprobs=5)
            refused = "logprobs" in self.model.lacks
        finally:
            self.model.lacks = known
        if refused:
            return "given; top_logprobs is refused", "judges read the number", False
        if one.log_likelihood is None:
            return "not given", without, False
        if not one.alternatives:
            return "given, without top_logprobs", "judges read the number", True
        return "given, with top_logprobs", "judges grade by probabilities", True

    async def stream(self) -> Found:
        async def lines(response: Response) -> list[str]:
            held = await response.read(self.client.largest)
            if response.status >= 300:
                raise self.client.problem_of(response, held)
            return held.decode("utf-8", "replace").splitlines()

        body, seconds = json.dumps(self.body(stream=True)).encode(), self.client.timeout
        found = await self.client.call(
            "POST", CHAT, lines, headers=JSON, content=body, seconds=seconds
        )
        events = [line for line in found if line.startswith("data:")]
        if not events:
            return "no events", "darc serve streams chosen answers only", False
        ended = any("[DONE]" in line for line in events[-2:])
        told = f"{len(events)} events" + ("" if ended else ", without [DONE]")
        return told, "darc serve passes streams through where k = 1", ended

    async def template(self) -> Found:
        """Tokens beside the text, from conversations with more text and with more turns."""
        twice = {"role": "user", "content": f"{TEXT} {TEXT}"}
        turns = [*USER, {"role": "assistant", "content": TEXT}, *USER]
        one, longer, three = [await self.count(each) for each in (USER, [twice], turns)]
        if not (one and longer and three):
            return "not known", "the server counts no tokens", None
        self.prompt_tokens = one
        text = longer - one
        turn = (three - one) / 2 - text
        if turn < MARKS:
            told = "answers may ramble; or the server does not count its marks"
            return "no sign of one", told, False
        rest = max(one - turn - text, 0)
        return f"applied: {turn:.0f} tokens a turn, {rest:.0f} a conversation", "", True

    async def system(self) -> Found:
        count = await self.count([{"role": "system", "content": " ".join([TEXT] * 4)}, *USER])
        if count and self.prompt_tokens and count <= self.prompt_tokens:
            return "accepted, but adds no tokens", "it may be dropped", False
        return "accepted", "", True

    async def tools(self) -> Found:
        turns = [{"role": "user", "content": "When is the next high tide in Brest?"}]
        answer = await self.ask(turns, 2 * TOKENS, tools=[TOOL])
        called = answer["choices"][0]["message"].get("tool_calls")
        return ("accepted, and called" if called else "accepted, not called"), "", True

    async def json_object(self) -> Found:
        turns = [{"role": "user", "content": 'Answer in JSON: {"sea": "salty or sweet"}'}]
        kind = {"type": "json_object"}
        answer = await self.ask(turns, 2 * TOKENS, response_format=kind)
        text = (answer["choices"][0]["message"].get("content") or "").strip()
        cut = answer["choices"][0].get("finish_reason") == "length"
        if json_object(text) or (cut and text.startswith("{")):
            return "JSON as asked", "", True
        return "accepted, but no JSON object", "requests for JSON may get something else", False

    async def count(self, messages: Sequence[dict[str, str]]) -> int:
        """The tokens of a conversation; 0 where the server does not say."""
        counts = (await self.ask(messages, 1)).get("usage")
        found = counts.get("prompt_tokens") if isinstance(counts, dict) else None
        return found if isinstance(found, int) else 0

    async def ask(
        self, messages: Sequence[dict[str, str]] = USER, tokens: int = TOKENS, **fields: Any
    ) -> Any:
        """The whole answer to a request with nothing but what is said here."""
        body = self.body(messages, tokens, **fields)
        return await self.client.ask(CHAT, lambda answer: read_choices(answer) and answer, body)

    def body(
        self, messages: Sequence[dict[str, str]] = USER, tokens: int = TOKENS, **fields: Any
    ) -> dict[str, Any]:
        told = {"model": self.report.model, "messages": messages, LIMIT: tokens, **fields}
        return adapted(told, self.model.lacks)

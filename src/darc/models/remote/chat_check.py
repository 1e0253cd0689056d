"""What a chat server can do, found out by a handful of tiny calls."""

import json
from collections.abc import Sequence
from time import monotonic
from typing import Any

from darc.models.completion import Completion, Request
from darc.models.remote.address import CHAT_PATH, KEY_ENV, base_url
from darc.models.remote.bodies import error_message, parse_object
from darc.models.remote.caller import REQUESTED_MODEL
from darc.models.remote.client import JSON_HEADERS, AsyncClient
from darc.models.remote.errors import BackendError, Rejected
from darc.models.remote.openai import OpenAIModel
from darc.models.remote.protocol import (
    NEWER_TOKEN_LIMIT,
    TOKEN_LIMIT,
    adapt_body,
    chat_body,
    read_choices,
)
from darc.models.remote.response import Response
from darc.models.remote.server_report import CheckResult, ServerReport, one_line, probing_client
from darc.types import Message

ChatMessages = Sequence[dict[str, str]]

_TEXT = "Write one short and unusual sentence about the sea."
_MESSAGES: ChatMessages = ({"role": "user", "content": _TEXT},)
_MAX_TOKENS = 16
_CHOICES = 3
_MAX_LISTED_MODELS = 5
_NAME_THE_MODEL = "name the model: MODEL@URL"
_ONE_CALL_PER_CANDIDATE = "one call per candidate: n=false"
# A turn of a chat template has at least two marks; texts that are only joined have one or none.
_LEAST_MARKS_PER_TURN = 1.25
_TOOL = {
    "type": "function",
    "function": {
        "name": "tide",
        "description": "When the next high tide is.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}


async def check_chat(
    url: str, model: str = "", *, key_env: str = KEY_ENV, timeout: float = 60.0
) -> ServerReport:
    """Find out what a chat server can do.

    Args:
        url: The server.
        model: The model to try; by default the first that the server lists.
        key_env: The environment variable with the key.
        timeout: The most seconds for a call.

    Returns:
        The report, whose `problem` says why DARC cannot use the server, if so.
    """
    report = ServerReport(base_url(url), model)
    async with probing_client(report, key_env, timeout) as client:
        check = _ChatCheck(report, client)
        names = await check.list_models()
        if not report.problem:
            report.model = model or next(iter(names), "default")
            if model and names and model not in names:
                report.add("model", f"{model} is not listed", "is the name right?", fine=False)
            await check.run()
    return report


class _ChatCheck:
    """The checks of one chat server; each learns from those before it."""

    def __init__(self, report: ServerReport, client: AsyncClient) -> None:
        self._report = report
        self._client = client
        self._model = OpenAIModel(f"{REQUESTED_MODEL}@{report.url}", client=client)
        #: The first answer, with seed 1.
        self._first_text = ""
        #: Whether every seed gives the same text, so that copies say nothing about n.
        self._seeds_make_copies = False
        #: The tokens of a conversation with one message; 0 if not known.
        self._prompt_tokens = 0

    async def list_models(self) -> list[str]:
        """The names of the models that the server lists; the key is removed from them."""
        report = self._report
        key = self._client.key
        try:
            names = await self._model.models()
        except (Rejected, BackendError) as problem:
            if problem.status is None:
                report.add_failure("reachable", problem)
                return []
            report.add("reachable", "yes")
            result = one_line(f"not listed ({problem.status})", error_message(problem.body, key))
            report.add("models", result, _NAME_THE_MODEL, fine=None)
            return []
        report.add("reachable", "yes")
        names = [name for name in names if name.isprintable()]
        if key:
            names = [name.replace(key, "***") for name in names]
        if not names:
            report.add("models", "none", _NAME_THE_MODEL, fine=False)
            return []
        listing = ", ".join(names[:_MAX_LISTED_MODELS])
        if len(names) > _MAX_LISTED_MODELS:
            listing += f" and {len(names) - _MAX_LISTED_MODELS} more"
        report.add("models", listing)
        return names

    async def run(self) -> None:
        """Run all checks, if the server answers DARC's own request."""
        report = self._report
        if not await self._check_own_request():
            return
        report.kind = "chat"
        await report.run_check("seed", self._check_seed, "")
        await report.run_check("n", self._check_n, _ONE_CALL_PER_CANDIDATE)
        await report.run_check(
            "logprobs",
            self._check_log_probabilities,
            "judges read the number in the reply instead",
        )
        await report.run_check(
            "stream", self._check_stream, "clients of darc serve can stream chosen answers only"
        )
        await report.run_check("chat template", self._check_template, "")
        await report.run_check(
            "system role", self._check_system, "prompts with a system message are refused"
        )
        await report.run_check(
            "tools", self._check_tools, "requests with tools fail; DARC itself needs none"
        )
        await report.run_check(
            "response_format",
            self._check_json_format,
            "requests for JSON fail; DARC itself needs none",
        )
        if any(finding.what == "n" and finding.fine is False for finding in report.findings):
            report.options["n"] = "false"

    async def _check_own_request(self) -> bool:
        """Whether the server answers DARC's own request; also reports how it limits tokens."""
        report = self._report
        started = monotonic()
        try:
            (completion,) = await self._choices()
        except (Rejected, BackendError) as problem:
            report.add_failure("chat completions", problem)
            report.status = None
            if isinstance(problem, Rejected):
                report.status = problem.status
                if problem.status in (400, 422):
                    await report.run_check("the least request", self._check_least_request, "")
            return False
        seconds = monotonic() - started
        self._first_text = completion.text
        duration = f"{seconds:.1f} s for {completion.tokens} tokens"
        report.add("chat completions", f"yes: {report.model}", duration)
        report.add("max_tokens", *self._token_limit_result(completion.tokens))
        return True

    def _token_limit_result(self, tokens: int) -> CheckResult:
        if tokens > _MAX_TOKENS:
            result = f"ignored: {tokens} tokens, not {_MAX_TOKENS}"
            return CheckResult(result, "answers may be long and dear", fine=False)
        if TOKEN_LIMIT in self._model.unsupported:
            result = f"refused; {NEWER_TOKEN_LIMIT} is kept"
            return CheckResult(result, "DARC finds that out by itself")
        return CheckResult("kept")

    async def _check_least_request(self) -> CheckResult:
        await self._ask()
        return CheckResult("answered", "model and messages alone are accepted", fine=None)

    async def _check_seed(self) -> CheckResult:
        same_seed = await self._text_of_seed(1)
        other_seed = await self._text_of_seed(2)
        if same_seed == other_seed == self._first_text:
            # Two short answers may be alike by chance.
            other_seed = await self._text_of_seed(3)
        if not self._first_text + same_seed + other_seed:
            self._seeds_make_copies = True
            meaning = f"nothing is said within {_MAX_TOKENS} tokens: does the model think first?"
            return CheckResult("not known", meaning, fine=None)
        if same_seed != self._first_text:
            meaning = "answers cannot be made again; candidates still differ"
            return CheckResult("ignored", meaning, fine=False)
        if other_seed == self._first_text:
            self._seeds_make_copies = True
            meaning = "candidates may be copies: there is nothing to choose from"
            return CheckResult("other seeds give the same text", meaning, fine=False)
        return CheckResult("honoured", "a candidate can be made again")

    async def _text_of_seed(self, seed: int) -> str:
        choices = await self._choices(seed=seed)
        return choices[0].text

    async def _check_n(self) -> CheckResult:
        try:
            choices = await self._choices(n=_CHOICES)
        except BackendError as problem:
            if problem.status is None:
                raise
            result = f"fails ({problem.status})"
            return CheckResult(result, _ONE_CALL_PER_CANDIDATE, fine=False)
        if len(choices) < _CHOICES:
            result = f"ignored: {len(choices)} of {_CHOICES} choices"
            return CheckResult(result, _ONE_CALL_PER_CANDIDATE, fine=False)
        texts = {choice.text for choice in choices}
        if len(texts) > 1:
            result = f"{_CHOICES} choices in one call"
            return CheckResult(result, "one call writes all candidates")
        if self._seeds_make_copies:
            return CheckResult(f"{_CHOICES} copies, like any seed", "see seed", fine=None)
        return CheckResult(f"{_CHOICES} copies of one text", _ONE_CALL_PER_CANDIDATE, fine=False)

    async def _check_log_probabilities(self) -> CheckResult:
        unsupported = self._model.unsupported
        without = "no log-likelihood; judges read the number in the reply instead"
        if "logprobs" in unsupported:
            return CheckResult("refused", without, fine=False)
        try:
            (completion,) = await self._choices(top_logprobs=5)
            top_refused = "logprobs" in self._model.unsupported
        finally:
            self._model.unsupported = unsupported
        if top_refused:
            result = "given; top_logprobs is refused"
            return CheckResult(result, "judges read the number", fine=False)
        if completion.log_likelihood is None:
            return CheckResult("not given", without, fine=False)
        if not completion.alternatives:
            return CheckResult("given, without top_logprobs", "judges read the number")
        return CheckResult("given, with top_logprobs", "judges grade by probabilities")

    async def _check_stream(self) -> CheckResult:
        lines = await self._client.call(
            "POST",
            CHAT_PATH,
            self._read_lines,
            headers=JSON_HEADERS,
            content=json.dumps(self._body(stream=True)).encode(),
            seconds=self._client.timeout,
        )
        events = [line for line in lines if line.startswith("data:")]
        if not events:
            meaning = "darc serve streams chosen answers only"
            return CheckResult("no events", meaning, fine=False)
        meaning = "darc serve passes streams through where k = 1"
        result = f"{len(events)} events"
        if any("[DONE]" in line for line in events[-2:]):
            return CheckResult(result, meaning)
        return CheckResult(f"{result}, without [DONE]", meaning, fine=False)

    async def _read_lines(self, response: Response) -> list[str]:
        content = await response.read(self._client.max_bytes)
        if response.status >= 300:
            raise self._client.error_for(response, content)
        return content.decode("utf-8", "replace").splitlines()

    async def _check_template(self) -> CheckResult:
        """Compare the tokens of conversations with more text and with more turns."""
        twice_the_text = [{"role": "user", "content": f"{_TEXT} {_TEXT}"}]
        three_turns = [*_MESSAGES, {"role": "assistant", "content": _TEXT}, *_MESSAGES]
        tokens = await self._count_tokens(_MESSAGES)
        tokens_of_twice = await self._count_tokens(twice_the_text)
        tokens_of_three = await self._count_tokens(three_turns)
        if not (tokens and tokens_of_twice and tokens_of_three):
            return CheckResult("not known", "the server counts no tokens", fine=None)
        self._prompt_tokens = tokens
        text_tokens = tokens_of_twice - tokens
        turn_marks = (tokens_of_three - tokens) / 2 - text_tokens
        if turn_marks < _LEAST_MARKS_PER_TURN:
            meaning = "answers may ramble; or the server does not count its marks"
            return CheckResult("no sign of one", meaning, fine=False)
        conversation_marks = max(tokens - turn_marks - text_tokens, 0)
        return CheckResult(
            f"applied: {turn_marks:.0f} tokens per turn, {conversation_marks:.0f} per conversation"
        )

    async def _check_system(self) -> CheckResult:
        system = {"role": "system", "content": " ".join([_TEXT] * 4)}
        tokens = await self._count_tokens([system, *_MESSAGES])
        if tokens and self._prompt_tokens and tokens <= self._prompt_tokens:
            return CheckResult("accepted, but adds no tokens", "it may be dropped", fine=False)
        return CheckResult("accepted")

    async def _check_tools(self) -> CheckResult:
        messages = [{"role": "user", "content": "When is the next high tide in Brest?"}]
        answer = await self._ask(messages, 2 * _MAX_TOKENS, tools=[_TOOL])
        if answer["choices"][0]["message"].get("tool_calls"):
            return CheckResult("accepted, and called")
        return CheckResult("accepted, not called")

    async def _check_json_format(self) -> CheckResult:
        messages = [{"role": "user", "content": 'Answer in JSON: {"sea": "salty or sweet"}'}]
        answer = await self._ask(messages, 2 * _MAX_TOKENS, response_format={"type": "json_object"})
        choice = answer["choices"][0]
        text = (choice["message"].get("content") or "").strip()
        truncated = choice.get("finish_reason") == "length"
        if parse_object(text) or (truncated and text.startswith("{")):
            return CheckResult("JSON as asked")
        meaning = "requests for JSON may get something else"
        return CheckResult("accepted, but no JSON object", meaning, fine=False)

    async def _choices(self, **fields: Any) -> list[Completion]:
        """The answers to DARC's own request, with some fields changed."""
        request = Request([Message("user", _TEXT)], _MAX_TOKENS, seed=1)
        return await self._model.choices({**chat_body(self._report.model, request), **fields})

    async def _count_tokens(self, messages: ChatMessages) -> int:
        """The tokens of a conversation; 0 if the server does not say."""
        answer = await self._ask(messages, 1)
        usage = answer.get("usage")
        if not isinstance(usage, dict):
            return 0
        tokens = usage.get("prompt_tokens")
        return tokens if isinstance(tokens, int) else 0

    async def _ask(
        self, messages: ChatMessages = _MESSAGES, max_tokens: int = _MAX_TOKENS, **fields: Any
    ) -> Any:
        """The whole answer to a request with nothing but these fields."""
        body = self._body(messages, max_tokens, **fields)
        return await self._client.ask(CHAT_PATH, _check_choices, body)

    def _body(
        self, messages: ChatMessages = _MESSAGES, max_tokens: int = _MAX_TOKENS, **fields: Any
    ) -> dict[str, Any]:
        body = {"model": self._report.model, "messages": messages, TOKEN_LIMIT: max_tokens}
        return adapt_body({**body, **fields}, self._model.unsupported)


def _check_choices(answer: Any) -> Any:
    """An answer, if it is a chat completion."""
    read_choices(answer)
    return answer

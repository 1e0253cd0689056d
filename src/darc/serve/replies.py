"""The choices of a backend's answers as candidates."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from darc.engine.copies import MergedCandidates, merge_copies
from darc.models.completion import strip_reasoning
from darc.models.remote.protocol import (
    mean_log_probability,
    message_text,
    self_certainty,
    token_entries,
)
from darc.types import Candidate


@dataclass(frozen=True)
class Reply:
    """A candidate as scorers see it, with the backend's choice and answer as they came."""

    #: What scorers see.
    candidate: Candidate
    #: The model that wrote it, as it is configured or named by the request.
    model: str
    #: The choice in the backend's answer.
    choice: dict[str, Any]
    #: The backend's answer.
    answer: Mapping[str, Any]
    #: Whether it has tool calls, which no rewrite may touch.
    has_tool_calls: bool
    #: Whether it consists of reasoning that never ends, so that there is no answer in it.
    is_endless: bool

    @property
    def text(self) -> str:
        """The text that scorers see."""
        return self.candidate.text

    def with_name(self, name: str) -> "Reply":
        """The same reply with a name for its candidate."""
        return replace(self, candidate=replace(self.candidate, name=name))


def read_reply(
    prompt_id: str,
    answer: Mapping[str, Any],
    choice: dict[str, Any],
    index: int,
    seed: int | None = None,
    model: str = "",
) -> Reply:
    """Read a choice as a candidate.

    Args:
        prompt_id: The id of the prompt.
        answer: The backend's answer.
        choice: One of its choices.
        index: The place of the candidate.
        seed: The seed that makes it again; None if none does.
        model: The model that wrote it; empty for what the answer says.
    """
    message = choice["message"]
    tool_calls = message.get("tool_calls") or message.get("function_call")
    content = message_text(message) or _audio_transcript(message)
    answer_text: str | None = ""
    if isinstance(content, str):
        answer_text = strip_reasoning(content)
    text = answer_text or ""
    if tool_calls:
        lines = [text] if text else []
        text = "\n".join([*lines, tool_calls_text(tool_calls)])
    entries = token_entries(choice)
    tokens = _completion_tokens(answer)
    if tokens is None:
        tokens = len(entries) or len(text.split())
    candidate = Candidate(
        prompt_id,
        index,
        text,
        tokens,
        choice.get("finish_reason") == "length",
        mean_log_probability(entries),
        seed,
        self_certainty(entries),
    )
    return Reply(
        candidate=candidate,
        model=model or str(answer.get("model") or ""),
        choice=choice,
        answer=answer,
        has_tool_calls=bool(tool_calls),
        is_endless=answer_text is None,
    )


def merge_replies(replies: Sequence[Reply]) -> tuple[list[Reply], MergedCandidates]:
    """Merge replies with the same text.

    Returns:
        The first reply of each text, and how the candidates were merged.
    """
    merged = merge_copies([reply.candidate for reply in replies])
    firsts = [
        replace(replies[place], candidate=candidate)
        for candidate, place in zip(merged.candidates, merged.places, strict=True)
    ]
    return firsts, merged


def tool_calls_text(calls: Any) -> str:
    """Return tool calls as scorers see them: names and arguments in one order.

    Calls that differ in nothing but their random ids have the same text.
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


def _audio_transcript(message: Mapping[str, Any]) -> Any:
    audio = message.get("audio")
    if not isinstance(audio, Mapping):
        return None
    return audio.get("transcript")


def _completion_tokens(answer: Mapping[str, Any]) -> int | None:
    """The tokens of an answer's only choice, None if there are several or it does not say."""
    tokens = (answer.get("usage") or {}).get("completion_tokens")
    if len(answer["choices"]) != 1 or not isinstance(tokens, int):
        return None
    return tokens

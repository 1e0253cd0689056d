"""The `llm` rewriter: instructions and examples for a chat model."""

import hashlib
import json
import re
from pathlib import Path

from darc.language.data_files import read_toml
from darc.models.chat_models import ChatUser
from darc.models.completion import ChatModel, Completion, Request
from darc.models.remote.address import KEY_ENV
from darc.models.remote.openai import OpenAIModel
from darc.parts.rewriters.accept import derived, parts
from darc.registry import rewriter
from darc.types import Message, Prompt

PARALLEL = 8
BYTES_A_TOKEN = 4
ROOM, LEAST_ROOM = 1.5, 32

_TOLD = read_toml(Path(__file__).with_suffix(".toml"))
_REPLY = {name: re.compile(pattern) for name, pattern in _TOLD.pop("reply").items()}
_QUOTES = {'"': '"', "“": "”", "'": "'"}


@rewriter("llm", "[MODEL]")
class LlmRewriter(ChatUser):
    """Rewrites by a chat model: embedded, transformers:MODEL, or MODEL@URL.

    One conversation a proposal, all in one batch. A reply may be half as long again as the text
    and 32 tokens more, or `max_tokens` where that is given. `parallel` is how many candidates may
    be rewritten at once: the embedded model is busy with one.
    """

    name = "llm"

    def __init__(
        self,
        model: ChatModel | str = "",
        *,
        temperature: float = 0.7,
        top_p: float = 0.98,
        max_tokens: int = 0,
        key_env: str = KEY_ENV,
        timeout: float = 120.0,
        concurrency: int = 16,
    ) -> None:
        super().__init__(model, key_env=key_env, timeout=timeout, concurrency=concurrency)
        self.temperature = temperature
        self.top_p = top_p
        self.max_tokens = max_tokens
        self.parallel = PARALLEL if self.remote else 1

    @property
    def version(self) -> str:
        """The model, how it is sampled, and a hash of what it is told."""
        told = json.dumps(_TOLD).encode()
        sampled = f"{self.temperature:g} {self.top_p:g} {self.max_tokens}"
        return f"{self.model_version} {sampled} {hashlib.sha256(told).hexdigest()[:12]}"

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Cleaned replies of the model, empty ones left out."""
        requests = self._requests(prompt, text, count, family, seed)
        return _read(self.model.complete(requests) if requests else [], text)

    async def rewrite_async(
        self, prompt: Prompt, text: str, count: int, family: str, seed: int
    ) -> list[str]:
        """`rewrite`, awaited; for a model on a server."""
        assert isinstance(self.model, OpenAIModel)
        requests = self._requests(prompt, text, count, family, seed)
        return _read(await self.model.complete_async(requests), text)

    def _requests(
        self, prompt: Prompt, text: str, count: int, family: str, seed: int
    ) -> list[Request]:
        """A conversation a proposal."""
        asked = [part for part, wanted in parts(family, count) for _ in range(wanted)]
        return [
            Request(
                messages=messages(prompt, text, part, angle),
                max_tokens=self.max_tokens or room(text),
                temperature=self.temperature,
                top_p=self.top_p,
                seed=derived(seed, prompt.id, angle) % 2**31,
            )
            for angle, part in enumerate(asked)
        ]


def _read(replies: list[Completion], text: str) -> list[str]:
    return [told for reply in replies if (told := cleaned(reply.text, text))]


def room(text: str) -> int:
    """The tokens that a rewrite of the text may take."""
    return int(ROOM * len(text.encode()) / BYTES_A_TOKEN) + LEAST_ROOM


def messages(prompt: Prompt, text: str, family: str, angle: int = 0) -> tuple[Message, ...]:
    """The conversation that asks for one rewrite; `angle` varies what it stresses."""
    own = _TOLD[family]
    system = f"{_TOLD['common']} {own['task']} {own['angles'][angle % len(own['angles'])]}"
    turns = [Message("system", system)]
    for question, answer, edited in own["examples"]:
        turns += [Message("user", _delimited(question, answer)), Message("assistant", edited)]
    return (*turns, Message("user", _delimited(prompt.question, text)))


def cleaned(reply: str, original: str = "") -> str:
    """The rewrite alone: no tags, preamble, remark, or quotes and fences that the text had not."""
    text = _REPLY["tag"].sub("", reply).strip()
    text = _REPLY["preamble"].sub("", text, count=1).strip()
    fenced = _REPLY["fence"].match(text)
    if fenced and not original.lstrip().startswith("```"):
        text = fenced[1].strip()
    text = _REPLY["remark"].sub("", text).strip() if not _REPLY["remark"].search(original) else text
    closing = _QUOTES.get(text[:1])
    wrapped = closing and len(text) > 2 and text.endswith(closing) and text[0] != original[:1]
    if wrapped and text[1:-1].count(text[0]) == 0:
        text = text[1:-1].strip()
    return text


def _delimited(question: str, answer: str) -> str:
    """Question and answer between tags; tags inside them are defused."""
    inner = (_REPLY["tag"].sub(r"(\1\2)", part) for part in (question, answer))
    return "<question>\n{}\n</question>\n<answer>\n{}\n</answer>".format(*inner)

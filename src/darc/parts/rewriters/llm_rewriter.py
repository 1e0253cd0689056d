"""The rewriter `llm`: instructions and examples for a chat model."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from darc.language.data_files import read_toml
from darc.models.chat_models import ChatUser
from darc.models.completion import ChatModel, Completion, Request
from darc.models.remote.address import KEY_ENV
from darc.models.remote.openai import OpenAIModel
from darc.parts.rewriters.families import derive_seed, split_family
from darc.registry import rewriter
from darc.settings.choices import Acceptance
from darc.types import Message, Prompt

# How many candidates a server may rewrite at the same time.
_PARALLEL_ON_SERVER = 8
_BYTES_PER_TOKEN = 4
# A reply may be so many times as long as the text, and so many tokens more.
_LENGTH_FACTOR = 1.5
_EXTRA_TOKENS = 32
_SEED_LIMIT = 2**31

_FILE = read_toml(Path(__file__).with_suffix(".toml"))
_INSTRUCTIONS = {name: content for name, content in _FILE.items() if name != "reply"}
# What a reply may have around the rewrite.
_REPLY_PATTERNS = {name: re.compile(pattern) for name, pattern in _FILE["reply"].items()}
_CLOSING_QUOTES = {'"': '"', "“": "”", "'": "'"}


@rewriter("llm", "[MODEL]")
class LlmRewriter(ChatUser):
    """Rewrites by a chat model: embedded, embedded:qwen, transformers:MODEL, or MODEL@URL.

    It holds one conversation per proposal, all in one batch. A reply may be half as long again as
    the text and 32 tokens more, or `max_tokens` if that is given.
    """

    name = "llm"
    #: A model that paraphrases freely passes the strict checks of the rule rewriter hardly ever.
    acceptance: Acceptance = "paper"

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
        #: How many candidates may be rewritten at the same time; one keeps the embedded model busy.
        self.parallel = _PARALLEL_ON_SERVER if self.remote else 1

    @property
    def version(self) -> str:
        """The model, how it is sampled, and a hash of its instructions."""
        digest = hashlib.sha256(json.dumps(_INSTRUCTIONS).encode()).hexdigest()
        sampling = f"{self.temperature:g} {self.top_p:g} {self.max_tokens}"
        return f"{self.model_version} {sampling} {digest[:12]}"

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Propose rewrites by the model's replies, without empty ones; see `Rewriter.rewrite`."""
        requests = self._requests(prompt, text, count, family, seed)
        if not requests:
            return []
        return _read_rewrites(self.model.complete(requests), text)

    async def rewrite_async(
        self, prompt: Prompt, text: str, count: int, family: str, seed: int
    ) -> list[str]:
        """Propose rewrites as `rewrite` does, by a model on a server."""
        assert isinstance(self.model, OpenAIModel)
        requests = self._requests(prompt, text, count, family, seed)
        return _read_rewrites(await self.model.complete_async(requests), text)

    def _requests(
        self, prompt: Prompt, text: str, count: int, family: str, seed: int
    ) -> list[Request]:
        """One conversation per proposal."""
        families: list[str] = []
        for share in split_family(family, count):
            families += [share.family] * share.number
        return [
            Request(
                messages=rewrite_messages(prompt, text, simple_family, angle),
                max_tokens=self.max_tokens or max_reply_tokens(text),
                temperature=self.temperature,
                top_p=self.top_p,
                seed=derive_seed(seed, prompt.id, angle) % _SEED_LIMIT,
            )
            for angle, simple_family in enumerate(families)
        ]


def _read_rewrites(replies: Sequence[Completion], original: str) -> list[str]:
    rewrites = [clean_reply(reply.text, original) for reply in replies]
    return [text for text in rewrites if text]


def max_reply_tokens(text: str) -> int:
    """Compute how many tokens a rewrite of a text may have."""
    return int(_LENGTH_FACTOR * len(text.encode()) / _BYTES_PER_TOKEN) + _EXTRA_TOKENS


def rewrite_messages(prompt: Prompt, text: str, family: str, angle: int = 0) -> tuple[Message, ...]:
    """Write the conversation that asks for one rewrite.

    Args:
        prompt: The prompt that the text answers.
        text: The answer to rewrite.
        family: A simple family.
        angle: Varies what the instructions stress.

    Returns:
        A system message, examples, and the text.
    """
    instructions = _INSTRUCTIONS[family]
    angles = instructions["angles"]
    system = f"{_INSTRUCTIONS['common']} {instructions['task']} {angles[angle % len(angles)]}"
    messages = [Message("system", system)]
    for question, answer, rewrite in instructions["examples"]:
        messages.append(Message("user", _delimit(question, answer)))
        messages.append(Message("assistant", rewrite))
    messages.append(Message("user", _delimit(prompt.question, text)))
    return tuple(messages)


def clean_reply(reply: str, original: str = "") -> str:
    """Remove everything around the rewrite in a reply.

    Args:
        reply: What the model said.
        original: The text that was to be rewritten.

    Returns:
        The rewrite without tags, preamble, closing remark, and quotation marks or fences that the
        original does not have.
    """
    text = _REPLY_PATTERNS["tag"].sub("", reply).strip()
    text = _REPLY_PATTERNS["preamble"].sub("", text, count=1).strip()
    fenced = _REPLY_PATTERNS["fence"].match(text)
    if fenced and not original.lstrip().startswith("```"):
        text = fenced[1].strip()
    if not _REPLY_PATTERNS["remark"].search(original):
        text = _REPLY_PATTERNS["remark"].sub("", text).strip()
    return _without_quotes(text, original)


def _without_quotes(text: str, original: str) -> str:
    """A text without the quotation marks around it, unless the original begins with one."""
    closing_quote = _CLOSING_QUOTES.get(text[:1])
    if closing_quote is None or len(text) <= 2 or not text.endswith(closing_quote):
        return text
    inner = text[1:-1]
    if text[0] == original[:1] or text[0] in inner:
        return text
    return inner.strip()


def _delimit(question: str, answer: str) -> str:
    """Question and answer between tags; tags inside them are broken up."""
    safe_question = _REPLY_PATTERNS["tag"].sub(r"(\1\2)", question)
    safe_answer = _REPLY_PATTERNS["tag"].sub(r"(\1\2)", answer)
    return f"<question>\n{safe_question}\n</question>\n<answer>\n{safe_answer}\n</answer>"

"""The model in this process as a backend."""

import asyncio
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.responses import Response

from darc.errors import DarcError
from darc.gateway.requests import wrong
from darc.models.embedded import EmbeddedModel, refused
from darc.models.remote.scope import begin_call, count_usage
from darc.web.problems import Problem

NAME = "embedded"
FORWARDED = frozenset(
    {
        "messages", "temperature", "top_p", "seed", "stop", "logprobs", "top_logprobs",
        "max_tokens", "max_completion_tokens", "response_format", "tools", "tool_choice",
        "parallel_tool_calls", "presence_penalty", "frequency_penalty", "logit_bias",
    }
)  # fmt: skip
# These change nothing about the answer of a model that runs here.
MEANINGLESS = frozenset({"model", "user", "metadata", "store", "service_tier", "safety_identifier"})


class EmbeddedBackend:
    """The installed model; a field that it does not know is refused, not dropped.

    A request that has not begun is dropped when its client leaves; one that runs is finished.
    """

    name = NAME
    passes = False

    def __init__(self, model: EmbeddedModel, max_tokens: int = 320) -> None:
        self.several = False
        self._model = model
        self._max_tokens = max_tokens
        self._pool = ThreadPoolExecutor(model.slots, thread_name_prefix="darc-answer")

    async def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """One choice from the model."""
        loop, fields = asyncio.get_running_loop(), self.fields(body)
        begin_call(self.name)
        answer = await loop.run_in_executor(self._pool, self._model.chat, fields)
        count_usage(answer)
        if "error" in answer or not answer.get("choices"):
            raise refused(answer)
        head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": NAME}
        return {**answer, **head}

    def fields(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What the model is given; refuses what it cannot honour."""
        for name in body:
            if name not in FORWARDED | MEANINGLESS:
                raise wrong(name[:80], "is not supported by the embedded model")
        for place, message in enumerate(body.get("messages") or ()):
            content = message.get("content") if isinstance(message, Mapping) else None
            for part in content if isinstance(content, list) else ():
                if not isinstance(part, Mapping) or part.get("type") != "text":
                    raise wrong(f"messages.{place}.content", "has parts other than text")
        result = {name: body[name] for name in body if name in FORWARDED}
        newer = result.pop("max_completion_tokens", None)
        limit = newer if newer is not None else result.get("max_tokens")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise wrong("max_tokens", "is no whole number")
        result["max_tokens"] = self._max_tokens if limit is None else max(1, limit)
        if isinstance(result.get("seed"), int):
            result["seed"] = result["seed"] % (2**32 - 1)
        return result

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The one model."""
        return [{"id": NAME, "object": "model", "created": 0, "owned_by": "darc"}]

    async def forward(
        self,
        method: str,
        path: str,
        query: str,
        headers: Mapping[str, str],
        content: bytes,
        again: bool,
    ) -> Response:
        """Nothing to pass on to."""
        raise Problem(404, f"there is no {path} without a --backend", code="not_found")

    def warm(self) -> None:
        """Load the model."""
        answer = self._model.chat(
            {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
        )
        if "error" in answer:
            raise DarcError("the embedded model does not answer", "run: darc models install")

    def ready(self) -> bool:
        """Always, once it is loaded."""
        return True

    async def aclose(self) -> None:
        """Free the model's memory."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._model.close)

"""A backend that is the installed model, in this process."""

import asyncio
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.errors import DarcError
from darc.models.embedded import EmbeddedModel, answer_error
from darc.models.remote.meter import begin_call, count_usage
from darc.serve.bodies import MAX_NAME_LENGTH
from darc.serve.validation import invalid_value
from darc.web.problems import Problem

_NAME = "embedded"
_SUPPORTED_FIELDS = {
    "messages", "temperature", "top_p", "seed", "stop", "logprobs", "top_logprobs",
    "max_tokens", "max_completion_tokens", "response_format", "tools", "tool_choice",
    "parallel_tool_calls", "presence_penalty", "frequency_penalty", "logit_bias",
}  # fmt: skip
# These change nothing about the answer of a model that runs here.
_IGNORED_FIELDS = {"model", "user", "metadata", "store", "service_tier", "safety_identifier"}
_SEEDS = 2**32 - 1


class EmbeddedBackend:
    """The installed model. Fields that it does not know are answer_error, not dropped.

    A request that has not begun is dropped when its client leaves; one that runs is finished.
    """

    name = _NAME
    key = ""
    #: Whether requests can be passed through.
    passes_through = False

    def __init__(self, model: EmbeddedModel, max_tokens: int = 320) -> None:
        """Make a backend.

        Args:
            model: The model.
            max_tokens: The most tokens of an answer if the request does not say.
        """
        #: Whether it gives several choices per call.
        self.supports_n = False
        self._model = model
        self._max_tokens = max_tokens
        self._pool = ThreadPoolExecutor(model.slots, thread_name_prefix="darc-answer")

    async def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the answer to a chat completion, with one choice."""
        fields = self.model_fields(body)
        begin_call(self.name)
        loop = asyncio.get_running_loop()
        answer = await loop.run_in_executor(self._pool, self._model.chat, fields)
        count_usage(answer)
        if "error" in answer or not answer.get("choices"):
            raise answer_error(answer)
        return {
            **answer,
            "id": f"chatcmpl-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": _NAME,
        }

    def model_fields(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a request as the model takes them.

        Raises:
            Problem: With status 400 for a field that the model cannot honour.
        """
        for name in body:
            if name not in _SUPPORTED_FIELDS | _IGNORED_FIELDS:
                reason = "is not supported by the embedded model"
                raise invalid_value(name[:MAX_NAME_LENGTH], reason)
        for place, message in enumerate(body["messages"]):
            if not _is_text_only(message.get("content")):
                raise invalid_value(f"messages.{place}.content", "has parts other than text")
        fields = {name: value for name, value in body.items() if name in _SUPPORTED_FIELDS}
        fields["max_tokens"] = self._read_max_tokens(fields)
        fields.pop("max_completion_tokens", None)
        if isinstance(fields.get("seed"), int):
            fields["seed"] = fields["seed"] % _SEEDS
        return fields

    def _read_max_tokens(self, fields: Mapping[str, Any]) -> int:
        """The limit of a request by its newer or older name."""
        limit = fields.get("max_completion_tokens")
        if limit is None:
            limit = fields.get("max_tokens")
        if limit is None:
            return self._max_tokens
        if isinstance(limit, bool) or not isinstance(limit, int):
            raise invalid_value("max_tokens", "is not a whole number")
        return max(1, limit)

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the one model."""
        return [{"id": _NAME, "object": "model", "created": 0, "owned_by": "darc"}]

    async def forward(
        self, request: Request, path: str, headers: Mapping[str, str], content: bytes
    ) -> Response:
        """Refuse to pass a request on.

        Raises:
            Problem: With status 404.
        """
        raise Problem(404, f"there is no {path} without a --backend", code="not_found")

    def warm(self) -> None:
        """Load the model.

        Raises:
            DarcError: It does not answer.
        """
        answer = self._model.chat(
            {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
        )
        if "error" in answer:
            raise DarcError("the embedded model does not answer", "run: darc models install")

    def ready(self) -> bool:
        """Whether it can answer: always, once it is loaded."""
        return True

    async def aclose(self) -> None:
        """Free the model's memory."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._model.close)


def _is_text_only(content: Any) -> bool:
    if not isinstance(content, list):
        return True
    return all(part.get("type") == "text" for part in content)

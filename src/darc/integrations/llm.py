"""A plugin of Simon Willison's `llm`: `llm -m darc "Why is the sky blue?"`."""

from collections.abc import Callable, Iterator
from typing import Any

import llm

from darc.engine.engine import Engine
from darc.parts.generators.base import SamplingParameters
from darc.types import Message, Prompt


@llm.hookimpl
def register_models(register: Callable[..., None]) -> None:
    """Make the model `darc` known."""
    register(Darc())


class Darc(llm.Model):
    """DARC's choice among the answers of a model; the log of `llm` keeps why."""

    model_id = "darc"
    can_stream = False

    class Options(llm.Options):
        """What `-o` sets."""

        generator: str = "embedded"
        k: int = 8
        rule: str = ""
        scorer: str = ""
        max_tokens: int | None = None

    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Iterator[str]:
        """Yield the chosen answer, in one piece."""
        options = prompt.options
        with Engine(options.generator, **_engine_options(options)) as engine:
            outcome = engine.ask(_as_prompt(prompt, conversation))
        response.response_json = {
            "index": outcome.index,
            "explanation": outcome.explain(),
            "candidates": [candidate.text for candidate in outcome.candidates],
            "copies": [candidate.copies for candidate in outcome.candidates],
        }
        yield outcome.answer


def _engine_options(options: Any) -> dict[str, Any]:
    engine_options: dict[str, Any] = {
        "sampling": SamplingParameters(k=options.k, max_tokens=options.max_tokens)
    }
    if options.rule:
        engine_options["rule"] = options.rule
    if options.scorer:
        engine_options["scorers"] = [options.scorer]
    return engine_options


def _as_prompt(prompt: Any, conversation: Any) -> Prompt:
    """The conversation so far, with the new question."""
    messages = []
    if prompt.system:
        messages.append(Message("system", prompt.system))
    if conversation is not None:
        for response in conversation.responses:
            messages.append(Message("user", response.prompt.prompt))
            messages.append(Message("assistant", response.text()))
    messages.append(Message("user", prompt.prompt))
    return Prompt("question", tuple(messages))

"""A plugin of Simon Willison's `llm`: `llm -m darc "Why is the sky blue?"`."""

from collections.abc import Callable, Iterator
from typing import Any

import llm

from darc.engine.engine import Engine
from darc.parts.generators.base import SamplingParameters
from darc.types import Message, Prompt

EMBEDDED = "embedded"


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

        generator: str = EMBEDDED
        k: int = 8
        rule: str = ""
        scorer: str = ""
        max_tokens: int | None = None

    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Iterator[str]:
        """The chosen answer, in one piece."""
        chosen = prompt.options
        sampling = SamplingParameters(k=chosen.k, max_tokens=chosen.max_tokens)
        given: dict[str, Any] = {"sampling": sampling}
        given |= {"rule": chosen.rule} if chosen.rule else {}
        given |= {"scorers": [chosen.scorer]} if chosen.scorer else {}
        with Engine(chosen.generator, **given) as engine:
            outcome = engine.ask(_prompt(prompt, conversation))
        response.response_json = {
            "index": outcome.index,
            "explanation": outcome.explain(),
            "candidates": [each.text for each in outcome.candidates],
            "copies": [each.copies for each in outcome.candidates],
        }
        yield outcome.answer


def _prompt(prompt: Any, conversation: Any) -> Prompt:
    turns = []
    if prompt.system:
        turns.append(Message("system", prompt.system))
    for earlier in conversation.responses if conversation is not None else ():
        turns += [Message("user", earlier.prompt.prompt), Message("assistant", earlier.text())]
    return Prompt("question", (*turns, Message("user", prompt.prompt)))

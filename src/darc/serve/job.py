"""One request while it is answered."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from darc.engine.cost import Clock
from darc.engine.samples import Samples
from darc.models.remote.meter import Meter
from darc.serve.model_mix import ModelShare
from darc.serve.requests import RequestMethod
from darc.types import Prompt

#: Called with the name of an event and its data.
EventListener = Callable[[str, Any], None]
_STAGES = ("candidates", "rewrites", "scores")


@dataclass
class ModelUse:
    """What a model has written for a request."""

    #: Counts its calls and tokens.
    meter: Meter
    candidates: int = 0


@dataclass
class Job:
    """One request: how its answer is chosen, and what that has cost so far."""

    #: How the answer is chosen.
    method: RequestMethod
    #: The conversation.
    prompt: Prompt
    request_id: str
    #: The headers of calls to the backend.
    headers: Mapping[str, str]
    #: The models that write the candidates.
    models: Sequence[ModelShare] = ()
    #: Hears of candidates as they arrive.
    on_event: EventListener | None = None
    #: How long each stage took.
    clock: Clock = field(default_factory=Clock)
    #: When the request arrived, by `time.perf_counter`.
    started: float = field(default_factory=time.perf_counter)
    #: What was scored before, where candidates may be decided on again.
    samples: Samples | None = None

    def __post_init__(self) -> None:
        """Begin with nothing spent."""
        budget = self.method.options.budget
        #: Calls and tokens of all stages, retries included, within the budget of the request.
        self.total_meter = Meter(budget.upstream_calls, budget.upstream_tokens)
        #: Calls and tokens of each stage.
        self.stage_meters = {name: Meter(total=self.total_meter) for name in _STAGES}
        #: What each model has written.
        self.model_uses: dict[str, ModelUse] = {}

    @property
    def engine_meters(self) -> dict[str, Meter]:
        """The meters by the engine's names of the stages."""
        return {"rewrite": self.stage_meters["rewrites"], "score": self.stage_meters["scores"]}

    @property
    def is_mixed(self) -> bool:
        """Whether several models write the candidates."""
        return len(self.models) > 1

    def use_of_model(self, name: str) -> ModelUse:
        """What a model has written so far."""
        if name not in self.model_uses:
            self.model_uses[name] = ModelUse(Meter(total=self.stage_meters["candidates"]))
        return self.model_uses[name]

    @property
    def fail_closed(self) -> bool:
        """Whether a part that fails is an error."""
        return self.method.options.fail_closed

    @property
    def deadline(self) -> float | None:
        """When the time is up, by the event loop's clock; None if it never is."""
        limit = self.method.options.budget.milliseconds
        if limit is None:
            return None
        seconds_left = limit / 1000 - (time.perf_counter() - self.started)
        return asyncio.get_running_loop().time() + seconds_left

    def report(self, event: str, data: Any) -> None:
        """Tell the listener of an event, if there is one."""
        if self.on_event is not None:
            self.on_event(event, data)

    def usage(self, saved_calls: int | None = None) -> dict[str, Any]:
        """Return the usage of all candidates in OpenAI's shape.

        Beside it, `upstream` has the calls and tokens of all models, retries included, and where
        several models write what each of them takes to write.

        Args:
            saved_calls: How many calls of a panel were not needed; None without a panel.
        """
        upstream: dict[str, Any] = {
            "calls": self.total_meter.calls,
            "tokens": self.total_meter.tokens,
        }
        if saved_calls is not None:
            upstream["saved"] = saved_calls
        if self.is_mixed:
            upstream["models"] = {
                name: {"calls": use.meter.calls, "tokens": use.meter.tokens}
                for name, use in self.model_uses.items()
            }
        return {
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "total_tokens": 0,
            **self.stage_meters["candidates"].usage,
            "upstream": upstream,
        }

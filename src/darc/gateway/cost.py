"""What choosing for a request costs: what is read, and what is asked of models."""

from collections.abc import Sequence
from typing import Any

from darc.gateway.bodies import Budget
from darc.gateway.requests import Method
from darc.gateway.settings import ServeSettings
from darc.models.remote import Meter
from darc.types import Prompt
from darc.web.problems import Problem

STAGES = ("candidates", "rewrites", "scores")


def check_work(
    method: Method, prompt: Prompt, k: int, settings: ServeSettings, texts: Sequence[str] = ()
) -> None:
    """Refuse what would be too long to choose among.

    The work is the characters that are read: each of the `texts`, where they are known yet, once
    and for each of its rewrites, and the prompt once a wave of the k candidates and theirs.
    """
    samples = samples_of(settings, method.n_aug)
    waves = -(-k * samples // method.options.wave)
    asked = sum(len(message.content) for message in prompt.messages)
    work = samples * sum(map(len, texts)) + waves * asked
    if work > settings.max_work:
        message = (
            f"choosing would read {work} characters, more than {settings.max_work} (max_work): "
            "send less text, or ask for a smaller darc.k or darc.n_aug"
        )
        raise Problem(400, message, code="max_work", param="darc")


def samples_of(settings: ServeSettings, n_aug: int) -> int:
    """How often each candidate is read: by all raters, or with each of its rewrites."""
    panel = settings.parts.panel
    return n_aug + 1 if panel is None else len(panel) * panel.repeats


def rewrites_within(settings: ServeSettings, texts: Sequence[str], n_aug: int) -> int | None:
    """How many rewrites each of the texts may have, None where they are too long to be scored."""
    if max(map(len, texts)) > settings.max_candidate_characters:
        return None
    times = settings.max_work // max(1, sum(map(len, texts)))
    if settings.parts.panel is not None:
        return n_aug if times >= samples_of(settings, n_aug) else None
    return min(n_aug, times - 1) if times else None


class Spent:
    """Calls and tokens by stage, as the servers that were called report them.

    The budget's upstream limits bound all stages together, retries included.
    """

    def __init__(self, budget: Budget) -> None:
        self.whole = Meter(budget.upstream_calls, budget.upstream_tokens)
        self._stages = {name: Meter(whole=self.whole) for name in STAGES}

    def meter(self, stage: str) -> Meter:
        """What counts the calls of a stage."""
        return self._stages[stage]

    def total(self, saved: int | None = None) -> dict[str, Any]:
        """The usage of the candidates, all of them, in OpenAI's shape.

        Beside it, `upstream` has the calls and tokens of all models, retries included, and how many
        calls of a panel were `saved`, where there is one.
        """
        upstream = {"calls": self.whole.calls, "tokens": self.whole.tokens}
        return {
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "total_tokens": 0,
            **self.meter("candidates").usage,
            "upstream": upstream if saved is None else {**upstream, "saved": saved},
        }

    def items(self) -> dict[str, Any]:
        """Calls and tokens by stage."""
        return {name: {"calls": own.calls, **own.usage} for name, own in self._stages.items()}

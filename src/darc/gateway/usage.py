"""What a request has cost."""

from typing import Any

from darc.gateway.method import Budget
from darc.models.remote import Meter

STAGES = ("candidates", "rewrites", "scores")


def spent_within(budget: Budget) -> "Spent":
    """Nothing yet, with the limits of a request."""
    return Spent(budget.upstream_calls, budget.upstream_tokens)


class Spent:
    """Calls and tokens by stage, as the servers that were called report them.

    `max_calls` and `max_tokens` bound all stages together, retries included.
    """

    def __init__(self, max_calls: int | None = None, max_tokens: int | None = None) -> None:
        self.whole = Meter(max_calls, max_tokens)
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

"""What a request has cost."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

STAGES = ("candidates", "rewrites", "scores")


@dataclass
class Spent:
    """Calls and tokens by stage, as the servers that were called report them."""

    calls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    usage: dict[str, dict[str, Any]] = field(default_factory=lambda: {name: {} for name in STAGES})

    def meter(self, stage: str) -> Callable[[str, Any], None]:
        """A function that counts a call for a stage, given its URL and its answer or None."""

        def tell(_: str, answer: Any) -> None:
            self.calls[stage] += 1
            used = answer.get("usage") if isinstance(answer, Mapping) else None
            if isinstance(used, Mapping):
                self.usage[stage] = added(self.usage[stage], used)

        return tell

    def total(self) -> dict[str, Any]:
        """The usage of the candidates, all of them, in OpenAI's shape."""
        return {
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "total_tokens": 0,
            **self.usage["candidates"],
        }

    def items(self) -> dict[str, Any]:
        """Calls and tokens by stage."""
        return {name: {"calls": self.calls[name], **self.usage[name]} for name in STAGES}


def added(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """The sum of two usages, number by number; what is no number in both is the later one's."""
    result = dict(left)
    for name, value in right.items():
        known = result.get(name)
        if isinstance(value, Mapping):
            result[name] = added(known if isinstance(known, Mapping) else {}, value)
        elif _is_number(value) and _is_number(known):
            result[name] = known + value
        elif value is not None or name not in result:
            result[name] = value
    return result


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

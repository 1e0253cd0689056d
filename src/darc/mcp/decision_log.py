"""The latest decisions of a server, by the ids that clients explain them with."""

from collections import OrderedDict

from darc.errors import InputError
from darc.mcp.describing import Explained

_MOST_DECISIONS = 100


class DecisionLog:
    """Keeps the latest decisions in memory.

    Args:
        most: How many; the oldest is forgotten first.
    """

    def __init__(self, most: int = _MOST_DECISIONS) -> None:
        self._most = most
        self._count = 0
        self._decisions: OrderedDict[str, Explained] = OrderedDict()

    def add(self, explained: Explained) -> str:
        """Keep a decision, and return its id."""
        self._count += 1
        decision_id = f"decision-{self._count}"
        self._decisions[decision_id] = explained
        while len(self._decisions) > self._most:
            self._decisions.popitem(last=False)
        return decision_id

    def get(self, decision_id: str) -> Explained:
        """Find a decision.

        Raises:
            InputError: If there is none of this id, or it was forgotten.
        """
        if decision_id not in self._decisions:
            raise InputError(
                f"there is no decision {decision_id!r}",
                f"this server knows the latest {self._most} decisions that it has made itself",
            )
        return self._decisions[decision_id]

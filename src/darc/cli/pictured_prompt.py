"""The one prompt of many that is worth a picture."""

from dataclasses import dataclass

import numpy as np

from darc.decide.decision import Decision
from darc.errors import InputError
from darc.ratings.decisions import DecidedBatch


@dataclass
class PicturedPrompt:
    """Keeps the decisions on the prompt that is asked for, or else on the most telling one.

    Where the rules differ, that is the prompt on which the choice of the last rule has the most
    less sigma than the choice of the first; otherwise the one whose choice has the largest sigma.
    """

    #: The id of the prompt that is asked for, None for the most telling one.
    requested_id: str | None = None
    #: The prompt whose decisions are kept.
    prompt_id: str | None = None
    #: The decision of each rule on that prompt.
    decisions: list[Decision] | None = None
    #: Whether the rules differ on that prompt, and by how much sigma.
    _rank: tuple[bool, float] = (False, -np.inf)

    def add(self, decided: DecidedBatch) -> None:
        """Look at a batch."""
        ids = decided.ratings.prompt_ids
        if self.requested_id is not None:
            if self.requested_id in ids:
                self._keep(decided, ids.index(self.requested_id))
            return
        first_sigma = decided.decisions[0].chosen["sigma"]
        last_sigma = decided.decisions[-1].chosen["sigma"]
        changed = decided.changed(len(decided.decisions) - 1)
        gain = np.nan_to_num(np.where(changed, first_sigma - last_sigma, first_sigma), nan=-1.0)
        place = int(np.lexsort((gain, changed))[-1])
        rank = (bool(changed[place]), float(gain[place]))
        if rank > self._rank:
            self._rank = rank
            self._keep(decided, place)

    def _keep(self, decided: DecidedBatch, place: int) -> None:
        """Keep the decisions on one prompt of a batch."""
        self.prompt_id = decided.ratings.prompt_ids[place]
        self.decisions = decided.of(place)

    def check(self) -> None:
        """Refuse a prompt that was asked for and never came.

        Raises:
            InputError: If there is no such prompt.
        """
        if self.requested_id is not None and self.decisions is None:
            raise InputError(
                f"there is no prompt {self.requested_id!r}", "see the prompt_id column"
            )

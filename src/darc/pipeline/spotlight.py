"""The one prompt of a table that is worth a picture."""

from dataclasses import dataclass

import numpy as np

from darc.errors import InputError
from darc.pipeline.ratings import Decided
from darc.selection.decision import Decision


@dataclass
class Spotlight:
    """Keeps the decisions on the wanted prompt, or else on the most telling one.

    That is, where the rules differ, the prompt on which the last rule's choice has the most less
    sigma than the first rule's; where they never do, the one on which the choice has the most.
    """

    wanted: str | None = None
    prompt_id: str | None = None
    decisions: list[Decision] | None = None
    _rank: tuple[bool, float] = (False, -np.inf)

    def add(self, decided: Decided) -> None:
        """Look at a batch."""
        ids = decided.batch.prompt_ids
        if self.wanted is not None:
            if self.wanted in ids:
                self._keep(decided, ids.index(self.wanted))
            return
        first, last = decided.decisions[0].chosen["sigma"], decided.decisions[-1].chosen["sigma"]
        changed = decided.changed(len(decided.decisions) - 1)
        gain = np.nan_to_num(np.where(changed, first - last, first), nan=-1.0)
        place = int(np.lexsort((gain, changed))[-1])
        rank = (bool(changed[place]), float(gain[place]))
        if rank > self._rank:
            self._rank = rank
            self._keep(decided, place)

    def check(self) -> None:
        """Raise an `InputError` if the wanted prompt never came."""
        if self.wanted is not None and self.decisions is None:
            raise InputError(f"there is no prompt {self.wanted!r}", "see the prompt_id column")

    def _keep(self, decided: Decided, place: int) -> None:
        self.prompt_id = decided.batch.prompt_ids[place]
        self.decisions = decided.of(place)

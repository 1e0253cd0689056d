"""The `rules` rewriter: combinations of small transforms, seeded and instant, without a model."""

from darc.perturb.drawing import Draws
from darc.perturb.families import parts
from darc.perturb.spans import mask
from darc.perturb.transforms import STYLE, TARGETED, Transform
from darc.registry import rewriter
from darc.types import Prompt

_TRIES = 4
_SHARES = {"style": (0.35, 0.6, 0.85), "targeted": (0.6, 0.8, 1.0)}
_POOLS: dict[str, tuple[Transform, ...]] = {"style": STYLE, "targeted": TARGETED}


@rewriter("rules")
class RulesRewriter:
    """Proposes rewrites by rule; about a millisecond for a page of text."""

    name = "rules"

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Up to `count` proposals, distinct and different from the text; fewer if it allows fewer.

        The family `hybrid` gives the style half first.
        """
        proposals: list[str] = []
        for part, wanted in parts(family, count):
            proposals += self._proposals(prompt, text, wanted, part, seed)
        return proposals

    def _proposals(
        self, prompt: Prompt, text: str, wanted: int, family: str, seed: int
    ) -> list[str]:
        masked = mask(text)
        seen = {masked.text}
        found: list[str] = []
        for attempt in range(_TRIES * wanted):
            if len(found) == wanted:
                break
            proposal = changed(
                masked.text, family, Draws(seed, f"{prompt.id}\0{family}\0{attempt}")
            )
            if proposal not in seen:
                seen.add(proposal)
                found.append(masked.restore(proposal))
        return found


def changed(masked: str, family: str, draws: Draws) -> str:
    """A masked text after a random share of the family's transforms, in the family's order."""
    share = draws.pick(_SHARES[family])
    for transform in _POOLS[family]:
        if draws.chance(share):
            masked = transform.change(masked, draws)
    return masked

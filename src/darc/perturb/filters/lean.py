"""A text as a targeted rewrite may leave it, so that courtesy is not mistaken for content."""

from darc.perturb.spans import mask
from darc.perturb.transforms import STRIPS
from darc.perturb.transforms.markdown import unheaded
from darc.perturb.transforms.transform import Draws


def lean(text: str) -> str:
    """The text without flattery, openers, apologies, closers, hedges and headings."""
    masked = mask(text)
    kept, draws = masked.text, Draws(0)
    for strip in STRIPS:
        kept = strip.change(kept, draws)
    return masked.restore(unheaded(kept))

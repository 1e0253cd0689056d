"""Every transform, by the family that may use it."""

from darc.perturb.transforms import (
    boilerplate,
    concise,
    contractions,
    discourse,
    emphasis,
    headings,
    hedges,
    lists,
    paragraphs,
    punctuation,
    sentences,
    wordings,
)
from darc.perturb.transforms.transform import Transform, transform

STRIPS: tuple[Transform, ...] = (
    boilerplate.flattery,
    boilerplate.openers,
    boilerplate.apologies,
    boilerplate.closers,
    hedges.hedges,
)
STYLE: tuple[Transform, ...] = (
    wordings.synonyms,
    contractions.contract,
    contractions.expand,
    discourse.markers,
    sentences.join,
    sentences.split,
    punctuation.serial_comma,
    punctuation.apostrophes,
    punctuation.dashes,
    lists.markers,
    paragraphs.item_spacing,
    paragraphs.breaks,
    emphasis.strip,
    emphasis.bold_labels,
    emphasis.marks,
    emphasis.stress,
    headings.to_bold,
    headings.to_headings,
    headings.title_case,
)
TARGETED: tuple[Transform, ...] = (
    *STRIPS,
    hedges.fillers,
    concise.concise,
    headings.without,
    lists.to_prose,
    emphasis.strip,
    wordings.plain,
    contractions.contract,
    sentences.join,
    sentences.split,
    punctuation.serial_comma,
    punctuation.dashes,
    lists.markers,
    paragraphs.item_spacing,
)

__all__ = ["STRIPS", "STYLE", "TARGETED", "Transform", "transform"]

"""Every transform, by the family that may use it."""

from darc.perturb.transforms import (
    boilerplate,
    clauses,
    concise,
    contractions,
    discourse,
    emphasis,
    grammar,
    headings,
    hedges,
    links,
    lists,
    paragraphs,
    punctuation,
    reorder,
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
STYLE_WORDS: tuple[Transform, ...] = (
    clauses.to_end,
    clauses.to_front,
    clauses.phrase_to_end,
    clauses.time_to_front,
    links.results,
    links.contrasts,
    links.semicolons,
    links.marker_last,
    reorder.adverbs,
    reorder.items,
    reorder.owners,
    grammar.that,
    grammar.relatives,
    grammar.there,
    grammar.turns,
    grammar.which,
    grammar.small_turns,
    wordings.synonyms,
    contractions.contract,
    contractions.expand,
    discourse.markers,
    sentences.join,
    sentences.split,
    sentences.join_plain,
)
STYLE_FORM: tuple[Transform, ...] = (
    punctuation.serial_comma,
    punctuation.apostrophes,
    punctuation.dashes,
    lists.markers,
    paragraphs.item_spacing,
    paragraphs.breaks,
    emphasis.strip,
    emphasis.bold_labels,
    emphasis.marks,
    headings.to_bold,
    headings.to_headings,
    headings.title_case,
)
# Stress puts marks where there were none, so it is for texts that allow nothing else.
STYLE: tuple[Transform, ...] = (*STYLE_WORDS, *STYLE_FORM, emphasis.stress)
TARGETED_WORDS: tuple[Transform, ...] = (
    *STRIPS,
    hedges.fillers,
    discourse.without,
    concise.concise,
    grammar.relatives,
    grammar.there,
    grammar.one_subject,
    wordings.plain,
    clauses.to_end,
    clauses.phrase_to_end,
    contractions.contract,
    grammar.that,
    sentences.join,
    sentences.split,
)
TARGETED_FORM: tuple[Transform, ...] = (
    headings.without,
    lists.to_prose,
    lists.running,
    emphasis.strip,
    punctuation.serial_comma,
    punctuation.dashes,
    lists.markers,
    paragraphs.item_spacing,
)
TARGETED: tuple[Transform, ...] = (*TARGETED_WORDS, *TARGETED_FORM)

__all__ = [
    "STRIPS",
    "STYLE",
    "STYLE_FORM",
    "STYLE_WORDS",
    "TARGETED",
    "TARGETED_FORM",
    "TARGETED_WORDS",
    "Transform",
    "transform",
]

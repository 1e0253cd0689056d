"""Every transform, by the family that may use it."""

from darc.perturb.transforms import boilerplate, clauses, grammar, markdown, sentences, wording
from darc.perturb.transforms.transform import Transform, transform

STRIPS: tuple[Transform, ...] = (
    *(boilerplate.flattery, boilerplate.openers, boilerplate.apologies),
    *(boilerplate.closers, boilerplate.hedges),
)
STYLE_WORDS: tuple[Transform, ...] = (
    *(clauses.to_end, clauses.to_front, clauses.phrase_to_end, clauses.time_to_front),
    *(clauses.results, clauses.contrasts, clauses.semicolons, clauses.marker_last),
    *(sentences.adverbs, sentences.items, sentences.owners),
    *(grammar.that, grammar.relatives, grammar.there, grammar.turns, grammar.which),
    *(grammar.small_turns, wording.synonyms, wording.contract, wording.expand),
    *(boilerplate.discourse_markers, sentences.join, sentences.split, sentences.join_plain),
)
STYLE_FORM: tuple[Transform, ...] = (
    *(sentences.serial_comma, sentences.apostrophes, sentences.dashes),
    *(markdown.list_markers, markdown.item_spacing, markdown.paragraph_breaks),
    *(markdown.strip_emphasis, markdown.bold_labels, markdown.emphasis_marks),
    *(markdown.to_bold, markdown.to_headings, markdown.title_case),
)
# Stress puts marks where there were none, so it is for texts that allow nothing else.
STYLE: tuple[Transform, ...] = (*STYLE_WORDS, *STYLE_FORM, markdown.stress)
TARGETED_WORDS: tuple[Transform, ...] = (
    *(*STRIPS, boilerplate.fillers, boilerplate.without_markers, boilerplate.concise),
    *(grammar.relatives, grammar.there, grammar.one_subject, wording.plain),
    *(clauses.to_end, clauses.phrase_to_end, wording.contract, grammar.that),
    *(sentences.join, sentences.split),
)
TARGETED_FORM: tuple[Transform, ...] = (
    *(markdown.without_headings, markdown.to_prose, markdown.running, markdown.strip_emphasis),
    *(sentences.serial_comma, sentences.dashes, markdown.list_markers, markdown.item_spacing),
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

"""The rewriter `rules`: combinations of small transforms, seeded and instant, without a model."""

from collections.abc import Container
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from darc.language.masking import MaskedText, mask
from darc.language.text import WORD_OR_NUMBER
from darc.parts.rewriters import clauses, layout, phrasing, sentences, wording
from darc.parts.rewriters.draws import Draws
from darc.parts.rewriters.families import split_family
from darc.parts.rewriters.filters import normalise_spaces
from darc.parts.rewriters.transform import Transform
from darc.registry import rewriter
from darc.types import Prompt

# How many draws are made per wanted proposal.
_DRAWS_PER_PROPOSAL = 4
# After so many draws in a row that bring nothing new, more would not either.
_MAX_REPEATS = 24
# The shares of a family's transforms, one of which is drawn for each rewrite.
_SHARES = {"style": (0.4, 0.6, 0.85), "targeted": (0.5, 0.75, 1.0)}
#: The transforms of words by family, in the order in which they are applied.
WORD_TRANSFORMS: dict[str, tuple[Transform, ...]] = {
    "style": (
        clauses.move_clause_to_end,
        clauses.move_clause_to_front,
        clauses.move_phrase_to_end,
        clauses.move_time_to_front,
        clauses.relink_results,
        clauses.relink_contrasts,
        clauses.change_semicolons,
        clauses.move_marker_to_end,
        sentences.move_adverbs,
        sentences.reorder_items,
        sentences.toggle_genitives,
        phrasing.toggle_that,
        phrasing.shorten_relatives,
        phrasing.shorten_there_is,
        phrasing.exchange_turns,
        phrasing.toggle_which,
        phrasing.exchange_small_turns,
        wording.exchange_synonyms,
        wording.make_contractions,
        wording.expand_contractions,
        phrasing.exchange_markers,
        sentences.join_sentences,
        sentences.split_sentences,
        sentences.join_short_statements,
    ),
    "targeted": (
        *phrasing.COURTESIES,
        phrasing.remove_fillers,
        phrasing.remove_markers,
        phrasing.shorten_phrases,
        phrasing.shorten_relatives,
        phrasing.shorten_there_is,
        phrasing.drop_repeated_subject,
        wording.exchange_for_shorter,
        clauses.move_clause_to_end,
        clauses.move_phrase_to_end,
        wording.make_contractions,
        phrasing.toggle_that,
        sentences.join_sentences,
        sentences.split_sentences,
    ),
}
#: The transforms of layout by family, in the order in which they are applied.
LAYOUT_TRANSFORMS: dict[str, tuple[Transform, ...]] = {
    "style": (
        layout.toggle_serial_comma,
        layout.toggle_apostrophes,
        layout.toggle_dashes,
        layout.change_list_markers,
        layout.toggle_item_spacing,
        layout.change_paragraph_breaks,
        layout.remove_emphasis,
        layout.embolden_labels,
        layout.swap_emphasis_marks,
        layout.headings_to_bold,
        layout.bold_to_headings,
        layout.title_case_headings,
    ),
    "targeted": (
        layout.remove_headings,
        layout.list_to_sentence,
        layout.list_to_paragraph,
        layout.remove_emphasis,
        layout.toggle_serial_comma,
        layout.toggle_dashes,
        layout.change_list_markers,
        layout.toggle_item_spacing,
    ),
}
# How often a transform of layout joins those of words; a targeted rewrite is meant to change both.
_LAYOUT_SHARE = {"style": 0.25, "targeted": 0.6}
_MIN_DISTANCE = 0.06


@rewriter("rules")
class RulesRewriter:
    """Proposes rewrites by rule, of English only; a few milliseconds for a page of text."""

    name = "rules"
    in_process = True

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Propose rewrites of a text.

        Args:
            prompt: The prompt that the text answers.
            text: The answer to rewrite.
            count: The largest number of proposals.
            family: The family of rewrites; "hybrid" gives the style half first.
            seed: The same arguments and seed give the same proposals.

        Returns:
            Up to `count` proposals, distinct and different from the text apart from white space;
            fewer if the text does not allow more.
        """
        proposals: list[str] = []
        for share in split_family(family, count):
            drawing = self.drawing(prompt, text, share.family)
            drawing.start_round(share.number, seed)
            round_proposals = None
            while round_proposals is None:
                round_proposals = drawing.step({normalise_spaces(text)})
            proposals += round_proposals
        return proposals

    def drawing(self, prompt: Prompt, text: str, family: str) -> "RulesDrawing":
        """Prepare proposals for a text under a simple family, draw by draw."""
        masked = mask(text)
        return RulesDrawing(prompt.id, family, masked, DistinctTexts(masked.text, 0))


@dataclass
class DistinctTexts:
    """Texts of a round, those that differ clearly from each other before the others.

    A text is distinct if its pairs of neighbouring words differ from the original's and from those
    of every distinct text before it.
    """

    original: str
    #: The number of texts that the round is to give.
    count: int
    distinct: list[str] = field(default_factory=list)
    similar: list[str] = field(default_factory=list)
    #: Texts that differ from the original in layout alone.
    same_words: list[str] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        """Whether further texts would change little."""
        distinct = len(self.distinct)
        return distinct == self.count or distinct + len(self.similar) >= 2 * self.count

    @property
    def best(self) -> list[str]:
        """The texts of the round, best first."""
        return [*self.distinct, *self.similar, *self.same_words][: self.count]

    def add(self, text: str) -> None:
        """Add a text that was not drawn before."""
        pairs = neighbour_pairs(text)
        original_pairs = neighbour_pairs(self.original)
        if pairs == original_pairs:
            self.same_words.append(text)
            return
        others = (original_pairs, *map(neighbour_pairs, self.distinct))
        if all(pair_distance(pairs, other) >= _MIN_DISTANCE for other in others):
            self.distinct.append(text)
        else:
            self.similar.append(text)


@dataclass
class RulesDrawing:
    """Rewrites of one text under one family, drawn one at a time; it can be pickled in between."""

    prompt_id: str
    family: str
    masked: MaskedText
    #: The texts of the round under way.
    texts: DistinctTexts
    seed: int = 0
    #: The number of draws of this round.
    draw_count: int = 0
    #: The number of draws in a row that brought nothing new.
    repeats: int = 0
    #: All texts drawn so far, masked and with normalised white space.
    drawn_texts: set[str] = field(default_factory=set)

    @property
    def exhausted(self) -> bool:
        """Whether so many draws in a row brought nothing new that more would not either."""
        return self.repeats >= _MAX_REPEATS

    def start_round(self, count: int, seed: int) -> None:
        """Begin a round of draws for `count` proposals."""
        self.seed = seed
        self.draw_count = 0
        self.texts = DistinctTexts(self.masked.text, count)

    def step(self, seen: Container[str]) -> list[str] | None:
        """Draw once; see `Drawing.step`."""
        max_draws = _DRAWS_PER_PROPOSAL * self.texts.count
        # The last draws of a round may emphasise words.
        emphasis_draw = max_draws - self.texts.count
        if self.exhausted:
            # Emphasis can still bring something new, and the targeted family has none.
            next_draw = emphasis_draw if self.family == "style" else max_draws
            self.draw_count = max(self.draw_count, next_draw)
        if self.texts.is_full or self.draw_count >= max_draws:
            return [self.masked.restore(text) for text in self.texts.best]
        draws = Draws(self.seed, f"{self.prompt_id}\0{self.family}\0{self.draw_count}")
        emphasise = self.draw_count >= emphasis_draw
        text = draw_rewrite(self.masked.text, self.family, draws, emphasise=emphasise)
        self.draw_count += 1
        self.repeats += 1
        if text not in self.drawn_texts:
            normalised = normalise_spaces(self.masked.restore(text))
            if normalised not in self.drawn_texts and normalised not in seen:
                self.repeats = 0
                self.texts.add(text)
            self.drawn_texts |= {text, normalised}
        return None


def draw_rewrite(masked: str, family: str, draws: Draws, emphasise: bool = False) -> str:
    """Apply a random share of a family's transforms, in the family's order.

    Transforms of words come first. Those of layout join now and then, and get their full share only
    if no word could be changed.

    Args:
        masked: The masked text.
        family: A simple family.
        draws: Random draws.
        emphasise: Whether words may be emphasised, for texts that allow little else.

    Returns:
        The changed text, masked.
    """
    share = draws.pick(_SHARES[family])
    text = masked
    for transform in WORD_TRANSFORMS[family]:
        if draws.chance(share):
            text = transform(text, draws)
    if text == masked:
        for transform in WORD_TRANSFORMS[family]:
            text = transform(text, draws)
    layout_share = _LAYOUT_SHARE[family]
    if text == masked:
        layout_share = share
    for transform in LAYOUT_TRANSFORMS[family]:
        if draws.chance(layout_share):
            text = transform(text, draws)
    if family == "style" and (emphasise or text == masked):
        text = layout.emphasise_words(text, draws)
    return text


@lru_cache(maxsize=64)
def neighbour_pairs(text: str) -> frozenset[tuple[str, str]]:
    """The pairs of neighbouring words of a text in lower case."""
    words = WORD_OR_NUMBER.findall(text.lower().replace("\u2019", "'"))
    return frozenset(pairwise(["", *words, ""]))


def pair_distance(first: frozenset[tuple[str, str]], second: frozenset[tuple[str, str]]) -> float:
    """The share of pairs that only one of two texts has, 0 to 1."""
    shared = len(first & second)
    union = len(first) + len(second) - shared
    if not union:
        return 0.0
    return (union - shared) / union

from collections.abc import Sequence

import pytest
from tests.parts.rewriters.helpers import PROMPT, TEXTS

from darc.errors import InputError
from darc.parts.rewriters import Rewrites, RulesRewriter, rewrite_candidate
from darc.registry import rewriters
from darc.types import Candidate, Prompt

CANDIDATE = Candidate("p1", 2, TEXTS[0])


class Scripted:
    name = "scripted"

    def __init__(self, *proposals: str) -> None:
        self.left = list(proposals)
        self.seeds: list[int] = []

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        self.seeds.append(seed)
        next_proposals = self.left[:count]
        self.left = self.left[count:]
        return next_proposals


def test_variants_carry_where_they_come_from() -> None:
    rewrites = rewrite_candidate(PROMPT, CANDIDATE, 8, RulesRewriter(), family="hybrid", seed=1)
    assert len(rewrites.variants) == 8
    assert [variant.index for variant in rewrites.variants] == list(range(8))
    assert [variant.family for variant in rewrites.variants] == ["style"] * 4 + ["targeted"] * 4
    assert {(v.prompt_id, v.candidate, v.rewriter) for v in rewrites.variants} == {
        ("p1", 2, "rules")
    }
    assert len({variant.text for variant in rewrites.variants}) == 8
    assert rewrites == rewrite_candidate(
        PROMPT, CANDIDATE, 8, RulesRewriter(), family="hybrid", seed=1
    )
    assert rewrites != rewrite_candidate(
        PROMPT, CANDIDATE, 8, RulesRewriter(), family="hybrid", seed=2
    )


def test_none_asked() -> None:
    assert rewrite_candidate(PROMPT, CANDIDATE, 0, RulesRewriter()) == Rewrites((), ())


def test_rejections_keep_their_reasons_and_are_replaced() -> None:
    text = "The old dog didn't eat 3 bones."
    good = "The old dog did not eat 3 bones."
    late = "The old dog did not eat three bones."
    rewriter = Scripted(
        "The old dog didn't eat 4 bones.", good, good, "The  old dog didn't eat 3 bones.", late
    )
    rewrites = rewrite_candidate(PROMPT, Candidate("p1", 0, text), 2, rewriter, seed=7)
    assert [variant.text for variant in rewrites.variants] == [good, late]
    assert [rejection.reason.split(":")[0] for rejection in rewrites.rejections] == [
        "number",
        "duplicate",
        "duplicate",
    ]
    assert [rejection.attempt for rejection in rewrites.rejections] == [0, 2, 3]
    assert len(set(rewriter.seeds)) == len(rewriter.seeds)


def test_attempts_are_bounded() -> None:
    rewriter = Scripted(*["nothing like it"] * 100)
    rewrites = rewrite_candidate(PROMPT, CANDIDATE, 3, rewriter)
    assert (len(rewrites.variants), len(rewrites.rejections)) == (0, 12)
    assert len(rewrite_candidate(PROMPT, CANDIDATE, 3, rewriter, max_attempts=5).rejections) == 5
    assert rewrite_candidate(PROMPT, CANDIDATE, 3, Scripted()) == Rewrites((), ())


def test_similarity_is_asked_in_batches() -> None:
    batch_sizes: list[int] = []

    def similarity(pairs: Sequence[tuple[str, str]]) -> list[float]:
        batch_sizes.append(len(pairs))
        return [0.95 if i else 0.1 for i in range(len(pairs))]

    rewrites = rewrite_candidate(
        PROMPT, CANDIDATE, 4, RulesRewriter(), similarity=similarity, max_attempts=4
    )
    assert batch_sizes == [4]
    assert len(rewrites.variants) == 3
    assert rewrites.rejections[0].reason == "similarity: 0.10, below 0.8"
    with pytest.raises(InputError, match="one number per pair"):
        rewrite_candidate(PROMPT, CANDIDATE, 4, RulesRewriter(), similarity=lambda pairs: [1.0])


def test_entities_can_be_found_by_a_model() -> None:
    rewrites = rewrite_candidate(
        PROMPT, CANDIDATE, 2, RulesRewriter(), find_entities=lambda text: [text]
    )
    assert rewrites.variants == ()
    assert {rejection.reason.split(":")[0] for rejection in rewrites.rejections} <= {
        "entity",
        "duplicate",
    }


def test_bad_numbers() -> None:
    with pytest.raises(InputError, match="0 or more"):
        rewrite_candidate(PROMPT, CANDIDATE, -1, RulesRewriter())


def test_rewriters_by_name() -> None:
    assert rewriters.make("rules").name == "rules"

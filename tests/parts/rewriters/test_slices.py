import itertools
import pickle
import time
from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parts.rewriters.helpers import PROMPT, TEXTS
from tests.parts.rewriters.test_rewriting import Scripted

from darc.parts.rewriters import Rewrites, RulesRewriter, continue_rewriting, rewrite_candidate
from darc.types import Candidate

SHORT = "The old dog didn't eat 3 bones. It slept, and the cat was often there."
SAID = [
    "The old dog did not eat 3 bones. It slept, and the cat was often there.",
    "The old dog did not eat 4 bones. It slept, and the cat was often there.",
    "The old  dog did not eat 3 bones. It slept, and the cat was often there.",
    "The old dog didn't eat 3 bones. It slept, and often the cat was there.",
]


def similarity(pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [len(text) % 7 / 7 + 0.3 for _, text in pairs]


def sliced(steps: Iterator[int], text: str, n_aug: int, family: str, like: bool) -> Rewrites:
    """The result of work that is pickled after every so many steps."""
    ticks = itertools.count()
    state = None
    while state is None or not state.finished:
        state = continue_rewriting(
            PROMPT,
            Candidate("p1", 1, text),
            n_aug,
            RulesRewriter(),
            family=family,
            similarity=similarity if like else None,
            state=pickle.loads(pickle.dumps(state)),
            seconds=next(steps),
            clock=lambda: next(ticks),
        )
    return state.result


@settings(deadline=None, max_examples=25)
@given(
    steps=st.lists(st.integers(0, 40), min_size=1),
    text=st.sampled_from([*TEXTS[:8], SHORT, ""]),
    n_aug=st.integers(0, 12),
    family=st.sampled_from(["style", "targeted", "hybrid"]),
    like=st.booleans(),
)
def test_slicing_changes_nothing(
    steps: list[int], text: str, n_aug: int, family: str, like: bool
) -> None:
    unsliced = rewrite_candidate(
        PROMPT,
        Candidate("p1", 1, text),
        n_aug,
        RulesRewriter(),
        family=family,
        similarity=similarity if like else None,
    )
    assert sliced(itertools.cycle(steps), text, n_aug, family, like) == unsliced


@given(st.lists(st.sampled_from([SHORT, *SAID]), max_size=20), st.integers(0, 6))
def test_rewriters_without_steps_are_sliced_too(proposals: list[str], n_aug: int) -> None:
    candidate = Candidate("p1", 0, SHORT)
    unsliced = rewrite_candidate(PROMPT, candidate, n_aug, Scripted(*proposals))
    rewriter = Scripted(*proposals)
    state = continue_rewriting(PROMPT, candidate, n_aug, rewriter, seconds=0)
    while not state.finished:
        carried = pickle.loads(pickle.dumps(state))
        state = continue_rewriting(PROMPT, candidate, n_aug, rewriter, state=carried, seconds=0)
    assert state.result == unsliced


def test_a_slice_of_long_work_is_short() -> None:
    text = "\n\n".join(TEXTS)[:6000]
    candidate = Candidate("p1", 0, text)
    state = None
    longest = 0.0
    slices = 0
    while state is None or not state.finished:
        started = time.process_time()
        state = continue_rewriting(
            PROMPT,
            candidate,
            16,
            RulesRewriter(),
            family="hybrid",
            state=state,
            seconds=0.02,
            clock=time.process_time,
        )
        longest = max(longest, time.process_time() - started)
        slices += 1
    print(f"{len(text)} characters in {slices} slices, the longest {1000 * longest:.0f} ms")
    assert slices > 3
    # Three times the 0.3 s that a first look at so long a text may take.
    assert longest < 0.9


def test_work_that_is_stopped_is_finished_with_what_is_there() -> None:
    steps_counter = itertools.count()
    result_state = continue_rewriting(
        PROMPT,
        Candidate("p1", 0, TEXTS[0]),
        8,
        RulesRewriter(),
        stop=lambda: next(steps_counter) > 18,
        seconds=60,
    )
    assert result_state.finished
    assert 0 < len(result_state.variants) < 8


def test_nothing_is_proposed_twice() -> None:
    for text in (*TEXTS, SHORT):
        for family in ("style", "targeted", "hybrid"):
            result_state = rewrite_candidate(
                PROMPT, Candidate("p1", 0, text), 8, RulesRewriter(), family=family
            )
            assert not [r for r in result_state.rejections if r.reason.startswith("duplicate")]
            for part in ("style", "targeted"):
                texts_of_family = [
                    rewrite.text for rewrite in result_state.variants if rewrite.family == part
                ]
                texts_of_family += [
                    rewrite.text for rewrite in result_state.rejections if rewrite.family == part
                ]
                assert len({" ".join(rewrite.split()) for rewrite in texts_of_family}) == len(
                    texts_of_family
                )


def test_what_was_refused_is_not_judged_again() -> None:
    looked: list[str] = []

    def find(text: str) -> list[str]:
        looked.append(text)
        return [text]

    result_state = rewrite_candidate(
        PROMPT, Candidate("p1", 0, SHORT), 1, Scripted(*SAID[:1] * 4), find_entities=find
    )
    assert looked == [SHORT, SAID[0]]
    assert len(result_state.rejections) == 4
    assert len({rejection.reason for rejection in result_state.rejections}) == 1


def test_a_text_that_allows_nothing_costs_little() -> None:
    drawing = RulesRewriter().drawing(PROMPT, "Shares of Norvik fell.", "targeted")
    drawing.start_round(100, 0)
    steps = 0
    while drawing.step(()) is None:
        steps += 1
    assert drawing.exhausted
    assert steps < 40

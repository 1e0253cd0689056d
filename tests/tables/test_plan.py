import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.tables.helpers import TIDY, table_of

from darc.tables.plan import PADDING, Sizes, plan

prompts = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=40)


@given(prompts, st.integers(1, 200), st.integers(1, 3))
def test_batches_are_whole_and_small(
    shapes: list[tuple[int, int]], limit: int, scorers: int
) -> None:
    candidates, samples = np.array(shapes).T
    found = plan(candidates * samples, Sizes(candidates, samples), scorers, limit)
    assert [at for first, last in found for at in range(first, last)] == list(range(len(shapes)))
    for first, last in found:
        part = slice(first, last)
        if last - first > 1:
            assert (candidates * samples)[part].sum() <= limit
            padded = (last - first) * scorers * candidates[part].max() * samples[part].max()
            assert padded <= PADDING * limit


def test_one_large_prompt_does_not_pad_the_small_ones() -> None:
    small = "".join(f"q{i},a,r,1\nq{i},b,r,1\n" for i in range(300))
    large = "".join(f"big,c{k},r{n},1\n" for k in range(20) for n in range(20))
    with table_of(TIDY + small + large + small.replace("q", "p"), batch_rows=2000) as table:
        shapes = [batch.scores.shape for batch in table.batches()]
    assert sum(shape[0] for shape in shapes) == 601
    assert max(int(np.prod(shape)) for shape in shapes) <= PADDING * 2000

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from darc.tables.index import HashIndex

repeatable = settings(derandomize=True, max_examples=150, deadline=None, database=None)
# Few values that share their low bits, so that slots are contested.
hashes = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-20, 20).map(lambda value: value * 8)
)


@repeatable
@given(st.lists(st.lists(hashes, min_size=1), max_size=8))
def test_numbers_follow_the_first_appearance(blocks: list[list[int]]) -> None:
    index = HashIndex(capacity=8)
    known: dict[int, int] = {}
    for block in blocks:
        fresh = [at for at, value in enumerate(block) if value not in [*known, *block[:at]]]
        expected = [known.setdefault(value, len(known)) for value in block]
        numbers, rows = index.encode(np.array(block, dtype=np.int64))
        assert numbers.tolist() == expected
        assert rows.tolist() == fresh
        assert len(index) == len(known)

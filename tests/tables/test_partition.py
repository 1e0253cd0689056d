import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from darc.tables.partition import by_prompt, ranges
from darc.tables.records import rating_dtype
from darc.tables.spill import RecordSpill

repeatable = settings(derandomize=True, max_examples=100, deadline=None, database=None)


@given(st.lists(st.integers(1, 20), max_size=30), st.integers(1, 25))
def test_ranges_are_whole_prompts_within_the_limit(counts: list[int], limit: int) -> None:
    found = ranges(np.array(counts, dtype=np.int64), limit)
    assert [first for first, _ in found] == [0, *(last for _, last in found)][: len(found)]
    assert not counts or found[-1][1] == len(counts)
    for first, last in found:
        assert last == first + 1 or sum(counts[first:last]) <= limit


@repeatable
@given(st.lists(st.integers(0, 9), min_size=1, max_size=80), st.integers(1, 30))
def test_records_come_together_in_file_order(prompts: list[int], limit: int) -> None:
    numbers = {prompt: at for at, prompt in enumerate(dict.fromkeys(prompts))}
    records = np.zeros(len(prompts), rating_dtype(0))
    records["prompt"] = [numbers[prompt] for prompt in prompts]
    records["line"] = np.arange(len(prompts))
    spill = RecordSpill(records.dtype, limit)
    spill.append(records)
    result = by_prompt(spill, np.bincount(records["prompt"]), limit)
    sorted_records = records[np.argsort(records["prompt"], kind="stable")]
    assert np.array_equal(result.read(0, len(result)), sorted_records)
    spill.close()
    result.close()

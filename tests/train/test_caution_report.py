from pathlib import Path

import numpy as np

from darc.train.caution_report import auc, split_examples
from darc.train.examples import read_examples

DATA = Path(__file__).parents[1] / "parts" / "scorers" / "discrimination.jsonl"
SEED = 7


def test_no_prompt_is_in_two_parts() -> None:
    sides = [{p.question for p, _ in own} for own in split_examples(read_examples(DATA), SEED)]
    assert sum(map(len, sides)) == len(set.union(*sides)) == 64
    assert [len(side) for side in sides] == [38, 10, 16]


def test_auc_counts_pairs() -> None:
    assert auc(np.array([0.0, 1.0]), np.array([1.0, 2.0])) == 0.875
    assert np.isnan(auc(np.zeros(0), np.ones(3)))

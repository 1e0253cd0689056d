import numpy as np
import pytest

from darc.language.text import Text
from darc.language.word_classes import CLASSES
from darc.language.word_order import class_gains, class_pairs, log_lift, order_gain

PLAIN = "The baker opens the shop at six. She sells bread and rolls, and the queue is often long."
TOKENS = Text(PLAIN).tokens


def test_gains_have_one_table_per_distance() -> None:
    assert class_gains().shape == (2, len(CLASSES), len(CLASSES))
    assert abs(log_lift(np.zeros(class_gains().shape))).max() == pytest.approx(0.0, abs=1e-12)


def test_a_stop_stands_at_either_end() -> None:
    (before, after), _ = class_pairs(TOKENS)
    assert len(before) == len(after) == len(TOKENS) + 1


def test_prose_has_more_gain_than_sorted_words() -> None:
    assert order_gain(TOKENS) > order_gain(sorted(TOKENS)) + 0.1

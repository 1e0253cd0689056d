"""How plausible the order of words is."""

import numpy as np
import pytest

from darc.language.classes import CLASSES, class_of
from darc.language.text import Text
from darc.scorers.order import count_pairs, gains, log_lift, order_gain

PLAIN = "The baker opens the shop at six. She sells bread and rolls, and the queue is often long."


def test_word_order_is_judged_by_classes() -> None:
    assert class_of("the") == "article"
    assert class_of("quickly") == "manner"
    assert class_of("1,024") == "number"
    assert class_of("zebra") == "noun"
    assert gains().shape == (2, len(CLASSES), len(CLASSES))
    counts = count_pairs([Text(PLAIN).tokens])
    assert counts[0].sum() == len(Text(PLAIN).tokens) + 1
    assert abs(log_lift(np.zeros(counts.shape))).max() == pytest.approx(0.0, abs=1e-12)
    shuffled = sorted(Text(PLAIN).tokens)
    assert order_gain(Text(PLAIN).tokens) > order_gain(shuffled) + 0.1

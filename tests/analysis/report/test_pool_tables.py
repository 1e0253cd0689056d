import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.report.pool_tables import pool_table


def test_pool_by_hand() -> None:
    source = make_source(11, 3, 5)
    variances = source.samples[:, 0].var(axis=2, ddof=1).max(axis=1)
    (row,) = pool_table(source).records()
    assert row["mean"] == pytest.approx(variances.mean())
    assert row["q80"] == pytest.approx(np.quantile(variances, 0.8))
    assert row["q90"] == pytest.approx(np.quantile(variances, 0.9))

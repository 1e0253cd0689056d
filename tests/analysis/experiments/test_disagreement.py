import math

import pytest

from darc.analysis.experiments.disagreement import disagreement
from darc.errors import InputError
from darc.ratings.simulated import preset


def test_few_ratings_leave_numbers() -> None:
    given = preset("paper").changed({"prompts": 30, "raters": 2, "missing": 0.7})
    rows = {row["measure"]: row["value"] for row in disagreement(given, 0).rows}
    assert math.isfinite(float(str(rows["mean of the largest variance"])))


@pytest.mark.parametrize("settings", [{"raters": 1}, {"proxy.rewrites": 0}])
def test_no_sigma_is_told(settings: dict[str, int]) -> None:
    with pytest.raises(InputError, match="no sigma"):
        disagreement(preset("paper").changed(settings), 0)

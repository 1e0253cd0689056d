import pytest

from darc.errors import InputError
from darc.parts.generators import SamplingParameters, candidate_seeds


def test_seeds_depend_on_seed_prompt_and_index_alone() -> None:
    few = candidate_seeds(SamplingParameters(k=4), "a")
    many = candidate_seeds(SamplingParameters(k=64), "a")
    assert many[:4] == few
    other_prompt = candidate_seeds(SamplingParameters(k=64), "b")
    other_seed = candidate_seeds(SamplingParameters(k=64, seed=1), "a")
    assert len({*many, *other_prompt, *other_seed}) == 192
    assert all(0 <= seed < 2**31 for seed in many)


@pytest.mark.parametrize(
    "wrong", [{"k": 0}, {"temperature": -1.0}, {"top_p": 0.0}, {"top_p": 1.1}, {"max_tokens": 0}]
)
def test_settings_that_make_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        SamplingParameters(**wrong)  # type: ignore[arg-type]

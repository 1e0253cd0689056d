import numpy as np
import pytest
from tests.decide.evidence.reference import load_reference

from darc.decide.evidence import groups
from darc.errors import InputError
from darc.typing import Array, Integers

NAMES = ("a", "b", "c")


def draw(seed: int, apart: float = 0.8) -> tuple[Array, Integers]:
    """Ratings (P, K, n) with gaps, and the group of each."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(-1, 3, (40, 5, 12))
    worth = generator.normal(0, 0.5, (40, 5, 1)) + generator.normal(0, 1, (40, 1, 1))
    taste = generator.normal(0, apart, (40, 5, 3))
    ratings = worth + np.take_along_axis(taste, np.maximum(codes, 0), axis=2)
    ratings = ratings + generator.normal(0, 1, ratings.shape) + 0.3 * codes
    ratings[generator.random(ratings.shape) < 0.3] = np.nan
    return ratings, codes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("apart", [0.0, 0.8, 2.0])
def test_everything_agrees_with_the_reference(seed: int, apart: float) -> None:
    reference = load_reference("reference_groups")
    ratings, codes = draw(seed, apart)
    model = groups.learn_group_model(ratings, codes, NAMES)
    assert model is not None
    noise, candidates, between, effects = reference.components(ratings, codes, 3)
    assert model.ratings == pytest.approx(noise)
    assert model.candidates == pytest.approx(candidates)
    assert model.groups == pytest.approx(between)
    np.testing.assert_allclose(list(model.effects.values()), effects)
    posterior = groups.group_posterior(ratings, codes, NAMES, model)
    mean, covariance = reference.posterior(ratings, codes, 3)
    np.testing.assert_allclose(posterior.mean, mean, atol=1e-6)
    np.testing.assert_allclose(posterior.covariance, covariance, atol=1e-6)
    # Groups without a rating have equal variances, so that draws may be turned differently.
    np.testing.assert_allclose(
        posterior.worst(), reference.worst_group(ratings, codes, 3), atol=0.1
    )
    shares = np.array([0.5, 0.25, 0.25])
    np.testing.assert_allclose(
        posterior.mixed(shares), reference.mixed(ratings, codes, 3, shares), atol=1e-6
    )
    np.testing.assert_allclose(
        posterior.chance_below(0.2), reference.chance_below(ratings, codes, 3, 0.2), atol=1e-4
    )


def test_the_ratio_is_said_in_words() -> None:
    alike = groups.learn_group_model(*draw(0, 0.0), NAMES)
    apart = groups.learn_group_model(*draw(0, 2.0), NAMES)
    assert alike is not None
    assert apart is not None
    assert alike.ratio < groups.LEAST_RATIO < apart.ratio
    assert alike.in_words() != apart.in_words()


def test_too_few_candidates_teach_nothing() -> None:
    ratings, codes = draw(0)
    assert groups.learn_group_model(ratings[:1, :2], codes[:1, :2], NAMES) is None
    assert groups.learn_group_model(ratings, np.minimum(codes, 0), ("a",)) is None


def test_a_mix_is_read_from_text() -> None:
    assert groups.parse_mix("a=0.5, b=1") == {"a": 0.5, "b": 1.0}
    assert groups.parse_mix("a=1;b=3") == groups.parse_mix({"a": 1, "b": 3})
    for text in ("a", "a=x", "a=-1", "a=0", "=1", ""):
        with pytest.raises(InputError):
            groups.parse_mix(text)

import numpy as np
import pytest
from tests.decide.evidence.reference import load_reference
from tests.decide.evidence.worlds import judged_world

from darc.decide.evidence.asking import WaveLimits, is_finished, next_wave, rating_value
from darc.decide.evidence.posterior import certainty, estimate_noise, posterior


@pytest.mark.parametrize("seed", range(4))
def test_waves_agree_with_the_reference(seed: int) -> None:
    reference = load_reference("reference_adaptive")
    world = judged_world(30, 5, 3, 0.5, seed)
    noise = estimate_noise(world.ratings, first_wave=1)
    expected_noise = reference.components(world.ratings, first=1)
    assert (noise.rating, noise.candidates) == pytest.approx(expected_noise)
    belief = posterior(world.ratings, noise)
    mean, variance = reference.posterior(world.ratings, 0.0, *expected_noise)
    assert belief.mean == pytest.approx(mean)
    assert belief.variance == pytest.approx(variance)
    room = np.random.default_rng(seed).integers(0, 4, mean.shape)
    value = rating_value(belief, noise.rating, room)
    assert value == pytest.approx(reference.value(mean, variance, noise.rating, room))
    wave = next_wave(belief, noise.rating, WaveLimits(size=20, room=room, per_prompt=2))
    expected = reference.wave(mean, variance, noise.rating, 20, room, 2)
    assert wave.tolist() == expected.tolist()
    unit = np.sqrt(noise.rating)
    finished = reference.finished(mean, variance, noise.rating, unit=unit)
    assert is_finished(belief, noise.rating).tolist() == finished.tolist()
    sure = certainty(belief, mean.argmax(axis=1), 0.25)
    close, regret = reference.certainty(mean, variance, 0.25)
    assert sure.probability == pytest.approx(close)
    assert sure.regret == pytest.approx(regret)


def test_certainty_is_honest() -> None:
    """Of choices that are called nine in ten sure, about nine in ten are near the best."""
    world = judged_world(4000, 6, 4, 0.5, 1)
    noise = estimate_noise(world.ratings, first_wave=4)
    belief = posterior(world.ratings, noise)
    choice = belief.mean.argmax(axis=1)
    sure = certainty(belief, choice, 0.25)
    lost = world.truth.max(axis=1) - world.truth[np.arange(len(choice)), choice]
    for low, high in ((0.4, 0.6), (0.6, 0.8), (0.8, 1.0)):
        among = (sure.probability >= low) & (sure.probability < high)
        assert np.mean(lost[among] <= 0.25) == pytest.approx(
            sure.probability[among].mean(), abs=0.06
        )
    assert sure.regret.mean() == pytest.approx(lost.mean(), rel=0.15)

import numpy as np
import pytest
from tests.train.policies import loss_value

from darc.errors import InputError, UnknownName
from darc.train.losses import FORMS, Loss

Z = np.linspace(-6.0, 6.0, 25)


def worst(z: float, noise: float) -> float:
    """The largest cross-entropy over labels that are right with probability 1 - noise to 1."""
    shares = np.linspace(1.0 - noise, 1.0, 501)
    return float(np.max(shares * np.logaddexp(0, -z) + (1 - shares) * np.logaddexp(0, z)))


def test_sup_is_the_worst_case_over_smoothing() -> None:
    found = loss_value(Loss("sup", 0.2), Z)
    assert np.allclose(found, [worst(z, 0.2) for z in Z], atol=1e-12)


def test_cdpo_is_the_cross_entropy_of_smoothed_labels() -> None:
    expected = 0.9 * np.logaddexp(0, -Z) + 0.1 * np.logaddexp(0, Z)
    assert np.allclose(loss_value(Loss("cdpo"), Z), expected, atol=1e-12)


def test_unbiased_is_dpo_on_average_over_flips() -> None:
    loss = Loss("unbiased", 0.3)
    average = 0.7 * loss_value(loss, Z) + 0.3 * loss_value(loss, -Z)
    assert np.allclose(average, np.logaddexp(0, -Z), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_soft_labels_mix_the_loss_and_its_mirror(form: str) -> None:
    loss = Loss(form, 0.2)
    mixed = 0.7 * loss_value(loss, Z) + 0.3 * loss_value(loss, -Z)
    assert np.allclose(loss_value(loss, Z, 0.7), mixed, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_no_noise_is_dpo(form: str) -> None:
    assert np.allclose(loss_value(Loss(form, 0.0), Z), np.logaddexp(0, -Z), atol=1e-12)


def test_refusals() -> None:
    with pytest.raises(UnknownName, match="unbiased"):
        Loss("unbias")
    for form, noise in (("cdpo", 0.5), ("unbiased", 0.5), ("sup", 0.5), ("sup", -0.1)):
        with pytest.raises(InputError, match=f"the noise of {form} is {noise:g}: "):
            Loss(form, noise)

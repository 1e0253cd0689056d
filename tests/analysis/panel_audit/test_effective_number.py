import numpy as np
import pytest
from tests.analysis.panel_audit.worlds import PanelWorld, as_ratings

from darc.analysis.panel_audit.effective_number import (
    effective_number_against,
    effective_number_alone,
)
from darc.analysis.panel_audit.grades import RaterGrades, rater_grades

FILES = 20


def drawn(world: PanelWorld, seed: int) -> tuple[RaterGrades, RaterGrades]:
    grades, people, _ = world.draw(seed)
    panel = rater_grades(as_ratings(grades, "panel", "rater "))
    return panel, rater_grades(as_ratings(people, "rater", "person "))


@pytest.mark.parametrize(
    "world",
    [
        PanelWorld(correlation=0.3),
        PanelWorld(correlation=0.8),
        PanelWorld(correlation=1.0, clusters=2),
        PanelWorld(correlation=0.6, clusters=2),
        PanelWorld(correlation=0.3, people=2, people_noise=2.0, prompts=150),
    ],
)
def test_the_number_against_people_is_that_of_the_simulation(world: PanelWorld) -> None:
    numbers = []
    covered = 0
    for seed in range(FILES):
        number = effective_number_against(*drawn(world, seed)).number
        numbers.append(number.value)
        covered += number.low <= world.effective <= number.high
    assert np.median(numbers) == pytest.approx(world.effective, rel=0.12)
    assert covered >= 0.8 * FILES


def test_independent_raters_count_fully() -> None:
    numbers = [
        effective_number_against(*drawn(PanelWorld(correlation=0.0), seed)).number
        for seed in range(FILES)
    ]
    assert np.mean([number.value for number in numbers]) > 6
    assert np.mean([number.high > 7 for number in numbers]) > 0.8


@pytest.mark.parametrize("quality", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(
    "world",
    [
        {"correlation": 1.0, "clusters": 2},
        {"correlation": 0.6, "clusters": 2},
        {"correlation": 0.5, "clusters": 4},
        {"correlation": 0.0},
    ],
)
def test_without_people_clusters_are_seen_whatever_the_quality(
    world: dict[str, float], quality: float
) -> None:
    panel_world = PanelWorld(
        correlation=world["correlation"], clusters=int(world.get("clusters", 1)), quality=quality
    )
    numbers = [
        effective_number_alone(drawn(panel_world, seed)[0]).number.value for seed in range(FILES)
    ]
    assert np.mean(numbers) == pytest.approx(panel_world.effective, rel=0.12)


def test_without_people_a_common_error_is_not_seen_and_that_is_said() -> None:
    panel, people = drawn(PanelWorld(correlation=0.8), 0)
    alone = effective_number_alone(panel)
    against = effective_number_against(panel, people)
    assert alone.number.value > 6 > 2 > against.number.value
    assert alone.least is not None
    assert alone.least.value < against.number.high
    assert "at most about" in alone.sentence
    assert "cannot be seen without people" in alone.basis
    assert "these 8 raters count as about 1." in against.sentence


def test_missing_grades_are_no_obstacle() -> None:
    world = PanelWorld(correlation=0.6, clusters=2, prompts=150)
    against = []
    alone = []
    for seed in range(FILES):
        grades, people, _ = world.draw(seed)
        generator = np.random.default_rng(seed)
        grades[generator.random(grades.shape) < 0.3] = np.nan
        people[generator.random(people.shape) < 0.3] = np.nan
        panel = rater_grades(as_ratings(grades, "panel", "rater "))
        persons = rater_grades(as_ratings(people, "rater", "person "))
        against.append(effective_number_against(panel, persons).number.value)
        alone.append(effective_number_alone(panel).number.value)
    assert np.median(against) == pytest.approx(world.effective, rel=0.12)
    assert np.median(alone) == pytest.approx(world.effective, rel=0.12)


def test_what_cannot_be_known_has_a_reason() -> None:
    panel, _ = drawn(PanelWorld(raters=2), 0)
    alone = effective_number_alone(panel)
    assert np.isnan(alone.number.value)
    assert alone.number.reason
    assert alone.least is not None
    one, people = drawn(PanelWorld(raters=1), 0)
    assert effective_number_against(one, people).number.value == 1
    noise = np.random.default_rng(0).normal(size=(60, 6, 4))
    nobody = rater_grades(as_ratings(noise - noise.mean(axis=2, keepdims=True), "rater", "p"))
    eight, _ = drawn(PanelWorld(), 0)
    assert "do not differ" in effective_number_against(eight, nobody).number.text()


def test_people_with_one_rating_each_make_the_number_too_low_and_that_is_said() -> None:
    world = PanelWorld(correlation=0.2, people=1)
    number = effective_number_against(*drawn(world, 1))
    assert number.number.value < world.effective
    assert "too low" in number.basis


def test_few_prompts_have_no_interval() -> None:
    number = effective_number_against(*drawn(PanelWorld(prompts=6), 0)).number
    assert not number.has_interval
    assert "fewer than 10 prompts" in number.text()

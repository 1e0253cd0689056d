"""Systems compared by few people's ratings and a judge's grades of many more prompts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from darc.analysis.prediction_powered import FEWEST_PROMPTS, PoweredMean, powered_mean
from darc.errors import InputError
from darc.ratings.ratings import Ratings
from darc.typing import Array

#: The number of a system on each prompt, by prompt id.
PromptMeans = Mapping[str, float]


@dataclass(frozen=True)
class PoweredSystem:
    """What people and a judge together say about a system."""

    system: str
    #: Its mean rating.
    mean: PoweredMean
    #: Its mean less that of the best system, on prompts where both were rated; None for the best,
    #: or where there are too few such prompts.
    behind_best: PoweredMean | None


def compare_with_judge(people: Ratings, judges: Sequence[Ratings]) -> list[PoweredSystem]:
    """Estimate the systems' means and differences from people's ratings and judges' grades.

    Args:
        people: People's ratings.
        judges: Grades of the same systems on the same and on more prompts; several are averaged
            after they are brought to one scale.

    Returns:
        The systems, the highest mean first.

    Raises:
        InputError: Too few prompts have both ratings and grades.
    """
    ratings = _system_means(people)
    grades = _average([_standardized(_system_means(judge)) for judge in judges])
    means = {}
    for system, by_prompt in ratings.items():
        mean = _powered(by_prompt, grades.get(system, {}))
        if mean is not None:
            means[system] = mean
    if not means:
        raise InputError(
            f"{' and '.join(judge.name for judge in judges)} and {people.name} have fewer than "
            f"{FEWEST_PROMPTS} prompts of a system in common",
            "use the same ids of prompts and names of systems, and rate more prompts",
        )
    order = sorted(means, key=lambda system: -means[system].mean)
    best = order[0]
    systems = []
    for system in order:
        difference = None
        if system != best:
            difference = _powered(
                _differences(ratings[system], ratings[best]),
                _differences(grades[system], grades[best]),
            )
        systems.append(PoweredSystem(system, means[system], difference))
    return systems


def _powered(ratings: PromptMeans, grades: PromptMeans) -> PoweredMean | None:
    """The mean over prompts with the judge's help, None with too few prompts that have both."""
    both = [prompt for prompt in ratings if prompt in grades]
    if len(both) < FEWEST_PROMPTS:
        return None
    return powered_mean(
        _numbers(ratings, both),
        _numbers(grades, both),
        _numbers(grades, [prompt for prompt in grades if prompt not in ratings]),
    )


def _numbers(means: PromptMeans, prompts: Sequence[str]) -> Array:
    return np.array([means[prompt] for prompt in prompts], dtype=np.float64)


def _differences(first: PromptMeans, second: PromptMeans) -> dict[str, float]:
    """The first less the second on the prompts that both have."""
    return {prompt: first[prompt] - second[prompt] for prompt in first if prompt in second}


def _system_means(ratings: Ratings) -> dict[str, dict[str, float]]:
    """The mean of each system on each prompt, by system and prompt id, over all scorers."""
    systems: Sequence[Sequence[str]] = ratings.systems or ratings.candidate_ids
    numbers: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, prompt_id in enumerate(ratings.prompt_ids):
        for column, system in enumerate(systems[row]):
            cell = ratings.samples[row, :, column]
            known = cell[~np.isnan(cell)]
            if system and len(known):
                numbers[system][prompt_id].append(float(known.mean()))
    return {
        system: {prompt: float(np.mean(values)) for prompt, values in by_prompt.items()}
        for system, by_prompt in numbers.items()
    }


def _standardized(means: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The same numbers with the mean 0 and the deviation 1."""
    numbers = np.array([value for by_prompt in means.values() for value in by_prompt.values()])
    if not len(numbers):
        return means
    center = float(numbers.mean())
    spread = float(numbers.std()) or 1.0
    return {
        system: {prompt: (value - center) / spread for prompt, value in by_prompt.items()}
        for system, by_prompt in means.items()
    }


def _average(judges: Sequence[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """The mean over judges of what all of them judged."""
    average: dict[str, dict[str, float]] = {}
    for system, by_prompt in judges[0].items():
        average[system] = {}
        for prompt in by_prompt:
            numbers = [judge.get(system, {}).get(prompt) for judge in judges]
            known = [number for number in numbers if number is not None]
            if len(known) == len(judges):
                average[system][prompt] = sum(known) / len(known)
    return average

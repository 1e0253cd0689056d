"""The flags of decisions in words."""

from collections.abc import Mapping

#: What each flag means. A flag such as "likely:0.99" has a detail, which takes the place of {}.
FLAGS = {
    "infeasible": "no eligible candidate met the cap on the risk premium, so it was not applied",
    "no_groups": "groups differ on candidates less than candidates do, so the mean decided",
    "below_floor": "no eligible candidate met the floor in every group, so it was not applied",
    "no_majority": "no answer is shared by enough candidates, so all counted",
    "no_sigma": "sigma is undefined with one sample, so the rule did without it",
    "shrunk": "candidates with fewer samples were drawn towards the average",
    "few_samples": "candidates with too few samples were left out",
    "constant_scorer": "a scorer gave every candidate the same score and counts as 0 for all",
    "small_sample": "beta times sigma is large for so few samples: the true risk is likely larger",
    "capped": "more candidates were to be drawn than are eligible",
    "likely": "not every rating was asked for; by estimate the choice is final with probability {}",
    "unfinished": "the search was stopped early; this is the best choice so far",
    "no_rewrites": "no rewrite was accepted, so the originals were scored",
    "rating_below": (
        "every answer has a rating below the limit, so one with the fewest of those was taken"
    ),
    "held": "none of these answers is good",
    "clipped": "samples outside the bounds were clipped",
    "missing_grades": "grades that could not be had: {}",
    "rater_failed": "rater {} graded fewer than half of what it was asked",
}


def flag_words(flag: str, words: Mapping[str, str] = FLAGS) -> str:
    """Say a flag in words.

    Args:
        flag: A flag, with its detail after a colon if it has one.
        words: The meaning of each flag, with {} for the detail.

    Returns:
        The meaning, or the flag itself if it is not known.
    """
    name, _, detail = flag.partition(":")
    if name not in words:
        return flag
    if name == "likely":
        detail = f"{100 * float(detail):.0f} %"
    return words[name].format(detail)

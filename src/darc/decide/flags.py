"""The flags of decisions in words."""

from collections.abc import Mapping, Sequence

#: What each flag means. A flag such as "likely:0.99" has a detail, which takes the place of {}.
FLAGS = {
    "infeasible": "no eligible candidate met the cap on the risk premium, so it was not applied",
    "no_groups": "groups differ on candidates less than candidates do, so the mean decided",
    "below_floor": "no eligible candidate met the floor in every group, so it was not applied",
    "few_per_group": (
        "choosing for the worst served group has gained only with five ratings per group and "
        "groups that differ as much as answers do, and here is less"
    ),
    "no_majority": "no answer is shared by enough candidates, so all counted",
    "no_sigma": "sigma is undefined with one sample, so the rule did without it",
    "shrunk": "candidates with fewer samples were drawn towards the average",
    "few_samples": "candidates with too few samples were left out",
    "constant_scorer": "a scorer gave every candidate the same score and counts as 0 for all",
    "capped": "more candidates were to be drawn than are eligible",
    "likely": "not every rating was asked for; by estimate the choice is final with probability {}",
    "unfinished": "the search was stopped early; this is the best choice so far",
    "no_rewrites": "no rewrite was accepted, so the originals were scored",
    "rating_below": (
        "every answer has a rating below the limit, so one with the fewest of those was taken"
    ),
    "held": "none of these answers is good",
    "below_promise": (
        "the answer is held back: it is not sure enough to be good for what was promised"
    ),
    "other_caution": "what was promised is not for this caution, so it does not hold",
    "clipped": "samples outside the bounds were clipped",
    "severity_not_removed": "with two answers a rater's severity counts as disagreement",
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


def flags_in_words(flags: Sequence[str], words: Mapping[str, str] = FLAGS) -> list[str]:
    """Say some flags in words, without what another flag says better.

    Args:
        flags: The flags of a decision.
        words: The meaning of each flag, with {} for the detail.
    """
    return [flag_words(flag, words) for flag in without_repetition(flags)]


def without_repetition(flags: Sequence[str]) -> list[str]:
    """The flags that are worth a sentence: `below_promise` says why an answer is held."""
    if "below_promise" in flags:
        return [flag for flag in flags if flag != "held"]
    return list(flags)


def held_sentence(flags: Sequence[str]) -> str:
    """Why the answer is held back, as a sentence; empty where it is not."""
    if "below_promise" in flags:
        words = FLAGS["below_promise"]
    elif "held" in flags:
        words = FLAGS["held"]
    else:
        return ""
    return f"{words[0].upper()}{words[1:]}."

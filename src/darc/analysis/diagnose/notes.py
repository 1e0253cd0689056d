"""What a diagnosis could not find out, and why."""

import math

import numpy as np

from darc.analysis.diagnose.diagnosis import Diagnosis

# With fewer prompts, intervals are rough.
FEW_PROMPTS = 10
# Sigma can be checked with this many ratings per candidate.
MIN_RATINGS = 4


def diagnosis_notes(diagnosis: Diagnosis) -> list[str]:
    """Say what could not be found out, and why.

    Args:
        diagnosis: The diagnosis.

    Returns:
        One sentence each.
    """
    ratings = diagnosis.ratings
    notes = [*ratings.notes]
    prompts = len(ratings.prompt_names)
    if prompts == 1:
        notes.append("There is one prompt: no interval over prompts, and no test.")
    elif prompts < FEW_PROMPTS:
        notes.append(f"There are only {prompts} prompts: intervals are rough.")
    notes += _rater_notes(diagnosis)
    if np.bincount(ratings.prompts).max() < 2:
        notes.append("Every prompt has one candidate: nothing is compared within prompts.")
    splittable = int((ratings.counts >= MIN_RATINGS).sum())
    if splittable and not diagnosis.sigma_reliability:
        notes.append(
            f"Only {splittable} of {ratings.counts.size} candidates have the {MIN_RATINGS}"
            " ratings that it takes to check sigma."
        )
    unknown = [part.name for part in diagnosis.components if math.isnan(part.variance)]
    if unknown and np.nanmin(ratings.values) < np.nanmax(ratings.values):
        notes.append(f"The design cannot tell these components apart: {', '.join(unknown)}.")
    return notes


def _rater_notes(diagnosis: Diagnosis) -> list[str]:
    """Why something is left out about raters."""
    ratings = diagnosis.ratings
    notes = []
    people = ratings.kind == "rater"
    if people and not ratings.named:
        notes.append("Some ratings have no rater: severity, agreement and groups are left out.")
    if ratings.named and len(ratings.rater_names) == 1:
        notes.append("There is one rater: nobody to compare with.")
    elif ratings.named and not diagnosis.raters:
        notes.append("Raters have too few ratings each to be compared.")
    if not people:
        notes.append("Samples are rewrites, not people: nothing is said of raters.")
    return notes

"""Sentences about what makes the numbers of an evaluation weak."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from darc.analysis.evaluate.contest import Contest
from darc.analysis.frame import WORDS, Frame
from darc.decide.flags import FLAGS
from darc.engine.surface_scorers import surface_note
from darc.ratings.ratings import Ratings

_FEW_PROMPTS = 20
# Flags on a smaller share of decisions are not mentioned.
_NOTABLE_SHARE = 0.005
# Fewer candidates per split are not mentioned.
_NOTABLE_LEFT_OUT = 0.05


def ratings_warnings(ratings: Ratings) -> list[str]:
    """Warnings about ratings before anything is done with them."""
    prompts = len(ratings.prompt_ids)
    present = ratings.present
    is_people = ratings.kind == "rater"
    noun = "rating" if is_people else "sample"
    one_rater = is_people and len(ratings.rater_names) == 1
    most_samples = int(present.sum(axis=3).max(initial=0))
    note = ""
    if not is_people:
        note = surface_note([name for name in ratings.scorers if name])
    accepted = ratings.costs.get("rewrites accepted", 0.0)
    refused = ratings.costs.get("rewrites refused", 0.0)
    lacks_lengths = np.isnan(ratings.lengths[present.any(axis=(1, 3))]).any()
    warnings = _holding(
        ratings,
        {
            "one_prompt": prompts == 1,
            "few_prompts": prompts != 1 and prompts < _FEW_PROMPTS,
            "one_rater": one_rater,
            "no_sigma": not one_rater and most_samples < 2,
            "surface": note,
            "no_texts": not ratings.texts,
            "some_texts": ratings.texts and lacks_lengths,
            "refused": refused > accepted,
        },
        prompts=prompts,
        noun=noun,
        surface=note[:1].lower() + note[1:-1],
        refused=refused / ((accepted + refused) or 1.0),
    )
    for m, scorer in enumerate(ratings.scorers):
        values = ratings.samples[:, m][present[:, m]]
        if values.size and values.min() == values.max():
            name = f"scorer {scorer!r}" if scorer else f"every {noun}"
            warnings.append(f"{ratings.name}: {name} is {values[0]:g} for everything: all is tied")
    return warnings


def unmatched_warnings(ratings: Ratings, other: Ratings, unmatched: int) -> list[str]:
    """Warnings about candidates that other ratings lack."""
    return _holding(ratings, {"unmatched": unmatched}, unmatched=unmatched, other=other.name)


def contest_warnings(contest: Contest) -> list[str]:
    """Warnings about what was done with ratings."""
    usable = contest.usable
    decided = usable.sum()
    never_usable = int((~usable.any(axis=0)).sum())
    never = ""
    if never_usable:
        never = f", {never_usable} of them from every split"
    no_risk = np.isnan(contest.risk[:, 0]) & usable
    no_disagreement = np.isnan(contest.disagreement) & usable
    has_both = (usable & ~no_risk & ~no_disagreement).any()
    nowhere = bool(no_risk.any() and no_disagreement.any() and not has_both)
    all_agree = (contest.choice == contest.choice[:, :1]).all()
    warnings = _holding(
        contest.ratings,
        {
            "dropped": not usable.all(),
            "left_out": contest.left_out >= _NOTABLE_LEFT_OUT,
            "nowhere": nowhere,
            "unknown": not nowhere and no_risk.any(),
            "blind": not nowhere and no_disagreement.any(),
            "clipped": contest.clipped_share > 0,
            "same": len(contest.methods) > 1 and all_agree,
        },
        dropped=1 - decided / usable.size,
        never=never,
        left_out=contest.left_out,
        unknown=no_risk.sum() / decided,
        blind=no_disagreement.sum() / decided,
        clipped=contest.clipped_share,
    )
    for text, reason in contest.not_run.items():
        warnings.append(f"{contest.ratings.name}: {text} was not run: {reason.rstrip('.')}")
    # Without a sigma on either side the flags say no more than that.
    if not nowhere:
        warnings += _flag_warnings(contest)
    return warnings


def stress_warnings(
    inputs: Sequence[Ratings], stress: Collection[str], families: Frame | None
) -> list[str]:
    """What is to be said about a listed stress slice.

    Args:
        inputs: All sources.
        stress: The prompt ids of the slice; empty if none was listed.
        families: The table in which it is used.

    Returns:
        The warnings.
    """
    if not stress:
        return []
    warnings = []
    prompts = {prompt for ratings in inputs for prompt in ratings.prompt_ids}
    unknown = len(set(stress) - prompts)
    if unknown:
        text = WORDS["warnings"]["stress_unknown"]
        warnings.append(text.format(unknown=unknown, count=len(stress)))
    if families is None or not len(families):
        warnings.append(WORDS["warnings"]["stress_unused"])
    return warnings


def _flag_warnings(contest: Contest) -> list[str]:
    """A warning for each flag that some rule raised often."""
    shares_by_flag: dict[str, dict[str, float]] = {}
    for text, flags in contest.flags.items():
        for flag, share in flags.items():
            if share >= _NOTABLE_SHARE:
                shares_by_flag.setdefault(flag, {})[text] = share
    warnings = []
    for flag, shares in shares_by_flag.items():
        if len(shares) == len(contest.methods):
            who = f"all rules, up to {max(shares.values()):.0%}"
        else:
            who = ", ".join(f"{text} {share:.0%}" for text, share in shares.items())
        meaning = FLAGS.get(flag, flag)
        warnings.append(f"{contest.ratings.name}: {meaning} ({who} of decisions)")
    return warnings


def _holding(ratings: Ratings, conditions: Mapping[str, object], **values: object) -> list[str]:
    """The warnings whose condition holds, with the values that they mention."""
    names = [name for name, holds in conditions.items() if holds]
    return [f"{ratings.name}: {WORDS['warnings'][name].format(**values)}" for name in names]

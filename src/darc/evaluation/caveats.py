"""What a reader of an evaluation should hear before trusting it."""

import numpy as np

from darc.engine.parts import surface_note
from darc.evaluation.frame import Frame
from darc.evaluation.join import Joined
from darc.evaluation.source import Source
from darc.evaluation.study import Study
from darc.selection.explain import FLAGS

FEW_PROMPTS = 20


def source_warnings(source: Source) -> list[str]:
    """Sentences about a source alone."""
    said = []
    prompts, scorers, _, _ = source.shape
    there = ~np.isnan(source.samples)
    noun = "rating" if source.kind == "rater" else "sample"
    if prompts < FEW_PROMPTS:
        rough = "intervals from so few are rough"
        none = "there is nothing to resample, so there are no intervals"
        said.append(
            f"{prompts} prompt{'s' * (prompts != 1)} only: {none if prompts == 1 else rough}"
        )
    if source.kind == "rater" and len(source.giver_names) == 1:
        said.append("there is one rater only, so no disagreement can be seen")
    elif int(there.sum(axis=3).max(initial=0)) < 2:
        said.append(f"no candidate has a second {noun}, so no sigma is known")
    if source.kind != "rater" and (note := surface_note([each for each in source.scorers if each])):
        said.append(note[0].lower() + note[1:-1])
    if not source.texts:
        said.append("there are no texts: lengths and mismatch cases are left out")
    elif np.isnan(source.tokens[there.any(axis=(1, 3))]).any():
        said.append("some candidates have no text, so lengths are of the others")
    accepted = source.costs.get("rewrites accepted", 0.0)
    refused = source.costs.get("rewrites refused", 0.0)
    if refused > accepted:
        share = refused / (accepted + refused)
        said.append(f"{share:.0%} of the rewrites were refused, so samples are few or alike")
    for m in range(scorers):
        values = source.samples[:, m][there[:, m]]
        if values.size and values.min() == values.max():
            name = f"scorer {source.scorers[m]!r}" if source.scorers[m] else f"every {noun}"
            said.append(f"{name} is {values[0]:g} for everything: all is tied")
    return [f"{source.name}: {each}" for each in said]


def study_warnings(study: Study) -> list[str]:
    """Sentences about what was done with a source."""
    said = []
    total, name = study.kept.size, study.source.name
    dropped = total - int(study.kept.sum())
    if dropped:
        never = int((~study.kept.any(axis=0)).sum())
        said.append(
            f"{dropped / total:.1%} of prompts were dropped from a split for want of both halves"
            + (f", {never} of them from every split" if never else "")
        )
    if study.left_out >= 0.05:
        said.append(
            f"{study.left_out:.1f} candidates a split were left out for want of both halves"
        )
    unknown = np.isnan(study.risk[:, 0]) & study.kept
    blind = np.isnan(study.disagreement) & study.kept
    nowhere = unknown.any() and blind.any() and not (study.kept & ~unknown & ~blind).any()
    if unknown.any() and not nowhere:
        said.append(
            f"sigma is undefined for {unknown.sum() / study.kept.sum():.0%} of the judged choices "
            "(one sample in the half): risk and tradeoff are over the others, so their columns do "
            "not follow from one another, and only the paired changes compare the same prompts"
        )
    if blind.any() and not nowhere:
        said.append(
            f"in {blind.sum() / study.kept.sum():.0%} of the decisions Best-of-K's choice had one "
            "sample to select by, so no rule saw a sigma of it"
        )
    if nowhere:
        said.append(
            "no split both selects and judges with a sigma (there are too few raters for that), so "
            "risk and tradeoff cannot show what rules that look at sigma gain or lose"
        )
    if study.clipped_share > 0:
        said.append(f"{study.clipped_share:.2%} of samples were clipped for selection")
    if len(study.methods) > 1 and (study.choice == study.choice[:, :1]).all():
        said.append("every method chose what Best-of-K chose, so all comparisons are ties")
    for label, reason in study.not_run.items():
        said.append(f"{label} was not run: {reason.rstrip('.')}")
    # Without a sigma on either side the flags say no more than that.
    return [f"{name}: {each}" for each in said + ([] if nowhere else _flagged(study))]


def flag_table(study: Study) -> Frame:
    """Share of each rule's decisions that were flagged, such as a Poisson draw cut to the pool."""
    rows = [
        (study.source.name, label, flag, share, FLAGS.get(flag, flag))
        for label, flags in study.flags.items()
        for flag, share in flags.items()
    ]
    columns = ("source", "method", "flag", "share", "meaning")
    return Frame.of("flags", "Decisions with something to know of them", columns, rows)


def _flagged(study: Study) -> list[str]:
    """One sentence a flag, with the methods that raised it in a notable share of decisions."""
    by_flag: dict[str, list[tuple[str, float]]] = {}
    for label, flags in study.flags.items():
        for flag, share in flags.items():
            if share >= 0.005:
                by_flag.setdefault(flag, []).append((label, share))
    said = []
    for flag, found in by_flag.items():
        who = ", ".join(f"{label} {share:.0%}" for label, share in found)
        if len(found) == len(study.methods):
            who = f"all rules, up to {max(share for _, share in found):.0%}"
        said.append(f"{FLAGS.get(flag, flag)} ({who} of decisions)")
    return said


def join_warnings(pair: Joined) -> list[str]:
    """Sentences about candidates that only one of two sources has."""
    said = []
    for source, other, count in (
        (pair.proxy, pair.human, pair.unmatched[0]),
        (pair.human, pair.proxy, pair.unmatched[1]),
    ):
        if count:
            said.append(f"{source.name}: {count} candidates are not in {other.name}, and left out")
    return said

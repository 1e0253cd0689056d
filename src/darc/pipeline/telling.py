"""The story of one prompt of a run, read back from its folder."""

import numpy as np

from darc.errors import InputError
from darc.pipeline import records
from darc.pipeline.deciding import Deciding
from darc.pipeline.folder import RunFolder
from darc.pipeline.manifest import again, completing
from darc.pipeline.stages import decide
from darc.pipeline.story import Story
from darc.selection.decision import Decision
from darc.selection.lazy import drive


def read_story(folder: RunFolder, prompt_id: str, deciding: Deciding) -> Story:
    """The `Story` of one prompt; a lazy run can tell it for its own rule and scale only."""
    prompt = records.read_prompt(folder, prompt_id)
    if prompt_id not in folder.rows("decisions.jsonl"):
        raise InputError(
            f"{folder.path}: prompt {prompt_id!r} is not finished", f"go on with: {again(folder)}"
        )
    candidates = records.read_candidates(folder, prompt_id)
    made = records.read_perturbed(folder, prompt_id, len(candidates))
    row, scores = folder.rows("scores.jsonl")[prompt_id], records.read_scores(folder, prompt_id)
    spent: dict[str, float] = {}
    for note in folder.notes():
        if note["prompt_id"] == prompt_id:
            spent[note["stage"]] = spent.get(note["stage"], 0.0) + note["milliseconds"]
    return Story(
        prompt,
        candidates,
        [made[k].variants if k in made else () for k in range(len(candidates))],
        [rejection for k in sorted(made) for rejection in made[k].rejections],
        row["scorers"],
        scores,
        _again(folder, prompt_id, deciding)
        if row.get("lazy")
        else decide(folder, prompt_id, deciding),
        spent,
        int((~np.isnan(scores[0])).sum()),
        frozenset(made),
    )


def _again(folder: RunFolder, prompt_id: str, deciding: Deciding) -> Decision:
    """The lazy search repeated on what it was told; another search would want what is not there."""
    scores = records.read_scores(folder, prompt_id)
    rows = folder.rows("variants.jsonl")[prompt_id]
    count = dict.fromkeys(range(scores.shape[1]), 1)
    for variant in rows["variants"]:
        count[variant["candidate"]] += 1

    def told(pairs: list[tuple[int, int]]) -> list[list[float]]:
        answers = []
        for k, place in pairs:
            i = place + deciding.first
            known = bool(~np.isnan(scores[0, k, i]))
            if not known and not (k in rows.get("rewritten", count) and i >= count[k]):
                raise InputError(
                    f"{folder.path} has only the scores that its own rule needed",
                    f"make the rest with: {completing(folder)}",
                )
            answers.append([float(x) for x in scores[:, k, i]])
        return answers

    return drive(deciding.search(scores.shape[1], scores.shape[2]), told, scores.shape[1])

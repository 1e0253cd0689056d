"""Many prompts, stage by stage, into a run folder that can be gone on with."""

from collections.abc import Callable, Sequence

from darc.runs.folder import RunFolder
from darc.runs.questions import Question
from darc.runs.stages import Job, Stages

Report = Callable[[str, int, int], None]


def run(
    folder: RunFolder,
    questions: Sequence[Question],
    job: Job,
    report: Report = lambda stage, done, total: None,
) -> None:
    """Take every question through all stages; what is written already is not done again.

    Turns of one question follow each other: the second is asked after the answer chosen for the
    first. `report(stage, done, total)` counts prompts. What a lazy run left out is made when the
    job is not lazy.
    """
    work = Stages(folder, job)
    total = sum(len(question.turns) for question in questions)
    order: list[str] = []
    for turn in range(max(len(question.turns) for question in questions)):
        asked = [question for question in questions if turn < len(question.turns)]
        for start in range(0, len(asked), job.together):
            prompts = [
                question.prompt(work.answers(question, turn))
                for question in asked[start : start + job.together]
            ]
            report("writing", len(order), total)
            work.write(prompts, lambda done, of: report(f"writing {done}/{of}", len(order), total))
            for prompt in prompts:
                work.advance(prompt, lambda stage: report(stage, len(order), total))
                order.append(prompt.id)
                report("deciding", len(order), total)
    folder.settle(order)
    lazy = any(row.get("lazy") for row in folder.rows("scores.jsonl").values())
    folder.write_manifest({**folder.manifest(), "finished": True, "complete": not lazy})

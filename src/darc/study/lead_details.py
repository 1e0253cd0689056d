"""What only the lead's page shows: texts, comments, answers over time and groups of people."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from darc.study import schema
from darc.study.schema import side_of
from darc.study.settings import StudySettings
from darc.study.store import Store
from darc.web.keys import hash_token

Row = Mapping[Any, Any]

_tasks = schema.tasks
_units = schema.units
_annotators = schema.annotators


@dataclass(frozen=True)
class LeadDetails:
    """Details of a study."""

    #: The time, in seconds since 1970.
    now: float
    #: The times of the valid ratings.
    times: list[float]
    #: By label: the prompt and the responses, in an order that tells nothing of systems.
    texts: dict[str, tuple[str, ...]]
    #: By label: rater and comment.
    comments: Mapping[str, list[tuple[str, str]]]
    #: By rater: how often each answer was given (of pairs: left, tie, right).
    answers: Mapping[str, Counter[Any]]
    #: By question about people: how many gave each answer.
    groups: dict[str, Counter[str]]


def details(store: Store, labels: Sequence[str]) -> LeadDetails:
    """Read the details of a study; O(answers and texts).

    Args:
        store: The study.
        labels: The labels of the items whose texts and comments are shown.

    Returns:
        The details.
    """
    with store.read() as connection:
        shown_items = select(_units).where(_units.c.kind == "item", _units.c.label.in_(labels))
        items = connection.execute(shown_items).mappings().all()
        answered = schema.whole_tasks(_tasks.c.kind == "item", _tasks.c.answered.is_not(None))
        answers = connection.execute(answered.order_by(_tasks.c.answered)).mappings().all()
        present = select(_annotators.c.groups).where(_annotators.c.erased.is_(None))
        group_answers = [row for row in connection.execute(present).scalars() if row]
    return LeadDetails(
        now=store.now(),
        times=[row["answered"] for row in answers if row["valid"]],
        texts={row["label"]: _texts_of(row) for row in items},
        comments=_comments_by_label(items, answers),
        answers=_count_answers(answers, store.config.pairwise),
        groups=_count_groups(group_answers, store.config),
    )


def _texts_of(item: Row) -> tuple[str, ...]:
    prompt = "\n\n".join(text for _, text in item["turns"])
    responses = [text for text in (item["first"], item["second"]) if text]
    # The order of hashes does not depend on which system wrote a response.
    return (prompt, *sorted(responses, key=hash_token))


def _comments_by_label(
    items: Iterable[Row], answers: Iterable[Row]
) -> Mapping[str, list[tuple[str, str]]]:
    labels = {row["id"]: row["label"] for row in items}
    comments: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in answers:
        if row["comment"] and row["unit_id"] in labels:
            comments[labels[row["unit_id"]]].append((row["name"], row["comment"]))
    return comments


def _count_answers(answers: Iterable[Row], pairwise: bool) -> Mapping[str, Counter[Any]]:
    counts: defaultdict[str, Counter[Any]] = defaultdict(Counter)
    for row in answers:
        answer = row["answer"]
        if answer is None:
            continue
        if pairwise:
            answer = side_of(answer, row["flipped"])
        counts[row["name"]][answer] += 1
    return counts


def _count_groups(
    group_answers: Sequence[Mapping[str, str]], config: StudySettings
) -> dict[str, Counter[str]]:
    counts = {}
    for question in config.groups:
        answers = [row.get(question.name) or "not said" for row in group_answers]
        counts[question.name] = Counter(answers)
    return counts

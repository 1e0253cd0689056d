"""What a reward server can do, found out with a handful of short pairs."""

import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from darc.models.remote.address import KEY_ENV, parse_url
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import BackendError, Rejected
from darc.models.remote.server_report import CheckResult, ServerReport, probing_client
from darc.parts.scorers.base import Pair
from darc.parts.scorers.http_forms import (
    FORM_OF_ENDING,
    FORMS,
    Rows,
    ServerForm,
    form_name,
    is_distribution,
)
from darc.types import Message, Prompt

# The bounds of a scorer that names none.
_LOW = -10.0
_HIGH = 10.0
_CAPITAL = Prompt("check", (Message("user", "What is the capital of France?"),))
_EGG = Prompt("check", (Message("user", "How long does a soft-boiled egg take?"),))
_PARIS = "The capital of France is Paris."
_PAIRS: tuple[Pair, ...] = (
    (_CAPITAL, _PARIS),
    (_CAPITAL, f"{_PARIS} It lies on the Seine, and about two million people live in it."),
    (_CAPITAL, "plugh xyzzy qux 7 7 7"),
    (_CAPITAL, "Find out for yourself, you idiot."),
    (_EGG, _PARIS),
    (_EGG, "About six minutes in boiling water."),
)
# Which of the pairs should have a higher score than which.
_BETTER_THAN = ((0, 2), (0, 3), (1, 2), (1, 3), (0, 4), (5, 4))
# Two of the pairs with the same answer to different questions.
_SAME_ANSWER = (0, 4)


async def check_reward(
    url: str, model: str = "", *, form: str = "", key_env: str = KEY_ENV, timeout: float = 60.0
) -> ServerReport:
    """Find out what a reward server makes of a few pairs.

    Args:
        url: The URL at which it gives scores.
        model: The name of the model; empty to leave it to the server.
        form: What the server speaks; empty if the URL tells. See `HttpScorer`.
        key_env: The environment variable with the key.
        timeout: The largest number of seconds for a call.

    Returns:
        What was found out; failures are findings too.
    """
    parts = parse_url(url)
    report = ServerReport(parts.geturl(), model)
    name = form_name(parts.path, form)
    if form:
        report.options["form"] = form
    if model:
        report.options["model"] = model
    async with probing_client(report, key_env, timeout) as client:
        try:
            await _examine(report, client, name)
        except (Rejected, BackendError) as problem:
            report.add_failure("scores", problem)
    return report


async def find_reward(url: str, model: str, *, key_env: str, timeout: float) -> ServerReport | None:
    """Check the first path of a server that gives scores.

    Args:
        url: The URL of the server.
        model: The name of the model; empty to leave it to the server.
        key_env: The environment variable with the key.
        timeout: The largest number of seconds for a call.

    Returns:
        What was found out, or None if no known path gives scores.
    """
    parts = urlsplit(url)
    root = parts._replace(path=parts.path.rstrip("/").removesuffix("/v1")).geturl()
    calls = 0
    for ending in FORM_OF_ENDING:
        report = await check_reward(root + ending, model, key_env=key_env, timeout=timeout)
        calls += report.calls
        if report.kind or report.status is None or report.status >= 500:
            report.calls = calls
            return report
    return None


async def _examine(report: ServerReport, client: AsyncClient, name: str) -> None:
    """Add what the pairs show to a report."""
    form = FORMS[name]
    rows = await _ask(form, client, report.model, _PAIRS)
    report.kind = "reward"
    report.add("scores", f"{len(rows)} pairs answered as {name}")
    if any(len(row) != len(rows[0]) for row in rows):
        report.problem = f"{report.url} gives different numbers of classes"
        report.add("classes", "not always as many", "DARC cannot use it", False)
        return
    label = _check_classes(report, rows)
    scores = [row[label] for row in rows]
    try:
        (squeezed_row,) = await _ask(
            form,
            client,
            report.model,
            _PAIRS[:1],
            use_activation=True,
            activation=True,
            raw_scores=False,
        )
    except (Rejected, BackendError):
        squeezed_row = rows[0]
    _check_raw_scores(report, rows, scores, can_squeeze=not _are_close(squeezed_row, rows[0]))
    _check_spread(report, scores)

    async def check_repeatable() -> CheckResult:
        (row,) = await _ask(form, client, report.model, _PAIRS[:1])
        if _are_close(row, rows[0]):
            return CheckResult("the same pair has the same score")
        meaning = "scores are kept for later runs: use --no-cache"
        return CheckResult("the same pair has another score", meaning, fine=False)

    await report.run_check("repeatable", check_repeatable, "")


async def _ask(
    form: ServerForm, client: AsyncClient, model: str, pairs: Sequence[Pair], **changes: Any
) -> Rows:
    """The rows of pairs, by as few calls as the form allows."""
    if form.batched:
        return await form.ask(client, pairs, model, **changes)
    rows: Rows = []
    for pair in pairs:
        rows += await form.ask(client, [pair], model, **changes)
    return rows


def _check_classes(report: ServerReport, rows: Rows) -> int:
    """The class that ranks the pairs best; the scorer must be told if there are several."""
    class_count = len(rows[0])
    if class_count == 1:
        report.add("classes", "1", "no label is needed")
        return 0
    label = max(range(class_count), key=lambda column: _count_right([row[column] for row in rows]))
    report.options["label"] = str(label)
    meaning = f"class {label} ranks these pairs best: label={label}, unless its names say otherwise"
    report.add("classes", str(class_count), meaning)
    return label


def _check_raw_scores(
    report: ServerReport, rows: Rows, scores: Sequence[float], can_squeeze: bool
) -> None:
    """Whether the numbers are rewards or probabilities.

    `can_squeeze` tells whether the server gave other numbers when asked for squeezed ones.
    """
    if len(rows[0]) > 1 and all(is_distribution(row) for row in rows):
        report.problem = f"{report.url} gives probabilities that sum to 1, not raw scores"
        meaning = "DARC refuses it: start the server without softmax"
        report.add("raw scores", "no: each row sums to 1", meaning, False)
    elif can_squeeze:
        report.add("raw scores", "yes, and squeezed ones when asked")
    elif all(0 < score < 1 for score in scores):
        report.options["low"] = "0"
        report.options["high"] = "1"
        meaning = "large differences look small: low=0,high=1"
        report.add("raw scores", "probably squeezed: all within (0, 1)", meaning, False)
    else:
        report.add("raw scores", "yes, as far as can be seen")


def _check_spread(report: ServerReport, scores: Sequence[float]) -> None:
    """Whether question and answer move the score, how far, and in which direction."""
    lowest = min(scores)
    highest = max(scores)
    if _are_close([lowest], [highest]):
        report.problem = f"{report.url} gives every pair the same score"
        report.add("spread", f"all {lowest:.4g}", "there is nothing to choose by", False)
        return
    meaning = ""
    if lowest < _LOW or highest > _HIGH:
        bound = 2 * math.ceil(max(-lowest, highest))
        report.options["low"] = f"-{bound}"
        report.options["high"] = str(bound)
        meaning = f"beyond -10 to 10 scores are clipped: low=-{bound},high={bound}"
    report.add("spread", f"{lowest:.4g} to {highest:.4g}", meaning)
    first, second = _SAME_ANSWER
    if _are_close([scores[first]], [scores[second]]):
        meaning = "the question may not reach the model"
        report.add("question", "does not move the score", meaning, False)
    else:
        report.add("question", "moves the score")
    _check_direction(report, scores)


def _check_direction(report: ServerReport, scores: Sequence[float]) -> None:
    right = _count_right(scores)
    is_right = 2 * right > len(_BETTER_THAN)
    meaning = "is higher better? DARC assumes it is"
    if is_right:
        meaning = "higher is better"
    result = f"{right} of {len(_BETTER_THAN)} better answers score higher"
    report.add("direction", result, meaning, is_right)


def _count_right(scores: Sequence[float]) -> int:
    return sum(scores[better] > scores[worse] for better, worse in _BETTER_THAN)


def _are_close(left: Sequence[float], right: Sequence[float]) -> bool:
    return len(left) == len(right) and np.allclose(left, right, rtol=1e-4, atol=1e-6)

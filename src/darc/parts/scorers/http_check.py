"""What a reward server can do, found out by a handful of short pairs."""

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
from darc.parts.scorers.http import ENDINGS, FORMS, Rows, form_name, is_distribution
from darc.types import Message, Prompt

LOW, HIGH = -10.0, 10.0


CAPITAL, EGG = (
    Prompt("check", (Message("user", question),))
    for question in ("What is the capital of France?", "How long does a soft-boiled egg take?")
)
PARIS = "The capital of France is Paris."
PAIRS: tuple[Pair, ...] = (
    (CAPITAL, PARIS),
    (CAPITAL, f"{PARIS} It lies on the Seine, and about two million people live in it."),
    (CAPITAL, "plugh xyzzy qux 7 7 7"),
    (CAPITAL, "Find out for yourself, you idiot."),
    (EGG, PARIS),
    (EGG, "About six minutes in boiling water."),
)
# Which of the pairs should have the higher score than which.
BETTER = ((0, 2), (0, 3), (1, 2), (1, 3), (0, 4), (5, 4))


async def check_reward(
    url: str, model: str = "", *, form: str = "", key_env: str = KEY_ENV, timeout: float = 60.0
) -> ServerReport:
    """What the reward server at a URL makes of a few pairs; see `HttpScorer` for `form`."""
    parts = parse_url(url)
    report = ServerReport(parts.geturl(), model)
    name = form_name(parts.path, form)
    report.options |= {key: value for key, value in (("form", form), ("model", model)) if value}
    async with probing_client(report, key_env, timeout) as client:
        try:
            await _examine(report, client, name)
        except (Rejected, BackendError) as problem:
            report.add_failure("scores", problem)
    return report


async def find_reward(url: str, model: str, *, key_env: str, timeout: float) -> ServerReport | None:
    """What is known of the first scoring path below a server; None where it has none."""
    parts = urlsplit(url)
    below = parts._replace(path=parts.path.rstrip("/").removesuffix("/v1")).geturl()
    calls = 0
    for ending in ENDINGS:
        found = await check_reward(below + ending, model, key_env=key_env, timeout=timeout)
        calls += found.calls
        if found.kind or found.status is None or found.status >= 500:
            found.calls = calls
            return found
    return None


async def _examine(report: ServerReport, client: AsyncClient, name: str) -> None:
    form = FORMS[name]

    async def ask(pairs: Sequence[Pair], **changes: Any) -> Rows:
        parts = [pairs] if form.batched else [[pair] for pair in pairs]
        found = [await form.ask(client, part, report.model, **changes) for part in parts]
        return [row for rows in found for row in rows]

    rows = await ask(PAIRS)
    report.kind = "reward"
    report.add("scores", f"{len(rows)} pairs answered as {name}")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        report.problem = f"{report.url} gives different numbers of classes"
        report.add("classes", "not always as many", "DARC cannot use it", False)
        return
    label = _classes(report, rows)
    scores = [row[label] for row in rows]
    try:
        squeezed = await ask(PAIRS[:1], use_activation=True, activation=True, raw_scores=False)
    except (Rejected, BackendError):
        squeezed = rows[:1]
    _rawness(report, rows, scores, changes=not _close(squeezed[0], rows[0]))
    _spread(report, scores)

    async def again() -> CheckResult:
        if _close((await ask(PAIRS[:1]))[0], rows[0]):
            return CheckResult("the same pair has the same score")
        kept = "scores are kept for later runs: use --no-cache"
        return CheckResult("the same pair has another score", kept, fine=False)

    await report.run_check("repeatable", again, "")


def _classes(report: ServerReport, rows: Rows) -> int:
    """The class that ranks the pairs best; the scorer must be told where there are several."""
    width = len(rows[0])
    if width == 1:
        report.add("classes", "1", "no label is needed")
        return 0
    label = max(range(width), key=lambda i: _right([row[i] for row in rows]))
    report.options["label"] = str(label)
    told = f"class {label} ranks these pairs best: label={label}, unless its names say otherwise"
    report.add("classes", str(width), told)
    return label


def _rawness(report: ServerReport, rows: Rows, scores: Sequence[float], changes: bool) -> None:
    """Whether the numbers are rewards or probabilities; `changes` if the server was told to."""
    if len(rows[0]) > 1 and all(is_distribution(row) for row in rows):
        report.problem = f"{report.url} gives probabilities that sum to 1, not raw scores"
        meaning = "DARC refuses it: start the server without softmax"
        report.add("raw scores", "no: each row sums to 1", meaning, False)
    elif all(0 < score < 1 for score in scores) and not changes:
        report.options |= {"low": "0", "high": "1"}
        told = "probably squeezed: all within (0, 1)"
        report.add("raw scores", told, "large differences look small: low=0,high=1", False)
    else:
        told = "yes, and squeezed ones when asked" if changes else "yes, as far as can be seen"
        report.add("raw scores", told)


def _spread(report: ServerReport, scores: Sequence[float]) -> None:
    """Whether question and answer move the score, how far, and in which direction."""
    least, most = min(scores), max(scores)
    if _close([least], [most]):
        report.problem = f"{report.url} gives every pair the same score"
        report.add("spread", f"all {least:.4g}", "there is nothing to choose by", False)
        return
    told = f"{least:.4g} to {most:.4g}"
    meaning, reach = "", f"{2 * math.ceil(max(-least, most)):d}"
    if least < LOW or most > HIGH:
        report.options |= {"low": f"-{reach}", "high": reach}
        meaning = f"beyond -10 to 10 scores are clipped: low=-{reach},high={reach}"
    report.add("spread", told, meaning)
    if _close(scores[:1], scores[4:5]):
        meaning = "the question may not reach the model"
        report.add("question", "does not move the score", meaning, False)
    else:
        report.add("question", "moves the score")
    right = _right(scores)
    fine = 2 * right > len(BETTER)
    meaning = "higher is better" if fine else "is higher better? DARC takes it so"
    told = f"{right} of {len(BETTER)} better answers score higher"
    report.add("direction", told, meaning, fine)


def _right(scores: Sequence[float]) -> int:
    return sum(scores[better] > scores[worse] for better, worse in BETTER)


def _close(left: Sequence[float], right: Sequence[float]) -> bool:
    return len(left) == len(right) and np.allclose(left, right, rtol=1e-4, atol=1e-6)

"""How one request wants its answer chosen."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from darc.engine.deciding import NORMALIZATIONS, RuleSpec, parse_rules
from darc.engine.stopping import Stopping, parse_stop
from darc.errors import DarcError
from darc.gateway.settings import POLICIES, Settings
from darc.types import Prompt
from darc.web.problems import Problem

PREFIX = "darc"
LONGEST_NAME = 80
BUDGET = ("calls", "milliseconds", "upstream_calls", "upstream_tokens")
# Rules that have been found fine need not be tried again.
MOST_FINE = 1000
_FINE: set[tuple[str, str, float, float]] = set()
OWN = frozenset(
    {
        "rule", "k", "n_aug", "include_original", "beta", "gamma", "normalize", "budget", "policy",
        "metadata", "full", "wave", "stop",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """What a choice may cost: texts scored, and milliseconds from the request to the answer.

    `upstream_calls` and `upstream_tokens` are those of all models, retries included.
    """

    calls: int | None = None
    milliseconds: float | None = None
    upstream_calls: int | None = None
    upstream_tokens: int | None = None


@dataclass(frozen=True)
class Method:
    """A rule and its surroundings. `metadata` is "", "short" or "full"."""

    spec: RuleSpec
    k: int
    n_aug: int
    include_original: bool
    normalize: str
    policy: str
    budget: Budget
    metadata: str
    full: bool
    wave: int
    stopping: Stopping | None = None


def split_model(name: str) -> tuple[str, str]:
    """The rule, empty where there is none, and the model of a name such as darc-epsilon/MODEL."""
    head, slash, rest = name.partition("/")
    if not slash or (head != PREFIX and not head.startswith(PREFIX + "-")):
        return "", name
    return head[len(PREFIX) + 1 :], rest


def read_method(given: Any, named: str, settings: Settings) -> Method:
    """The method of a request's `darc` object and the rule in its model's name.

    The object wins over the name, and the name over the settings. Whatever else stands in the
    object is a parameter of the rule. Raises a `Problem` with 400 for what cannot be used.
    """
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise wrong("darc", "is no object")
    text = given.get("rule") or named or settings.rule
    if not isinstance(text, str) or len(text) > 10 * LONGEST_NAME:
        raise wrong("darc.rule", "is no name of a rule")
    parameters = {key: value for key, value in given.items() if key not in OWN}
    for key, value in parameters.items():
        plain = value is None or isinstance(value, bool | int | float | str)
        if not plain or (isinstance(value, float) and not math.isfinite(value)):
            raise wrong(f"darc.{key[:LONGEST_NAME]}", "is no number, text or truth value")
    beta = _number(given, "beta", settings.beta)
    gamma = _number(given, "gamma", settings.gamma)
    try:
        spec = parse_rules([text], parameters, beta, gamma)[0].calibrated(settings.calibrations)
    except DarcError as problem:
        raise Problem(400, str(problem), code="invalid_darc", param="darc") from None
    if not all(isinstance(x, int | float) and x >= 0 for x in (spec.beta, spec.gamma)):
        raise wrong("darc.beta", "and gamma must be 0 or more")
    rated = settings.parts.panel is not None
    usual = 0 if rated else settings.parts.n_aug
    n_aug = _whole(given, "n_aug", usual, 0, settings.max_n_aug, "max_n_aug")
    original = _truth(given, "include_original", settings.parts.include_original)
    original = original or rated
    if not original and n_aug == 0:
        raise wrong("darc.n_aug", "must be 1 or more without the original")
    if not original and spec.rule.parameters.get("reward") == "original":
        raise wrong("darc.reward", "cannot be original without the original")
    return Method(
        spec=spec,
        k=_whole(given, "k", settings.k, 1, settings.max_k, "max_k"),
        n_aug=n_aug,
        include_original=original,
        normalize=_one_of(given, "normalize", settings.normalize, NORMALIZATIONS),
        policy=_one_of(given, "policy", settings.policy, POLICIES),
        budget=_budget(given.get("budget"), settings),
        metadata=_metadata(given.get("metadata")),
        full=_truth(given, "full"),
        wave=_whole(given, "wave", settings.wave, 1, 10_000),
        stopping=_stopping(given.get("stop"), settings),
    )


def check_rule(method: Method) -> None:
    """Refuse parameters that the rule itself refuses, before anything is spent."""
    import numpy as np

    from darc.selection.decision import decide
    from darc.selection.pools import Pools

    spec = method.spec
    key = (spec.rule.name, repr(spec.rule.parameters), spec.beta, spec.gamma)
    if key in _FINE:
        return
    side = {
        "log_likelihood": np.zeros((1, 2)),
        "tokens": np.ones((1, 2)),
        "atypicality": np.zeros((1, 2)),
        "similarity": np.ones((1, 2, 2)),
        "dropout": np.zeros((1, 2, 2)),
    }
    scores = np.array([[[[1.0, 2.0], [2.0, 2.5]]]])
    needed = {name: side[name] for name in spec.rule.required() if name in side}
    try:
        pools = Pools(
            scores, spec.beta, spec.gamma, drawn=np.zeros(1, dtype=np.uint64), side=needed
        )
        decide(spec.rule, pools)
        if len(_FINE) >= MOST_FINE:
            _FINE.clear()
        _FINE.add(key)
    except (DarcError, ValueError, TypeError, ArithmeticError) as problem:
        raise Problem(400, str(problem), code="invalid_darc", param="darc") from None


def check_work(
    method: Method, prompt: Prompt, k: int, settings: Settings, texts: Sequence[str] = ()
) -> None:
    """Refuse what would be too long to choose among.

    The work is the characters that are read: each of the `texts`, where they are known yet, once
    and for each of its rewrites, and the prompt once a wave of the k candidates and theirs.
    """
    longest = settings.max_candidate_characters
    for place, text in enumerate(texts):
        if len(text) > longest:
            what = f"is longer than {longest} characters (max_candidate_characters)"
            raise wrong(f"candidates.{place}", what)
    samples = samples_of(settings, method.n_aug)
    waves = -(-k * samples // method.wave)
    asked = sum(len(message.content) for message in prompt.messages)
    work = samples * sum(map(len, texts)) + waves * asked
    if work > settings.max_work:
        message = (
            f"choosing would read {work} characters, more than {settings.max_work} (max_work): "
            "send less text, or ask for a smaller darc.k or darc.n_aug"
        )
        raise Problem(400, message, code="max_work", param="darc")


def samples_of(settings: Settings, n_aug: int) -> int:
    """How often each candidate is read: by all raters, or with each of its rewrites."""
    panel = settings.parts.panel
    return n_aug + 1 if panel is None else len(panel) * panel.repeats


def rewrites_within(settings: Settings, texts: Sequence[str], n_aug: int) -> int | None:
    """How many rewrites each of the texts may have, None where they are too long to be scored."""
    if max(map(len, texts)) > settings.max_candidate_characters:
        return None
    times = settings.max_work // max(1, sum(map(len, texts)))
    if settings.parts.panel is not None:
        return n_aug if times >= samples_of(settings, n_aug) else None
    return min(n_aug, times - 1) if times else None


def wrong(param: str, what: str) -> Problem:
    """A 400 about one field."""
    return Problem(400, f"{param} {what}", code="invalid_value", param=param)


def _number(given: Mapping[str, Any], name: str, default: float) -> float:
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise wrong(f"darc.{name}", "must be a number of 0 or more")
    return float(value)


def whole(value: Any, param: str, least: int, most: int, limit: str = "") -> int | None:
    """A whole number within bounds, written as 2 or as 2.0, or None; anything else is a 400."""
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or value != int(value) or not least <= value <= most:
        by = f" ({limit})" if limit else ""
        raise wrong(param, f"must be a whole number from {least} to {most}{by}")
    return int(value)


def _whole(
    given: Mapping[str, Any], name: str, default: int, least: int, most: int, limit: str = ""
) -> int:
    value = whole(given.get(name), f"darc.{name}", least, most, limit)
    return default if value is None else value


def _one_of(given: Mapping[str, Any], name: str, default: str, known: tuple[str, ...]) -> str:
    value = given.get(name)
    if value is None:
        return default
    if value not in known:
        raise wrong(f"darc.{name}", f"must be one of {', '.join(known)}")
    return str(value)


def _truth(given: Mapping[str, Any], name: str, default: bool = False) -> bool:
    value = given.get(name)
    if value is not None and not isinstance(value, bool):
        raise wrong(f"darc.{name}", "must be true or false")
    return default if value is None else value


def _metadata(value: Any) -> str:
    if value in (None, False):
        return ""
    if value is True or value == "short":
        return "short"
    if value == "full":
        return "full"
    raise wrong("darc.metadata", "must be true, false or full")


def _stopping(value: Any, settings: Settings) -> Stopping | None:
    text = settings.stop if value is None else value
    if not isinstance(text, str):
        raise wrong("darc.stop", "is no text")
    try:
        return parse_stop(text)
    except DarcError as problem:
        raise wrong("darc.stop", f"cannot be used: {problem}") from None


def _budget(value: Any, settings: Settings) -> Budget:
    """A request's budget; of what the server limits too, the smaller one, 0 being no limit."""
    if value is None:
        value = {}
    if not isinstance(value, Mapping):
        raise wrong("darc.budget", "is no object")
    for name in value:
        if name not in BUDGET:
            raise wrong("darc.budget", f"has {', '.join(BUDGET)} only")
    for name, number in value.items():
        fine = isinstance(number, int | float) and not isinstance(number, bool)
        if number is not None and not (fine and 0 <= number < 1e12):
            raise wrong(f"darc.budget.{name}", "must be a number of 0 or more")
    calls, milliseconds = value.get("calls"), value.get("milliseconds")

    def within(name: str, most: int) -> int | None:
        return min((limit for limit in (int(value.get(name) or 0), most) if limit), default=None)

    return Budget(
        None if calls is None else int(calls),
        None if milliseconds is None else float(milliseconds),
        within("upstream_calls", settings.max_upstream_calls),
        within("upstream_tokens", settings.max_upstream_tokens),
    )

"""The options that `select`, `select_batch` and the lazy search have in common."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ParamSpec, TypeVar

from darc.decide.standards import NO_STANDARDS, Standards, as_standards
from darc.decide.statistics.normalization import Normalization

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_STANDARDS = ("scale", "threshold", "no_rating_below", "poor_below")
_PLAIN = ("beta", "gamma", "normalize", "min_samples", "sample")


@dataclass(frozen=True)
class SelectOptions:
    """How samples are compared, whatever the rule."""

    #: Risk aversion of the entropic value.
    beta: float = 1.0
    #: Hedge over scorers: the weight of the soft minimum.
    gamma: float = 1.0
    #: "prompt", "none" or the scorers' (locations, scales). None means "prompt" for several scorers
    #: and "none" for one.
    normalize: Normalization = None
    #: Candidates with fewer samples are left out where another has as many. None means half of the
    #: pool's largest count, and no limit for rules that allow for few samples themselves.
    min_samples: int | None = None
    #: What one sample is: "rater" for people's ratings and panels ("sample" is taken so, too), or
    #: "rewrite", which tells of wording and not of people.
    sample: str = "sample"
    #: What counts as a good rating.
    standards: Standards = NO_STANDARDS

    @classmethod
    def from_keywords(cls, keywords: Mapping[str, Any]) -> tuple["SelectOptions", dict[str, Any]]:
        """Separate the options from a user's other keywords.

        Args:
            keywords: Options by name, where the standards are `scale`, `threshold`,
                `no_rating_below` and `poor_below`, among other keywords.

        Returns:
            The options, and the other keywords.
        """
        plain = {name: keywords[name] for name in _PLAIN if name in keywords}
        standards = {name: keywords[name] for name in _STANDARDS if name in keywords}
        options = cls(**plain, standards=as_standards(**standards))
        others = {
            name: value
            for name, value in keywords.items()
            if name not in plain and name not in standards
        }
        return options, others


def show_options(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let `help` and completion show the options that a function takes as other keywords.

    Args:
        function: A function whose last parameter, `**keywords`, takes the options.

    Returns:
        The function itself.
    """
    signature = inspect.signature(function)
    *parameters, keywords = signature.parameters.values()
    defaults = {field.name: field.default for field in fields(SelectOptions)}
    defaults |= {field.name: field.default for field in fields(Standards)}
    for name in (*_PLAIN, *_STANDARDS):
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name])
        )
    full_signature = signature.replace(parameters=[*parameters, keywords])
    function.__signature__ = full_signature  # type: ignore[attr-defined]
    return function

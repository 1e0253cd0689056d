"""What the signature and the docstring of a function say to users."""

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=256)
def keywords_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only parameters of a function, and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is parameter.KEYWORD_ONLY
    }


def summary_of(function: Callable[..., Any]) -> str:
    """The first line of a docstring."""
    docstring = inspect.getdoc(function) or ""
    return docstring.split("\n", 1)[0]

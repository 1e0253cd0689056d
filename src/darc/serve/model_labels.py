"""The names of models that metrics have labels for, so that clients cannot make labels."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable

from darc.errors import DarcError
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

#: The label of requests that name no model.
DEFAULT = "default"
#: The label of all models that are neither configured nor listed.
OTHER = "other"
_MAX_NAMES = 100


class ModelLabels:
    """The models that the operator has configured, or that the backend lists."""

    def __init__(self, configured: Iterable[str]) -> None:
        """Know the configured models; empty names are left out."""
        self._names = {name for name in configured if name}

    def add(self, names: Iterable[str]) -> None:
        """Add models that the backend lists; beyond a hundred models there are no more labels."""
        for name in names:
            if len(self._names) < _MAX_NAMES:
                self._names.add(name)

    def label(self, model: str) -> str:
        """Return the label of a model that a request names."""
        if not model:
            return DEFAULT
        if model in self._names:
            return model
        return OTHER


async def keep_listed(
    labels: ModelLabels, list_names: Callable[[], Awaitable[Iterable[str]]], seconds: float
) -> None:
    """Ask the backend for its models again and again.

    Args:
        labels: What is to know them.
        list_names: Returns the names of the backend's models.
        seconds: How long to wait in between.
    """
    while True:
        try:
            labels.add(await list_names())
        except (Problem, DarcError) as error:
            logger.debug("the backend does not list its models: %s", error)
        await asyncio.sleep(seconds)

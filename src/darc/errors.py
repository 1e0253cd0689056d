"""Every exception that DARC raises on purpose.

    DarcError
    ├── InputError         what the caller gave cannot be used (also a ValueError)
    │   ├── TableError     a place in a file
    │   └── UnknownName    there is no such rule, parameter or column; names the nearest
    └── MissingExtra       an optional dependency is not installed (also an ImportError)

Each has a message (what is wrong, and where) and a hint (what to do). `str` joins them into one
sentence. Packages have further kinds: `darc.engine.failures` and `darc.models.remote.errors`.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

DISTRIBUTION = "darc-decoding"


class DarcError(Exception):
    """A failure.

    Args:
        message: What is wrong, and where.
        hint: What to do about it.
    """

    #: The exit code of a command that fails with this error.
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        return f"{self.message}; {self.hint}"


class InputError(DarcError, ValueError):
    """What the caller gave cannot be used."""

    exit_code = 2


class TableError(InputError):
    """A file cannot be used.

    Args:
        source: The name of the file.
        message: What is wrong with it.
        hint: What to do about it.
        line: The line at fault, if there is one.
    """

    def __init__(self, source: str, message: str, hint: str = "", line: int | None = None) -> None:
        place = source
        if line is not None:
            place = f"{source}, line {line}"
        super().__init__(f"{place}: {message}", hint)
        self.source = source
        self.line = line


class UnknownName(InputError):
    """There is no such name; the hint gives the nearest one, or all of them.

    Args:
        kind: What the name is of, such as "rule".
        name: The unknown name.
        known: The names that there are.
        where: What follows the name in the message.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str = "") -> None:
        super().__init__(f"unknown {kind} {name!r}{where}", nearest(name, sorted(known)))
        self.name = name


class MissingExtra(DarcError, ImportError):
    """An optional dependency is not installed; the hint is the command that installs it.

    Args:
        purpose: What needs it.
        extra: The name of the extra.
    """

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the {extra!r} extra",
            f"install it with: pip install '{installable(extra)}'",
        )
        self.extra = extra


@contextmanager
def extra_needed(purpose: str, extra: str) -> Iterator[None]:
    """Import optional dependencies inside the block.

    Args:
        purpose: What needs them.
        extra: The extra that installs them.

    Raises:
        MissingExtra: If one is not installed.
    """
    try:
        yield
    except ImportError:
        raise MissingExtra(purpose, extra) from None


def installable(extra: str) -> str:
    """What to tell pip for an extra.

    Returns:
        The place that DARC was installed from, such as a clone, or else its name on the package
        index.
    """
    # Imported here because every command loads this module, and few need these.
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    requirement = f"{DISTRIBUTION}[{extra}]"
    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return requirement
    url = str(origin.get("url", ""))
    if "vcs_info" in origin:
        return f"{requirement} @ git+{url}"
    if url:
        return f"{url.removeprefix('file://')}[{extra}]"
    return requirement


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that offers the nearest known name, or lists them all."""
    names_by_lower_case = {known_name.lower(): known_name for known_name in known}
    matches = difflib.get_close_matches(name.lower(), names_by_lower_case, n=1, cutoff=0.6)
    if matches:
        return f"did you mean {names_by_lower_case[matches[0]]!r}?"
    if not names_by_lower_case:
        return ""
    return f"known: {', '.join(names_by_lower_case.values())}"

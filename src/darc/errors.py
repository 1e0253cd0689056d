"""Every exception that DARC raises on purpose.

    DarcError
    ├── InputError         what the caller gave cannot be used (also a ValueError)
    │   ├── TableError     a place in a file
    │   └── UnknownName    no such rule, parameter or column; names the nearest
    └── MissingExtra       an optional dependency is not installed (also an ImportError)

Each carries a message (what and where) and a hint (what to do); `str` joins them into one sentence.
"""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

DISTRIBUTION = "darc-decoding"


class DarcError(Exception):
    """A failure with a message (what, where) and a hint (what to do)."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class InputError(DarcError, ValueError):
    """The caller's input cannot be used."""

    exit_code = 2


class TableError(InputError):
    """A file cannot be used; names it and, where there is one, the line."""

    def __init__(self, source: str, message: str, hint: str = "", line: int | None = None) -> None:
        place = source if line is None else f"{source}, line {line}"
        super().__init__(f"{place}: {message}", hint)
        self.source = source
        self.line = line


class UnknownName(InputError):
    """There is no such name; the hint gives the nearest one, or all of them."""

    def __init__(self, kind: str, name: str, known: Iterable[str], where: str = "") -> None:
        names = sorted(known)
        super().__init__(f"unknown {kind} {name!r}{where}", nearest(name, names))
        self.name = name


class MissingExtra(DarcError, ImportError):
    """An optional dependency is absent; the hint is the exact install command."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the {extra!r} extra",
            f"install it with: pip install '{installable(extra)}'",
        )
        self.extra = extra


@contextmanager
def extra_needed(purpose: str, extra: str) -> Iterator[None]:
    """Imports that an extra brings: where one fails, the error says how to install it."""
    try:
        yield
    except ImportError:
        raise MissingExtra(purpose, extra) from None


def installable(extra: str) -> str:
    """What to tell pip for an extra: the place that DARC was installed from, else its name.

    Before a release there is no distribution of that name, and a clone is what people have.
    """
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    named = f"{DISTRIBUTION}[{extra}]"
    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return named
    address = str(origin.get("url", ""))
    if "vcs_info" in origin:
        return f"{named} @ git+{address}"
    return f"{address.removeprefix('file://')}[{extra}]" if address else named


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that offers the nearest known name, or lists them all."""
    names = list(known)
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in names], n=1, cutoff=0.6)
    if close:
        match = next(n for n in names if n.lower() == close[0])
        return f"did you mean {match!r}?"
    return f"known: {', '.join(names)}" if names else ""

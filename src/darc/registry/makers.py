"""Generators, rewriters and scorers as users write them: NAME[:ARGUMENT][,KEY=VALUE...]."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from darc.errors import InputError, UnknownName
from darc.registry.names import Registry
from darc.registry.pairs import parse_value

Made = TypeVar("Made", bound=Callable[..., Any])

_OPTION = re.compile(r",\s*([a-z][a-z0-9_]*)\s*=\s*([^,]*)\Z")


@dataclass(frozen=True)
class Maker:
    """Makes a generator, rewriter or scorer.

    `make` takes what follows the name's colon, described by `argument` ("MODEL@URL", in brackets
    where it may be left out, empty where there is none), and its keyword-only parameters.
    """

    name: str
    make: Callable[..., Any]
    argument: str = ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (inspect.getdoc(self.make) or "").split("\n", 1)[0]

    @property
    def form(self) -> str:
        """How a user writes it."""
        if self.argument.startswith("["):
            return f"{self.name}[:{self.argument[1:]}"
        return f"{self.name}:{self.argument}" if self.argument else self.name

    @property
    def options(self) -> dict[str, Any]:
        """The options and their defaults."""
        signature = inspect.signature(self.make).parameters.values()
        return {p.name: p.default for p in signature if p.kind is p.KEYWORD_ONLY}


@dataclass(frozen=True)
class Spec:
    """A name, what follows its colon, and options, as they were written."""

    name: str
    argument: str
    options: dict[str, str]


def parse_spec(text: str) -> Spec:
    """The parts of "NAME[:ARGUMENT][,KEY=VALUE...]"; the argument may hold commas and colons."""
    options: dict[str, str] = {}
    rest = text.strip()
    while found := _OPTION.search(rest):
        options[found[1]] = found[2].strip()
        rest = rest[: found.start()]
    name, _, argument = rest.partition(":")
    return Spec(name.strip(), argument.strip(), dict(reversed(options.items())))


class Makers(Registry[Maker]):
    """Makers of one kind by name."""

    def __init__(self, kind: str, group: str) -> None:
        super().__init__(kind, group, Maker)

    def register(self, name: str, argument: str = "") -> Callable[[Made], Made]:
        """Decorator that enters a class or function, and leaves it as it is."""

        def enter(make: Made) -> Made:
            self.add(name, Maker(name, make, argument))
            return make

        return enter

    def make(self, text: str) -> Any:
        """What a text such as "judge:MODEL@URL,passes=2" stands for."""
        spec = parse_spec(text)
        maker = self.get(spec.name)
        where = f" for {self.kind} {spec.name!r}"
        if spec.argument and not maker.argument:
            raise InputError(f"{self.kind} {spec.name!r} takes no argument", f"write {maker.form}")
        if not spec.argument and maker.argument and not maker.argument.startswith("["):
            raise InputError(f"{self.kind} {text!r} is not complete", f"write {maker.form}")
        known = maker.options
        for name in spec.options:
            if name not in known:
                raise UnknownName("option", name, known, where)
        options = {
            name: _converted(name, value, known[name], where)
            for name, value in spec.options.items()
        }
        return maker.make(*([spec.argument] if spec.argument else []), **options)

    def _accept(self, name: str, loaded: Any) -> None:
        if not isinstance(loaded, Maker) and callable(loaded):
            loaded = Maker(name, loaded)
        super()._accept(name, loaded)


def _converted(name: str, text: str, default: Any, where: str) -> Any:
    """An option's value, of its default's type."""
    value = parse_value(text)
    if isinstance(default, str):
        return text
    whole = isinstance(value, float) and value.is_integer()
    if isinstance(default, bool):
        fine = isinstance(value, bool)
    elif isinstance(default, int):
        fine, value = whole, int(value) if whole else value
    elif isinstance(default, float):
        fine = isinstance(value, float)
    else:
        fine = True
    if not fine:
        raise InputError(f"{name}={text}{where} cannot be used", f"such as {name}={default}")
    return value

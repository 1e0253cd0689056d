"""Registries of parts by name, in the tree or in other packages, and the specs users write."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from darc.errors import InputError, UnknownName

Item = TypeVar("Item")
Made = TypeVar("Made", bound=Callable[..., Any])

_OPTION = re.compile(r",\s*([a-z][a-z0-9_]*)\s*=\s*([^,]*)\Z")


class Registry(Generic[Item]):
    """Items of one kind by name; entry points are read when a name is unknown or all are listed.

    An extension is one decorated function or class. In another package it is found through an entry
    point of the registry's group; one that cannot be loaded is skipped with a warning. `aliases`
    are other names that users know items by, in any case.
    """

    def __init__(
        self, kind: str, group: str, expected: type[Item], aliases: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self.group = group
        self._expected = expected
        self._aliases = aliases or {}
        self._items: dict[str, Item] = {}
        self._loaded = False

    def add(self, name: str, item: Item) -> Item:
        """Register an item; a name that is taken by another item is refused."""
        if self._items.setdefault(name, item) is not item:
            raise ValueError(f"there is already a {self.kind} named {name!r}")
        return item

    def get(self, name: str) -> Item:
        """The item of this name; raises `UnknownName` with the nearest one."""
        name = self._aliases.get(name.lower(), name)
        if name not in self._items:
            self._load()
        if name not in self._items:
            raise UnknownName(self.kind, name, self._items)
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._items))

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        for point in entry_points(group=self.group):
            try:
                # Its decorator may have registered it already.
                loaded = self._item(point.name, point.load())
                if not isinstance(loaded, self._expected):
                    raise TypeError(f"it is no {self._expected.__name__}")
                self._items.setdefault(point.name, loaded)
            except Exception as problem:
                warnings.warn(
                    f"{self.kind} {point.name!r} of {point.value} was skipped: {problem}",
                    RuntimeWarning,
                    stacklevel=3,
                )

    def _item(self, name: str, loaded: Any) -> Any:
        """The item that an entry point's object is."""
        return loaded


def parse_value(text: str) -> Any:
    """A parameter's value: a number, true or false, none, or the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text


def split_pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """The pairs of texts such as "key=value"."""
    result = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            raise InputError(f"{option} {text!r} is no KEY=VALUE", "write it without spaces")
        result[key] = value
    return result


def parse_pairs(texts: Sequence[str], option: str) -> dict[str, Any]:
    """The pairs of texts such as "key=value", with the values parsed."""
    return {key: parse_value(value) for key, value in split_pairs(texts, option).items()}


@lru_cache(maxsize=256)
def keywords_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only parameters of a function, and their defaults."""
    signature = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in signature if p.kind is p.KEYWORD_ONLY}


def summary_of(function: Callable[..., Any]) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(function) or "").split("\n", 1)[0]


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
        return summary_of(self.make)

    @property
    def form(self) -> str:
        """How a user writes it."""
        if self.argument.startswith("["):
            return f"{self.name}[:{self.argument[1:]}"
        return f"{self.name}:{self.argument}" if self.argument else self.name

    @property
    def options(self) -> dict[str, Any]:
        """The options and their defaults."""
        return keywords_of(self.make)


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
        known, options = maker.options, {}
        for name, value in spec.options.items():
            if name not in known:
                raise UnknownName("option", name, known, where)
            options[name] = _converted(name, value, known[name], where)
        return maker.make(*([spec.argument] if spec.argument else []), **options)

    def _item(self, name: str, loaded: Any) -> Any:
        return loaded if isinstance(loaded, Maker) or not callable(loaded) else Maker(name, loaded)


def _converted(name: str, text: str, default: Any, where: str) -> Any:
    """An option's value, of its default's type."""
    from pydantic import TypeAdapter, ValidationError

    if not isinstance(default, str | bool | int | float):
        return parse_value(text)
    word = isinstance(default, bool)
    try:
        value = parse_value(text) if word else text
        return TypeAdapter(type(default)).validate_python(value, strict=word)
    except ValidationError:
        told = f"{name}={text}{where} cannot be used"
        raise InputError(told, f"such as {name}={default}") from None


generators = Makers("generator", "darc.generators")
rewriters = Makers("rewriter", "darc.rewriters")
scorers = Makers("scorer", "darc.scorers")

generator = generators.register
rewriter = rewriters.register
scorer = scorers.register

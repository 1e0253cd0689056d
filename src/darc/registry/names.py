"""Items by name, here or in other packages, the texts that users write, what parts declare."""

import asyncio
import inspect
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from darc.errors import InputError, UnknownName

Item = TypeVar("Item")


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
                self._accept(point.name, point.load())
            except Exception as problem:
                warnings.warn(
                    f"{self.kind} {point.name!r} of {point.value} was skipped: {problem}",
                    RuntimeWarning,
                    stacklevel=3,
                )

    def _accept(self, name: str, loaded: Any) -> None:
        """Take what an entry point names; its decorator may have registered it already."""
        if name in self._items:
            return
        if not isinstance(loaded, self._expected):
            raise TypeError(f"it is no {self._expected.__name__}")
        self._items[name] = loaded


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


class Closing(ABC):
    """Closes itself at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Capabilities(Protocol):
    """What every part has once it is `declared`, and what holds where it says nothing.

    - `version`, "": what results depend on besides the input; empty, and they are not kept
    - `licence`, "": of the weights
    - `parallel`, 1: how many calls may run at a time, or answers a generator writes at once
    - `remote`, False: it waits for a server; score_async, generate_async, rewrite_async are awaited
    - `batch_size`, 16: texts a call; 1 where it makes a call a text anyway
    - `in_process`, False: quick to load and busy with one processor; worker processes have one each
    - `criteria`, (): names of the numbers a scorer gives each text, where they are more than one
    - `samples`, None: stochastic passes of a scorer, samples(pairs) -> (n, T)
    - `max_tokens`, None: a generator's own limit of an answer, 320 if None
    - `continues`, False: a generator heeds `Settings.first`, and so can write candidates bit by bit
    - `close` and `aclose`: give back what is held, the latter in the event loop that used it
    """

    licence: str
    parallel: int
    remote: bool
    batch_size: int
    in_process: bool
    criteria: tuple[str, ...]
    samples: Any
    max_tokens: int | None
    continues: bool

    def close(self) -> None:
        """Give back what is held."""
        ...

    async def aclose(self) -> None:
        """Give back what is held, in the event loop that used it."""
        ...


def _close(self: Any) -> None:
    """Nothing is held."""


async def _aclose(self: Any) -> None:
    # In a thread: a model that is busy may take its time, and nothing else need wait for it.
    try:
        await asyncio.to_thread(self.close)
    except RuntimeError:  # as the interpreter exits no thread can be had
        self.close()


async def _score_async(self: Any, pairs: Any) -> Any:
    return await asyncio.to_thread(self.score, pairs)


async def _generate_async(self: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(self.generate, *arguments)


async def _rewrite_async(self: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(self.rewrite, *arguments)


DEFAULTS: dict[str, Any] = {
    "version": "",
    "licence": "",
    "parallel": 1,
    "remote": False,
    "batch_size": 16,
    "in_process": False,
    "criteria": (),
    "samples": None,
    "max_tokens": None,
    "continues": False,
    "close": _close,
    "aclose": _aclose,
}
ASYNCHRONOUS = {
    "score": ("score_async", _score_async),
    "generate": ("generate_async", _generate_async),
    "rewrite": ("rewrite_async", _rewrite_async),
}


def declared(part: Any) -> Any:
    """The part, whose class now has every capability that it did not declare, by default."""
    kind = type(part)
    for name, default in DEFAULTS.items():
        if not hasattr(part, name):
            setattr(kind, name, default)
    for method, (name, default) in ASYNCHRONOUS.items():
        if hasattr(part, method) and not hasattr(part, name):
            setattr(kind, name, default)
    return part

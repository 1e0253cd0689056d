"""Names for rules, generators, rewriters and scorers, in the tree or in other packages.

Also the texts that users write for them, and what they declare about themselves.
"""

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Generic, Protocol, Self, TypeVar

from darc.errors import InputError, UnknownName
from darc.selection.rule import Choice, Rule, keywords_of, summary_of

Item = TypeVar("Item")
Made = TypeVar("Made", bound=Callable[..., Any])

# What decides where nobody names a rule.
DEFAULT_RULE = "auto"
BEST_OF_K = dict.fromkeys(("best-of-k", "best-of-n", "bok", "bon"), "mean")

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


class Closing(ABC):
    """Closes itself at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Capabilities(Protocol):
    """What scorers, rewriters and generators declare about themselves, and what holds otherwise.

    `version` is what results depend on besides the input (empty, and they are not kept), `licence`
    that of the weights; `parallel` is how many calls may run at a time, or answers a generator
    writes at once; what is `remote` waits for a server, and its score_async, generate_async or
    rewrite_async is awaited; `batch_size` is texts a call, 1 where it makes a call a text anyway;
    what is `in_process` is quick to load and busy with one processor, and worker processes have
    their own. `criteria` names the numbers a scorer gives each text, where they are more than one,
    and `samples` (pairs) -> (n, T) are its stochastic passes; `embeddings` names those that it
    rests on. `max_tokens` is a generator's own
    limit of an answer, 320 if None; one that `continues` heeds `Settings.first`, and so can write
    candidates bit by bit.
    """

    licence: str = ""
    parallel: int = 1
    remote: bool = False
    batch_size: int = 16
    in_process: bool = False
    criteria: tuple[str, ...] = ()
    samples: Any = None
    embeddings: str = ""
    max_tokens: int | None = None
    continues: bool = False

    def close(self) -> None:
        """Give back what is held."""

    async def aclose(self) -> None:
        """Give back what is held, in the event loop that used it."""
        from asyncio import to_thread

        # In a thread: a model that is busy may take its time, and nothing else need wait for it.
        try:
            await to_thread(self.close)
        except RuntimeError:  # as the interpreter exits no thread can be had
            self.close()


def declared(part: Any) -> Any:
    """The part, whose class now has every capability that it did not declare, by default."""
    for name in ("version", *Capabilities.__annotations__, "close", "aclose"):
        if not hasattr(part, name):
            setattr(type(part), name, getattr(Capabilities, name, ""))
    for method in ("score", "generate", "rewrite"):
        if hasattr(part, method) and not hasattr(part, f"{method}_async"):
            setattr(type(part), f"{method}_async", _in_thread(method))
    return part


def _in_thread(method: str) -> Callable[..., Any]:
    async def call(self: Any, *arguments: Any) -> Any:
        from asyncio import to_thread

        return await to_thread(getattr(self, method), *arguments)

    return call


rules: Registry[Rule] = Registry("rule", "darc.rules", Rule, BEST_OF_K)
generators = Makers("generator", "darc.generators")
rewriters = Makers("rewriter", "darc.rewriters")
scorers = Makers("scorer", "darc.scorers")

generator = generators.register
rewriter = rewriters.register
scorer = scorers.register


def rule(name: str, **traits: Any) -> Callable[[Callable[..., Choice]], Rule]:
    """Decorator that makes and registers a `Rule` from a function; traits are its fields."""

    def decorate(function: Callable[..., Choice]) -> Rule:
        return rules.add(name, Rule(name, function, **traits))

    return decorate

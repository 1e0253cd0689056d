"""Makers of generators, rewriters and scorers, by the names that users write."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from darc.errors import InputError, UnknownName
from darc.registry.registry import Registry
from darc.registry.signatures import keywords_of, summary_of
from darc.registry.specs import Spec, parse_spec, parse_value

Part = TypeVar("Part", bound=Callable[..., Any])


@dataclass(frozen=True)
class Maker:
    """Makes a generator, rewriter or scorer."""

    name: str
    #: Takes what follows the colon of the name, and keyword-only parameters.
    make: Callable[..., Any]
    #: What follows the colon, such as "MODEL@URL"; in brackets if it may be left out, or empty.
    argument: str = ""

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return summary_of(self.make)

    @property
    def form(self) -> str:
        """How a user writes it."""
        if not self.argument:
            return self.name
        if self.argument.startswith("["):
            return f"{self.name}[:{self.argument[1:]}"
        return f"{self.name}:{self.argument}"

    @property
    def needs_argument(self) -> bool:
        """Whether something must follow the colon."""
        return bool(self.argument) and not self.argument.startswith("[")

    @property
    def options(self) -> dict[str, Any]:
        """The options and their defaults."""
        return keywords_of(self.make)


class Makers(Registry[Maker]):
    """Makers of one kind by name."""

    def __init__(self, kind: str, group: str) -> None:
        super().__init__(kind, group, Maker)

    def register(self, name: str, argument: str = "") -> Callable[[Part], Part]:
        """Make a decorator that registers a class or function, and leaves it as it is.

        Args:
            name: The name that users write.
            argument: What follows the colon of the name, see `Maker.argument`.

        Returns:
            The decorator.
        """

        def register_part(make: Part) -> Part:
            self.add(name, Maker(name, make, argument))
            return make

        return register_part

    def make(self, text: str) -> Any:
        """Make what a text such as "judge:MODEL@URL,passes=2" stands for.

        Args:
            text: The name, an argument after a colon, and options.

        Raises:
            UnknownName: If there is no such name or option.
            InputError: If the argument is missing or too much, or an option has a wrong value.
        """
        spec = parse_spec(text)
        maker = self.get(spec.name)
        if spec.argument and not maker.argument:
            raise InputError(f"{self.kind} {spec.name!r} takes no argument", f"write {maker.form}")
        if not spec.argument and maker.needs_argument:
            raise InputError(f"{self.kind} {text!r} is not complete", f"write {maker.form}")
        options = self._options(spec, maker)
        if spec.argument:
            return maker.make(spec.argument, **options)
        return maker.make(**options)

    def _options(self, spec: Spec, maker: Maker) -> dict[str, Any]:
        """The options of a spec, as values of the types that they have by default."""
        where = f" for {self.kind} {spec.name!r}"
        options: dict[str, Any] = {}
        for name, text in spec.options.items():
            if name not in maker.options:
                raise UnknownName("option", name, maker.options, where)
            options[name] = _option_value(name, text, maker.options[name], where)
        return options

    def _as_item(self, name: str, loaded: Any) -> Any:
        if callable(loaded) and not isinstance(loaded, Maker):
            return Maker(name, loaded)
        return loaded


def _option_value(name: str, text: str, default: Any, where: str) -> Any:
    """The value of an option, of the type of its default."""
    from pydantic import TypeAdapter, ValidationError

    if not isinstance(default, str | bool | int | float):
        return parse_value(text)
    is_flag = isinstance(default, bool)
    value = text
    if is_flag:
        value = parse_value(text)
    try:
        return TypeAdapter(type(default)).validate_python(value, strict=is_flag)
    except ValidationError:
        message = f"{name}={text}{where} cannot be used"
        raise InputError(message, f"such as {name}={default}") from None


generators = Makers("generator", "darc.generators")
rewriters = Makers("rewriter", "darc.rewriters")
scorers = Makers("scorer", "darc.scorers")

generator = generators.register
rewriter = rewriters.register
scorer = scorers.register

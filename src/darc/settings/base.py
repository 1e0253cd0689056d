"""Settings: models with types, bounds and defaults in one place, from TOML files and options."""

import argparse
import difflib
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from darc.errors import InputError, nearest

Made = TypeVar("Made", bound="Model")


class Model(BaseModel):
    """Settings that cannot be changed once made; a key that there is not is refused by its path."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file says."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as problem:
        raise InputError(f"{path} cannot be read ({problem.strerror})", "check the path") from None
    except (ValueError, RecursionError) as problem:
        raise InputError(f"{path} is not valid TOML: {problem}", "mend the file") from None


def made(
    model: type[Made], data: Mapping[str, Any], where: str = "", context: object = None
) -> Made:
    """The model of these settings; what is wrong with them is one sentence with the key's path."""
    try:
        return model.model_validate(data, context=context)
    except ValidationError as problem:
        raise InputError(*_first(model, problem, where)) from None


def _first(model: type[BaseModel], problem: ValidationError, where: str) -> tuple[str, str]:
    """What and what to do of the first fault that a validation found."""
    fault = problem.errors(include_url=False)[0]
    path = [str(part) for part in fault["loc"]]
    whole = ".".join(path)
    for part in (part for part in path if part.isdecimal()):
        whole = whole.replace(f".{part}", f"[{part}]", 1)
    place = f"{where}: {whole}" if where else whole
    if fault["type"] == "extra_forbidden":
        return f"{place} is unknown", nearest(path[-1], sorted(_inner(model, path[:-1])))
    if fault["type"] == "missing":
        return f"{place} is missing", "add it"
    if fault["type"] == "model_type":
        section = f"[[{whole.partition('[')[0]}]]" if "[" in whole else f"[{whole}]"
        return f"{place} is not a section", f"write {section}"
    text = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    text = text.replace("a valid tuple", "a list").replace("a valid list", "a list")
    given = fault.get("input")
    shown = f" is {given!r}" if isinstance(given, str | int | float | bool | None) else ""
    return (f"{place}{shown}" if path else where or "the settings"), text


def _inner(model: type[BaseModel], path: Iterable[str]) -> Collection[str]:
    """The keys of the model at the end of a path."""
    for part in path:
        field = model.model_fields.get(part)
        found = [kind for kind in _kinds(field) if isinstance(kind, type)] if field else []
        inner = [kind for kind in found if issubclass(kind, BaseModel)]
        model = inner[0] if inner else model
    return model.model_fields.keys()


def _kinds(field: FieldInfo) -> tuple[Any, ...]:
    """The types that a field may have, None and what it is a list of included."""
    kind = field.annotation
    if get_origin(kind) in (Union, UnionType, list, tuple):
        return get_args(kind)
    return (kind,)


def read_settings(
    path: Path, section: str, known: Iterable[str], others: Collection[str] = ()
) -> dict[str, Any]:
    """The settings of one section of a TOML file, and those that stand above all sections.

    An unknown key is refused by its path, and so is a section that is nearly one of `others`.
    """
    data, names = read_toml(path), sorted(known)
    settings = data.pop(section, {})
    if not isinstance(settings, dict):
        raise InputError(f"{path}: {section} is not a section", f"write [{section}]")
    flat = {key: value for key, value in data.items() if not isinstance(value, dict)}
    for key in data.keys() - flat.keys():
        if key not in others and (meant := difflib.get_close_matches(key, sorted(others), 1)):
            raise InputError(f"{path}: [{key}] is no command", f"did you mean [{meant[0]}]?")
    for prefix, keys in (("", flat), (f"{section}.", settings)):
        for key in keys:
            if key not in names:
                raise InputError(f"{path}: {prefix}{key} is unknown", nearest(key, names))
    return {**flat, **settings}


def option(
    default: Any, text: str, metavar: str = "", flags: Sequence[str] = (), **bounds: Any
) -> Any:
    """A field with its default and bounds, and what its option says and is called besides."""
    extra: Any = {"flags": list(flags), **({"metavar": metavar} if metavar else {})}
    return Field(default, description=text, json_schema_extra=extra, **bounds)


def add_options(parser: Any, model: type[BaseModel], *names: str, unset: str = "") -> None:
    """Add an option for each of these fields, or for all, with type, default and description.

    A truth value becomes a flag, a list an option that may be repeated, a Literal its choices.
    `json_schema_extra` of a field may have `flags` (further spellings), a `metavar` and whatever
    else argparse takes. With `unset`, which says what then counts, one not given is None.
    """
    for name in names or model.model_fields:
        field = model.model_fields[name]
        extra = field.json_schema_extra
        keywords: dict[str, Any] = dict(extra) if isinstance(extra, dict) else {}
        flags = keywords.pop("flags", ())
        keywords |= {"dest": name, "help": field.description or ""}
        if field.is_required():
            keywords["required"] = True
        elif unset:
            keywords["help"] += f" (default: {unset})"
        else:
            keywords["default"] = field.get_default(call_default_factory=True)
        kinds = [kind for kind in _kinds(field) if kind not in (type(None), Ellipsis)]
        choices = next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())
        if field.annotation is bool:
            keywords["action"] = "store_true"
        elif choices:
            keywords["choices"] = choices
        elif get_origin(field.annotation) in (list, tuple):
            keywords |= {"action": "append", "default": None}
        else:
            keywords["type"] = kinds[0]
        parser.add_argument(*flags, f"--{name.replace('_', '-')}", **keywords)


def options_of(arguments: argparse.Namespace, model: type[BaseModel]) -> dict[str, Any]:
    """What the options say of a model's fields; a repeatable one that was not given is left out."""
    given = vars(arguments)
    return {
        name: given[name]
        for name, field in model.model_fields.items()
        if name in given
        and not (given[name] is None and get_origin(field.annotation) in (list, tuple))
    }

"""Checking settings, with errors of one sentence that name the key at fault."""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from darc.errors import InputError, nearest

Settings = TypeVar("Settings", bound=BaseModel)


def validate_settings(
    model: type[Settings],
    data: Mapping[str, Any],
    where: str | Callable[[str], str] = "",
    context: object = None,
) -> Settings:
    """Make a settings model from plain values.

    Args:
        model: The class of the settings.
        data: The values by name.
        where: Where they come from, such as the name of a file, or a function that says it for a
            name; errors begin with it.
        context: What the validators of the model get as their context.

    Returns:
        The settings.

    Raises:
        InputError: If a value is not allowed or a name is unknown; one sentence with its path.
    """
    try:
        return model.model_validate(data, context=context)
    except ValidationError as problem:
        first_error = problem.errors(include_url=False)[0]
        if callable(where):
            where = where(str(first_error["loc"][0]) if first_error["loc"] else "")
        raise _input_error(model, first_error, where) from None


def _input_error(model: type[BaseModel], error: ErrorDetails, where: str) -> InputError:
    """What is wrong and what to do, from one error of a validation."""
    path = [str(part) for part in error["loc"]]
    key = _joined(path)
    place = f"{where}: {key}" if where else key
    if error["type"] == "extra_forbidden":
        known = sorted(_keys_at(model, path[:-1]))
        return InputError(f"{place} is unknown", nearest(path[-1], known))
    if error["type"] == "missing":
        return InputError(f"{place} is missing", "add it")
    if error["type"] == "model_type":
        return InputError(f"{place} is not a section", f"write {_section_header(key)}")
    hint = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    hint = hint.replace("a valid tuple", "a list").replace("a valid list", "a list")
    if not path:
        return InputError(where or "the settings", hint)
    value = error.get("input")
    if isinstance(value, str | int | float | bool | None):
        place = f"{place} is {value!r}"
    return InputError(place, hint)


def _joined(path: Sequence[str]) -> str:
    """A path as users write it: several[1].share."""
    text = ""
    for part in path:
        if part.isdecimal():
            text += f"[{part}]"
        elif text:
            text += f".{part}"
        else:
            text = part
    return text


def _section_header(key: str) -> str:
    """How the section of a key is written in TOML."""
    name, bracket, _ = key.partition("[")
    if bracket:
        return f"[[{name}]]"
    return f"[{name}]"


def _keys_at(model: type[BaseModel], path: Sequence[str]) -> Collection[str]:
    """The keys of the model at the end of a path."""
    for part in path:
        inner_model = _inner_model(model.model_fields.get(part))
        if inner_model is not None:
            model = inner_model
    return model.model_fields.keys()


def _inner_model(field: FieldInfo | None) -> type[BaseModel] | None:
    """The model that a field holds, or holds a list of."""
    if field is None:
        return None
    for kind in member_types(field.annotation):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def member_types(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, a list or a tuple; any other type alone."""
    if get_origin(annotation) in (Union, UnionType, list, tuple):
        return get_args(annotation)
    return (annotation,)

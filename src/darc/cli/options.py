"""Options of the command line, made from the fields of settings models."""

import argparse
from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from darc.settings.model import details_of, flag_of
from darc.settings.validation import member_types


def add_options(parser: Any, model: type[BaseModel], *names: str, unset: str = "") -> None:
    """Add an option for each of these fields of a model, or for all of them.

    Args:
        parser: The parser, or a group of it.
        model: The settings model.
        names: The fields; none means all.
        unset: What counts where an option is not given, in words; its value is then None.
    """
    for name in names or model.model_fields:
        add_option(parser, name, model.model_fields[name], unset)


def add_option(parser: Any, name: str, field: FieldInfo, unset: str = "") -> None:
    """Add the option of one field.

    A truth value becomes a flag without a value, a tuple an option that may be repeated, and a
    Literal an option with choices.
    """
    details = details_of(field)
    keywords: dict[str, Any] = {"help": field.description or ""}
    if details.metavar:
        keywords["metavar"] = details.metavar
    keywords |= _value_keywords(field)
    if unset:
        keywords["help"] += f" (default: {unset})"
        keywords["default"] = None
    if details.positional:
        parser.add_argument(name, **_positional_keywords(field, keywords))
        return
    if field.is_required() and not unset:
        keywords["required"] = True
    flags = [details.flag or flag_of(name)]
    if details.short_flag:
        flags.insert(0, details.short_flag)
    parser.add_argument(*flags, dest=name, **keywords)


def _value_keywords(field: FieldInfo) -> dict[str, Any]:
    """What argparse has to know about the values of a field."""
    details = details_of(field)
    default = None
    if not field.is_required():
        default = field.get_default(call_default_factory=True)
    if field.annotation is bool:
        return {"action": "store_false" if default else "store_true", "default": default}
    keywords: dict[str, Any] = {"default": default}
    kinds = [kind for kind in _value_types(field.annotation) if kind is not type(None)]
    choices = _choices(kinds)
    if choices:
        keywords["choices"] = choices
    else:
        keywords["type"] = kinds[0]
    if details.nargs is not None:
        keywords["nargs"] = details.nargs
    if details.bare_value is not None:
        keywords["const"] = details.bare_value
    if takes_several(field):
        keywords["default"] = None
        if details.nargs in (None, "?") and not details.positional:
            keywords["action"] = "append"
    return keywords


def _positional_keywords(field: FieldInfo, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The same for an argument without a flag, which may be left out where it has a default."""
    changed = dict(keywords)
    if not field.is_required() and "nargs" not in changed:
        changed["nargs"] = "?"
    return changed


def _value_types(annotation: Any) -> tuple[Any, ...]:
    """The types of one value of a field: str for tuple[str, ...] | None."""
    kinds: list[Any] = []
    for kind in member_types(annotation):
        if get_origin(kind) in (list, tuple):
            kinds += member_types(kind)
        else:
            kinds.append(kind)
    return tuple(kind for kind in kinds if kind is not Ellipsis)


def _choices(kinds: Collection[Any]) -> tuple[Any, ...]:
    """The values of a Literal among some types."""
    for kind in kinds:
        if get_origin(kind) is Literal:
            return get_args(kind)
    return ()


def takes_several(field: FieldInfo) -> bool:
    """Whether an option may have several values."""
    kinds = (field.annotation, *member_types(field.annotation))
    return any(get_origin(kind) in (list, tuple) for kind in kinds)


def options_of(arguments: argparse.Namespace, model: type[BaseModel]) -> dict[str, Any]:
    """The values of a model's fields on the command line, without lists that were not given."""
    values = vars(arguments)
    result: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name not in values:
            continue
        if values[name] is None and takes_several(field):
            continue
        result[name] = values[name]
    return result

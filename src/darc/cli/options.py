"""Options of the command line, made from the fields of settings models."""

import argparse
from collections.abc import Collection
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from darc.cli.parser import Parser
from darc.settings.model import (
    SettingsModel,
    declaring_class,
    details_of,
    flag_of,
    ordered_fields,
    subject_of,
)
from darc.settings.validation import member_types


def add_options(parser: Parser, model: type[BaseModel]) -> None:
    """Add an option for every field of a settings model.

    What is not given on the command line is left out of the arguments, so that settings files and
    then the defaults of the model decide.

    Args:
        parser: The parser of the command.
        model: The settings of the command.
    """
    for name in ordered_fields(model):
        field = model.model_fields[name]
        details = details_of(field)
        keywords = {
            "help": _help_text(model, name),
            "subject": subject_of(model, name),
            "exclusive": details.exclusive,
            "common": _is_common(model, name),
            **_value_keywords(field),
        }
        if details.metavar:
            keywords["metavar"] = details.metavar
        if details.positional:
            keywords["subject"] = SettingsModel.subject
            parser.add_option(name, **keywords)
        else:
            parser.add_option(*option_flags(name, field), dest=name, **keywords)
    parser.add_full_help()


def _is_common(model: type[BaseModel], name: str) -> bool:
    """Whether the short help of a command shows an option."""
    field = model.model_fields[name]
    details = details_of(field)
    if details.common or details.positional or field.is_required():
        return True
    return name in getattr(model, "also_common", ())


def option_flags(name: str, field: FieldInfo) -> list[str]:
    """The flags of a field, the long one last."""
    details = details_of(field)
    flags = [details.flag or flag_of(name)]
    if details.short_flag:
        flags.insert(0, details.short_flag)
    return flags


def file_keys(model: type[BaseModel]) -> dict[str, str]:
    """The keys that a settings file may have, and the field that each stands for.

    A key is the name of a field, or its flag written with underscores.
    """
    keys: dict[str, str] = {}
    for name, field in model.model_fields.items():
        if details_of(field).positional or name == "config":
            continue
        keys[name] = name
        keys.setdefault(_flag_key(name, field), name)
    return keys


def is_negation(key: str, name: str, field: FieldInfo) -> bool:
    """Whether a key of a settings file turns a field off, as no_guard does with guard."""
    if field.annotation is not bool or not field.default:
        return False
    return key != name and key == _flag_key(name, field)


def _flag_key(name: str, field: FieldInfo) -> str:
    """The long flag of a field, written with underscores."""
    return option_flags(name, field)[-1].removeprefix("--").replace("-", "_")


def values_of(arguments: argparse.Namespace, model: type[BaseModel]) -> dict[str, Any]:
    """What the command line gives of a model's fields."""
    # Arguments without a flag are None where they are left out.
    return {
        name: value
        for name, value in vars(arguments).items()
        if name in model.model_fields and value is not None
    }


def takes_several(field: FieldInfo) -> bool:
    """Whether an option may have several values."""
    kinds = (field.annotation, *member_types(field.annotation))
    return any(get_origin(kind) in (list, tuple) for kind in kinds)


def value_types(annotation: Any) -> tuple[Any, ...]:
    """The types of one value of a field: str for tuple[str, ...] | None."""
    kinds: list[Any] = []
    for kind in member_types(annotation):
        if get_origin(kind) in (list, tuple):
            kinds += member_types(kind)
        else:
            kinds.append(kind)
    return tuple(kind for kind in kinds if kind not in (Ellipsis, type(None)))


def _value_keywords(field: FieldInfo) -> dict[str, Any]:
    """What argparse has to know about the values of a field."""
    details = details_of(field)
    if field.annotation is bool:
        return {"action": _switch_action(field), "default": argparse.SUPPRESS}
    keywords: dict[str, Any] = {"default": argparse.SUPPRESS}
    if details.positional:
        # An argument without a flag would take the text of SUPPRESS for its value.
        keywords["default"] = None
    kinds = value_types(field.annotation)
    choices = _choices(kinds)
    if choices:
        keywords["choices"] = choices
    else:
        keywords["type"] = kinds[0]
    if details.nargs is not None:
        keywords["nargs"] = details.nargs
    elif details.positional and not field.is_required():
        keywords["nargs"] = "?"
    if details.bare_value is not None:
        keywords["const"] = details.bare_value
    if takes_several(field) and details.nargs in (None, "?"):
        keywords["action"] = "append"
    return keywords


def _switch_action(field: FieldInfo) -> str:
    """What argparse does with a flag that has no value."""
    if field.default:
        return "store_false"
    return "store_true"


def _choices(kinds: Collection[Any]) -> tuple[Any, ...]:
    """The values of a Literal among some types."""
    for kind in kinds:
        if get_origin(kind) is Literal:
            return get_args(kind)
    return ()


def _help_text(model: type[BaseModel], name: str) -> str:
    """The description of a field, and its default unless the description says it."""
    field = model.model_fields[name]
    text = field.description or ""
    default = field.default
    is_plain = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
    # Percent signs would be taken for placeholders.
    text = text.replace("%", "%%")
    default_text = getattr(declaring_class(model, name), "default_text", "")
    if default_text:
        return f"{text} (default: {default_text})"
    if details_of(field).positional or not is_plain or default == "":
        return text
    if "default: " in text.lower():
        return text
    if isinstance(default, float):
        return f"{text} (default: {default:g})"
    return f"{text} (default: {default})"

"""The base class of all settings, and how one option is declared."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo


class SettingsModel(BaseModel):
    """Settings that do not change once they are made; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    #: The heading of these options in `darc COMMAND --help-all`.
    subject: ClassVar[str] = "options"
    #: Further options that `--help` shows for a command, besides those that are common anywhere.
    also_common: ClassVar[tuple[str, ...]] = ()
    #: What the help text says in place of the defaults, where those come from somewhere else.
    default_text: ClassVar[str] = ""


@dataclass(frozen=True)
class OptionDetails:
    """How an option looks on the command line.

    It is stored as the `json_schema_extra` of a field, because pydantic keeps that as it is. Being
    callable it may stand there, and it leaves the JSON schema alone.
    """

    #: What stands for the value in the help text.
    metavar: str | tuple[str, ...] = ""
    #: The long flag, where it is not the name of the field.
    flag: str = ""
    #: A further flag, such as -k.
    short_flag: str = ""
    #: Whether it is an argument without a flag.
    positional: bool = False
    #: Whether `--help` shows it; `--help-all` shows every option.
    common: bool = False
    #: Whether a request to the gateway may set it in its `darc` object.
    per_request: bool = False
    #: Options of a command that share this name exclude each other.
    exclusive: str = ""
    #: How many values follow the flag, as argparse has it.
    nargs: int | str | None = None
    #: The value of a flag that is written without one.
    bare_value: Any = None
    #: The heading in the help text, where it is not that of the class.
    subject: str = ""
    #: The class and field whose meaning this option shares, such as "MethodSettings.rule".
    shared_with: str = ""
    #: What pydantic checks, such as {"ge": 0}.
    bounds: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, schema: dict[str, Any]) -> None:
        """Add nothing to the JSON schema of the field."""


def option(
    default: Any,
    text: str,
    metavar: str | tuple[str, ...] = "",
    *,
    flag: str = "",
    short_flag: str = "",
    positional: bool = False,
    common: bool = False,
    per_request: bool = False,
    exclusive: str = "",
    nargs: int | str | None = None,
    bare_value: Any = None,
    subject: str = "",
    **bounds: Any,
) -> Any:
    """Declare a field of a settings model as an option.

    Args:
        default: The value where none is given; ... for an option that is required.
        text: The help text.
        metavar: What stands for the value in the help text.
        flag: The long flag, where it is not the name of the field.
        short_flag: A further flag, such as -k.
        positional: Whether it is an argument without a flag.
        common: Whether `--help` shows it.
        per_request: Whether a request to the gateway may set it.
        exclusive: A name that options share which exclude each other.
        nargs: How many values follow the flag, as argparse has it.
        bare_value: The value of a flag that is written without one.
        subject: The heading in the help text, where it is not that of the class.
        **bounds: What pydantic checks, such as ge=0.

    Returns:
        The field.
    """
    details = OptionDetails(
        metavar=metavar,
        flag=flag,
        short_flag=short_flag,
        positional=positional,
        common=common,
        per_request=per_request,
        exclusive=exclusive,
        nargs=nargs,
        bare_value=bare_value,
        subject=subject,
        bounds=bounds,
    )
    return _field(default, text, details)


def same_option(model: type[BaseModel], name: str, **changes: Any) -> Any:
    """Declare an option that means the same as another one, for one command in its own words.

    Args:
        model: The model that has the other option.
        name: The name of the other option.
        **changes: What differs: `default`, `text`, or any other argument of `option`.

    Returns:
        The field.
    """
    original = model.model_fields[name]
    details = details_of(original)
    default = changes.pop("default", original.get_default(call_default_factory=True))
    text = changes.pop("text", original.description or "")
    known = {key: changes.pop(key) for key in list(changes) if key in OptionDetails.__match_args__}
    bounds = {**details.bounds, **changes}
    flag = details.flag or flag_of(name)
    known = {"flag": flag, **known, "bounds": bounds}
    known["shared_with"] = meaning_of(model, name)
    return _field(default, text, replace(details, **known))


def _field(default: Any, text: str, details: OptionDetails) -> Any:
    extra: Any = details
    return Field(default, description=text, json_schema_extra=extra, **details.bounds)


def details_of(field_info: FieldInfo) -> OptionDetails:
    """How a field looks on the command line; plain fields have the usual looks."""
    extra: object = field_info.json_schema_extra
    if isinstance(extra, OptionDetails):
        return extra
    return OptionDetails()


def flag_of(name: str) -> str:
    """The flag of a field's name: --n-aug for n_aug."""
    return f"--{name.replace('_', '-')}"


def meaning_of(model: type[BaseModel], name: str) -> str:
    """Which class declares what an option means, such as "MethodSettings.rule"."""
    shared_with = details_of(model.model_fields[name]).shared_with
    if shared_with:
        return shared_with
    return f"{declaring_class(model, name).__name__}.{name}"


def declaring_class(model: type[BaseModel], name: str) -> type[BaseModel]:
    """The class among a model and its bases that declares a field."""
    for base in _settings_bases(model):
        if name in base.__annotations__:
            return base
    raise KeyError(name)


def ordered_fields(model: type[BaseModel]) -> list[str]:
    """The fields of a model, its own first and then those of its bases as they are written."""
    names: dict[str, None] = {}
    for base in _settings_bases(model):
        for name in base.__annotations__:
            if name in model.model_fields:
                names[name] = None
    return list(names)


def subject_of(model: type[BaseModel], name: str) -> str:
    """The heading of an option in the help text."""
    subject = details_of(model.model_fields[name]).subject
    if subject:
        return subject
    # A class that combines others does not take over the heading of one of them.
    return vars(declaring_class(model, name)).get("subject", SettingsModel.subject)


def _settings_bases(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model and its bases that declare fields, the most special first."""
    for base in model.__mro__:
        if base is not BaseModel and issubclass(base, BaseModel):
            yield base

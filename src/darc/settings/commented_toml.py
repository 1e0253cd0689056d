"""A settings file in which every option stands with its help text, made from a settings model."""

import json
import textwrap
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from darc.settings.model import details_of, ordered_fields, subject_of

_WIDTH = 96


def commented_section(
    model: type[BaseModel],
    section: str,
    values: Mapping[str, Any],
    left_out: Collection[str] = (),
) -> str:
    """Write a section of a settings file with every option of a command.

    Args:
        model: The settings of the command.
        section: The name of the section.
        values: The options that are set, by the names of fields; they come first. All others are
            commented out, with their defaults.
        left_out: The names of fields that are not written.

    Returns:
        The text of the section.
    """
    lines = [f"[{section}]"]
    subject = ""
    names = [name for name in ordered_fields(model) if name not in left_out]
    set_names = [name for name in names if name in values]
    for name in set_names:
        lines += ["", *comment(model.model_fields[name].description or "")]
        lines.append(f"{name} = {toml_value(values[name])}")
    for name in sorted(set(names) - set(set_names), key=_order_by_subject(model)):
        if subject_of(model, name) != subject:
            subject = subject_of(model, name)
            lines += ["", f"# {f' {subject} ':-^{_WIDTH - 2}}"]
        field = model.model_fields[name]
        lines += ["", *comment(field.description or ""), _default_line(name, field)]
    return "\n".join([*lines, ""])


def comment(text: str) -> list[str]:
    """A text as lines of a comment."""
    return [f"# {line}" for line in textwrap.wrap(text, _WIDTH - 2, break_on_hyphens=False)]


def toml_value(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, tuple):
        value = list(value)
    # A JSON string, number, truth value or list of them is also TOML.
    return json.dumps(value, ensure_ascii=False)


def _order_by_subject(model: type[BaseModel]) -> Any:
    """A sorting key that keeps the fields of a subject together, in the order of the model."""
    names = ordered_fields(model)
    subjects = list(dict.fromkeys(subject_of(model, name) for name in names))

    def key(name: str) -> tuple[int, int]:
        return subjects.index(subject_of(model, name)), names.index(name)

    return key


def _default_line(name: str, field: FieldInfo) -> str:
    """The line that sets an option to its default, commented out."""
    default = field.get_default(call_default_factory=True)
    flag = details_of(field).flag
    if default is True and flag.startswith("--no-"):
        # Its help text is about the flag, which turns it off.
        return f"#{flag.removeprefix('--').replace('-', '_')} = false"
    if default is not None:
        return f"#{name} = {toml_value(default)}"
    details = details_of(field)
    metavar = details.metavar or "VALUE"
    if not isinstance(metavar, str):
        metavar = " ".join(metavar)
    return f"#{name} = {metavar}  # not set"

"""Checking the bodies of requests against their models."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from darc.serve.bodies import MAX_NAME_LENGTH
from darc.web.problems import Problem

_Model = TypeVar("_Model", bound=BaseModel)
_REASONS = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "model_type": "should be an object",
    "dict_type": "should be an object",
}


def invalid_value(param: str, reason: str) -> Problem:
    """Make an error with status 400 about one field.

    Args:
        param: The path of the field, such as "darc.k".
        reason: What is wrong with it, the rest of a sentence that begins with the path.
    """
    return Problem(400, f"{param} {reason}", code="invalid_value", param=param)


def validate_body(model: type[_Model], body: Mapping[str, Any], prefix: str = "") -> _Model:
    """Check a JSON object against a model. Fields that are null count as not given.

    Args:
        model: The model.
        body: The object.
        prefix: The path of the object in the request.

    Raises:
        Problem: With status 400 and the path of the first field that is wrong.
    """
    fields = {name: value for name, value in body.items() if value is not None}
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise _first_problem(error, fields, prefix) from None


def _first_problem(error: ValidationError, body: Mapping[str, Any], prefix: str) -> Problem:
    """The problem with the first field that is wrong."""
    details = error.errors(include_url=False)
    first_field = details[0]["loc"][:1]
    # A field with several types has an error for each; the one that fits furthest says most.
    same_field = [detail for detail in details if detail["loc"][:1] == first_field]
    detail = max(same_field, key=lambda problem: len(problem["loc"]))
    path, value = _follow_path(detail, body)
    if prefix:
        path = [prefix, *path]
    is_container = isinstance(value, list | Mapping)
    if all(len(problem["loc"]) == 2 for problem in same_field) and not is_container:
        reason = _join_alternatives(same_field)
    else:
        reason = _REASONS.get(detail["type"]) or _message(detail)
    return invalid_value(".".join(path) or "the body", reason[:1].lower() + reason[1:])


def _follow_path(detail: ErrorDetails, body: Mapping[str, Any]) -> tuple[list[str], Any]:
    """The path of a faulty field in the request, and its value.

    pydantic's location also names the members of unions, which are not part of the path.
    """
    path: list[str] = []
    value: Any = body
    for part in detail["loc"]:
        in_object = isinstance(value, Mapping) and part in value
        in_list = isinstance(value, list) and isinstance(part, int)
        if in_object or in_list:
            value = value[part]
            path.append(str(part)[:MAX_NAME_LENGTH])
        elif detail["type"] == "missing":
            path.append(str(part))
    return path, value


def _join_alternatives(details: list[ErrorDetails]) -> str:
    """What a plain value may be that has one of several types, such as a name or a number."""
    messages = dict.fromkeys(_message(detail) for detail in details)
    return ", or ".join(messages).replace(", or should be ", ", or ")


def _message(detail: ErrorDetails) -> str:
    return detail["msg"].removeprefix("Input ")

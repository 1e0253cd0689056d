"""The parameters of rules that a request may give."""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, Literal, get_args, get_type_hints

from pydantic import BaseModel, TypeAdapter, create_model

from darc.decide.method import CALIBRATION, Method
from darc.decide.options import SelectOptions
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.decide.trial import check_parameters as try_on_made_up_pool
from darc.errors import DarcError, InputError
from darc.serve.bodies import Body
from darc.serve.validation import validate_body

_PLAIN_TYPES = (float, int, bool, str, type(None))


def parameter_types(rule: Rule) -> dict[str, Any]:
    """Return the types of the parameters that can be written as JSON, by name.

    A parameter without an annotation has the type of its default.
    """
    hints = get_type_hints(rule.function, include_extras=True)
    types = {}
    for name, default in rule.defaults.items():
        kind = hints.get(name)
        if kind is None and isinstance(default, bool | int | float | str):
            kind = _type_of_default(default)
        if _is_plain(kind):
            types[name] = kind
    return types


def check_parameters(rule: Rule, parameters: Mapping[str, Any]) -> None:
    """Check parameters of a rule against their types and bounds; unknown names are left alone.

    Args:
        rule: The rule.
        parameters: Values by name, also by the aliases of names.

    Raises:
        Problem: With status 400 and the path of the parameter in the request.
    """
    model = _parameter_model(rule.function)
    named = {rule.aliases.get(name, name): value for name, value in parameters.items()}
    typed = {name: value for name, value in named.items() if name in model.model_fields}
    validate_body(model, typed, "darc")


def try_parameters(method: Method) -> None:
    """Refuse values that only the rule itself can judge, before any candidate is written.

    A method is tried on a small made-up pool the first time that it is requested. A rule that
    cannot decide on this pool with its defaults either is not tried.

    Args:
        method: The rule with the parameters of a request, of plain types.

    Raises:
        InputError: If the rule refuses the parameters.
    """
    arguments = (
        method.rule.name,
        tuple(sorted(method.rule.parameters.items())),
        method.beta,
        method.gamma,
    )
    try:
        hash(arguments)
    except TypeError:
        error = _trial_error(*arguments)
    else:
        error = _remembered_trial_error(*arguments)
    if error is not None:
        raise InputError(error)


def _trial_error(
    name: str, parameters: tuple[tuple[str, Any], ...], beta: float, gamma: float
) -> str | None:
    """What a rule says against its parameters, if it has nothing against its defaults."""
    rule = rules.get(name)
    if rule.required():
        # Without its side inputs a rule cannot be tried.
        return None
    try:
        bound_rule = rule.bind(**dict(parameters))
        try_on_made_up_pool(bound_rule, SelectOptions(beta=beta, gamma=gamma))
    except (DarcError, TypeError, ValueError) as error:
        try:
            try_on_made_up_pool(rule, SelectOptions())
        except Exception:
            return None
        return str(error)
    except Exception:
        # An error of the rule itself is handled when it decides, by the policy of the request.
        return None
    return None


_remembered_trial_error = lru_cache(maxsize=256)(_trial_error)


def unchecked_parameters(rule: Rule) -> list[str]:
    """Return the parameters that a rule was given whose values only the rule itself can judge."""
    checked = {*parameter_types(rule), CALIBRATION}
    return [name for name in rule.parameters if name not in checked]


def parameter_schemas(rule: Rule, side: Collection[str]) -> dict[str, Any]:
    """Return the JSON schema of each parameter, with its default.

    Args:
        rule: The rule.
        side: The side inputs that are available. Values that need others are left out.
    """
    schemas = {}
    for name, kind in parameter_types(rule).items():
        schema = TypeAdapter(_usable_type(rule, name, kind, side)).json_schema()
        schemas[name] = {**schema, "default": rule.defaults[name]}
    return schemas


def is_usable(rule: Rule, side: Collection[str]) -> bool:
    """Whether a rule can decide one prompt with these side inputs, without a fit to others."""
    decides_alone = rule.calibrate is None or rule.plan is not None
    return decides_alone and all(name in side for name in rule.required())


def _usable_type(rule: Rule, name: str, kind: Any, side: Collection[str]) -> Any:
    """The type without those names and truth values that need a side input which is missing."""
    values = (True, False) if kind is bool else get_args(kind)
    if not values or not all(isinstance(value, str | bool) for value in values):
        return kind
    usable = [value for value in values if is_usable(rule.bind(**{name: value}), side)]
    return Literal[tuple(usable)]


@lru_cache(maxsize=256)
def _parameter_model(function: Callable[..., Any]) -> type[BaseModel]:
    rule = Rule(function.__name__, function)
    fields: dict[str, Any] = {
        name: (kind, rule.defaults[name]) for name, kind in parameter_types(rule).items()
    }
    return create_model(function.__name__, __base__=Body, **fields)


def _type_of_default(default: bool | int | float | str) -> Any:
    if isinstance(default, bool | str):
        return type(default)
    return float


def _is_plain(kind: Any) -> bool:
    """Whether a type is made of numbers, texts, truth values and null."""
    arguments = get_args(kind)
    if not arguments:
        return kind in _PLAIN_TYPES
    if isinstance(arguments[0], str):
        # A Literal of names.
        return True
    if hasattr(kind, "__metadata__"):
        # An Annotated type, whose other arguments are bounds.
        return _is_plain(arguments[0])
    return all(_is_plain(argument) for argument in arguments)

"""Whatever the OpenAPI document allows is accepted, and what it forbids makes no 500."""

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.fakes import FakeServer
from tests.serve.running import Running, parts, running

from darc.serve.app import _Routes, make_gateway
from darc.serve.bodies import ChatBody
from darc.serve.openapi import document
from darc.serve.requests import Forms
from darc.serve.settings import ServeSettings
from darc.web.problems import Problem

schemathesis = pytest.importorskip("schemathesis")
jsonschema = pytest.importorskip("jsonschema")

CASES = settings(
    derandomize=True,
    max_examples=30,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_document_names_the_endpoints_that_there_are() -> None:
    gateway = make_gateway(ServeSettings(backend="http://127.0.0.1:9", parts=parts(), workers=0))
    routes = _Routes(gateway)
    served = {
        (route.path, method.lower())
        for route in routes.all()
        for method in route.methods - {"HEAD"}
        if route.path not in routes.files and "{" not in route.path
    }
    others = {("/openapi.json", "get"), ("/v1", "get")}
    others |= {(path, method) for path, method in served if path == "/v1/responses"}
    paths = document(Forms(gateway.settings), "1")["paths"]
    named = {(path, method) for path, each in paths.items() for method in each}
    assert named == served - others


def test_document_has_the_fields_and_bounds_that_hold() -> None:
    forms = Forms(ServeSettings(max_k=4, k=2))
    schemas = document(forms, "1")["components"]["schemas"]
    assert schemas["ChatCompletion"]["properties"].keys() == ChatBody.model_fields.keys()
    checked = 0
    for schema in schemas.values():
        for name, field in schema["properties"].items() if "x-parameters" in schema else ():
            rule = schema["properties"]["rule"]["const"]
            for plain in field.get("anyOf", [field]):
                for bad in outside(plain):
                    with pytest.raises(Problem) as caught:
                        forms.method({"rule": rule, "n_aug": 1, name: bad})
                    assert caught.value.param == f"darc.{name}", (rule, name, bad)
                    checked += 1
    assert checked > 300


@pytest.mark.parametrize(
    ("given", "n_aug"),
    [
        ({"include_original": False}, 2),
        ({"include_original": False}, 0),
        ({"include_original": False, "n_aug": 1}, 0),
        ({"include_original": False, "n_aug": 0}, 2),
        ({"include_original": True, "n_aug": 0}, 2),
        ({"n_aug": 0}, 2),
        ({"rule": "poisson", "reward": "original", "include_original": False}, 2),
        ({"rule": "poisson", "reward": "mean", "include_original": False}, 2),
    ],
)
def test_document_says_when_the_original_may_be_left_out(given: Any, n_aug: int) -> None:
    forms = Forms(ServeSettings(parts=parts(n_aug=n_aug)))
    made = document(forms, "1")
    name = "PoissonOptions" if "rule" in given else "DefaultOptions"
    schema = {**made["components"]["schemas"][name], "components": made["components"]}
    allowed = jsonschema.Draft202012Validator(schema).is_valid(given)
    try:
        forms.method(given)
    except Problem:
        assert not allowed
    else:
        assert allowed


def test_caution_is_documented_by_its_names_and_as_a_number() -> None:
    schemas = document(Forms(ServeSettings()), "1")["components"]["schemas"]
    for name in ("AutoOptions", "AutoOnScores", "DefaultOptions", "DefaultOnScores"):
        kinds = schemas[name]["properties"]["caution"]["anyOf"]
        assert [kind.get("enum") for kind in kinds if "enum" in kind] == [
            ["none", "low", "medium", "high"]
        ]
        assert [kind["minimum"] for kind in kinds if kind.get("type") == "number"] == [0]
    assert "caution" not in schemas["EpsilonOptions"]["properties"]
    assert "caution" not in schemas["EpsilonOnScores"]["properties"]


def test_the_servers_own_defaults_are_documented() -> None:
    forms = Forms(ServeSettings(poor_below=4, scale="1-7", when_held="more"))
    fields = document(forms, "1")["components"]["schemas"]["DefaultOptions"]["properties"]
    assert fields["poor_below"]["default"] == 4
    assert fields["scale"]["default"] == [1, 7]
    assert fields["when_held"]["default"] == "more"
    assert fields["no_rating_below"]["description"]


@pytest.mark.parametrize("rule", ["epsilon:epsilon=0.5", "tau", "auto"])
def test_the_parameters_of_the_default_rule_need_no_rule(rule: str) -> None:
    forms = Forms(ServeSettings(rule=rule))
    whole = document(forms, "1")
    schema = {**whole["components"]["schemas"]["DefaultOptions"], "components": whole["components"]}
    validator = jsonschema.Draft202012Validator(schema)
    cases: list[dict[str, Any]] = [
        {"epsilon": 0.1}, {"tau": 1, "quantile": 0.5}, {"tau": 1}, {"caution": "high"},
    ]  # fmt: skip
    for options in cases:
        try:
            forms.method(options)
        except Problem:
            assert not validator.is_valid(options), options
        else:
            assert validator.is_valid(options), options


def outside(field: dict[str, Any]) -> list[Any]:
    """Values that a schema forbids."""
    bounds = {"minimum": -1, "maximum": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 0}
    beyond = [field[name] + by for name, by in bounds.items() if name in field]
    other: dict[str, list[Any]] = {"integer": [1.5, "1", True], "number": ["1", True]}
    return beyond + other.get(field.get("type", ""), []) + ([[]] if "enum" in field else [])


@pytest.mark.slow
def test_what_is_allowed_is_accepted_and_nothing_makes_a_500(openai_server: FakeServer) -> None:
    modes = schemathesis.GenerationMode
    accepted: list[int] = []
    answered: list[int] = []
    with running(openai_server, k=2, attempts=1, max_k=4, max_n_aug=2) as gateway:
        gateway.ready()
        served = httpx.get(f"{gateway.url}/openapi.json").json()
        for result in schemathesis.openapi.from_dict(served).get_all_operations():
            operation = result.ok()
            strategy = operation.as_strategy(generation_mode=modes.POSITIVE)
            check(gateway, strategy, accepted, allowed=True)
            if operation.method == "post":
                strategy = operation.as_strategy(generation_mode=modes.NEGATIVE)
                check(gateway, strategy, answered, allowed=False)
    assert len(accepted) + len(answered) > 150
    assert accepted.count(200) > 60
    assert 400 in answered


@pytest.mark.slow
def test_document_that_promises_too_much_is_found(openai_server: FakeServer) -> None:
    with running(openai_server, k=2, attempts=1, max_k=4, max_n_aug=2) as gateway:
        gateway.ready()
        served = httpx.get(f"{gateway.url}/openapi.json").json()
        chat = served["paths"]["/v1/chat/completions"]["post"]["requestBody"]["content"]
        name = chat["application/json"]["schema"]["$ref"].rpartition("/")[2]
        schema = served["components"]["schemas"][name]
        schema["required"].append("n")
        schema["properties"]["n"] = {"type": "integer", "minimum": 0, "maximum": 1}
        (operation,) = (
            result.ok()
            for result in schemathesis.openapi.from_dict(served).get_all_operations()
            if result.ok().path == "/v1/chat/completions"
        )
        strategy = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
        with pytest.raises(AssertionError, match="n should be greater than or equal to 1"):
            check(gateway, strategy, [], allowed=True)


def check(gateway: Running, strategy: Any, answered: list[int], *, allowed: bool) -> None:
    @CASES
    @given(case=strategy)
    def run(case: Any) -> None:
        answer = case.call(base_url=gateway.url, timeout=60)
        answered.append(answer.status_code)
        told = (answer.text, case.as_curl_command())
        if answer.status_code == 504:
            assert answer.json()["error"]["code"] == "budget", told
            return
        assert answer.status_code < 500, told
        # What is passed on, such as tools, is for the backend to judge.
        if allowed and not is_ragged(case.body) and "cannot be read: " not in answer.text:
            assert answer.status_code == 200, told
        if answer.status_code >= 400:
            assert answer.json()["error"]["message"]

    run()


def is_ragged(body: Any) -> bool:
    """Whether scores are no block of numbers, or named otherwise, which no schema can say."""
    scores = body.get("scores") if isinstance(body, dict) else None
    if scores is None:
        return False
    size = shape(scores)
    if size is None:
        return True
    scorers = 1 if len(size) == 2 else size[0]
    named = {"scorers": scorers, "raters": size[-1]}
    return any(len(body.get(name, ())) not in (0, most) for name, most in named.items())


def shape(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return ()
    inner = {shape(each) for each in value}
    only = inner.pop() if len(inner) == 1 else None
    return None if only is None else (len(value), *only)

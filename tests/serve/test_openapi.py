"""Whatever the OpenAPI document allows is accepted, and what it forbids makes no 500."""

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.fakes import FakeServer
from tests.serve.running import Running, parts, running

from darc.serve.app import make_gateway
from darc.serve.bodies import ChatBody, DarcOptions
from darc.serve.openapi import ServerDescription, make_document
from darc.serve.requests import RequestReader
from darc.serve.routes import GatewayRoutes
from darc.serve.settings import ServeSettings
from darc.settings.model import details_of
from darc.settings.sampling import RewriteSettings
from darc.settings.serve import GatewaySettings
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


def document_of(**options: Any) -> dict[str, Any]:
    settings = ServeSettings(**options)
    return make_document(ServerDescription(settings, RequestReader(settings).default_options))


def rules_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {rule["name"]: rule for rule in document["info"]["x-rules"]}


def test_document_names_the_endpoints_that_there_are() -> None:
    gateway = make_gateway(ServeSettings(backend=("http://127.0.0.1:9",), parts=parts(), workers=0))
    routes = GatewayRoutes(gateway)
    served = {
        (route.path, method.lower())
        for route in routes.all()
        for method in route.methods - {"HEAD"}
        if route.path not in routes.page_files and "{" not in route.path
    }
    others = {("/openapi.json", "get"), ("/v1", "get")}
    paths = document_of()["paths"]
    named = {(path, method) for path, operations in paths.items() for method in operations}
    assert named == served - others


def test_document_has_the_models_of_the_bodies() -> None:
    schemas = document_of(max_k=4, k=2)["components"]["schemas"]
    assert schemas["ChatBody"]["properties"].keys() == ChatBody.model_fields.keys()
    options = schemas["DarcOptions"]["properties"]
    assert options.keys() == DarcOptions.model_fields.keys()
    assert (options["k"]["default"], options["k"]["maximum"]) == (2, 4)
    assert all(field.get("description") or "$ref" in field for field in options.values())


def test_requests_may_set_the_options_that_are_declared_so() -> None:
    fields = {**GatewaySettings.model_fields, **RewriteSettings.model_fields}
    per_request = {name for name, field in fields.items() if details_of(field).per_request}
    own = {"budget", "metadata", "full", "models"}
    assert DarcOptions.model_fields.keys() - own == per_request


def test_options_that_the_document_forbids_are_refused() -> None:
    reader = RequestReader(ServeSettings(max_k=4, k=2))
    options = document_of(max_k=4, k=2)["components"]["schemas"]["DarcOptions"]["properties"]
    checked = 0
    for name, field in options.items():
        for plain in field.get("anyOf", [field]):
            for value in outside(plain):
                with pytest.raises(Problem) as caught:
                    reader.read_method({"n_aug": 1, name: value})
                assert caught.value.param == f"darc.{name}", (name, value)
                checked += 1
    assert checked > 20


def test_parameters_of_rules_that_the_document_forbids_are_refused() -> None:
    reader = RequestReader(ServeSettings())
    checked = 0
    for rule in document_of()["info"]["x-rules"]:
        for name, field in rule["parameters"].items():
            for plain in field.get("anyOf", [field]):
                for value in outside(plain):
                    with pytest.raises(Problem) as caught:
                        reader.read_method({"rule": rule["name"], name: value})
                    assert caught.value.param == f"darc.{name}", (rule, name, value)
                    checked += 1
    assert checked > 40


def test_parameters_of_rules_that_the_document_allows_are_accepted() -> None:
    reader = RequestReader(ServeSettings())
    for rule in document_of()["info"]["x-rules"]:
        for name, field in rule["parameters"].items():
            if field["default"] is not None:
                reader.read_method({"rule": rule["name"], name: field["default"]})


def test_caution_is_documented_by_its_names_and_as_a_number() -> None:
    rules = rules_of(document_of())
    kinds = rules["auto"]["parameters"]["caution"]["anyOf"]
    assert [kind["enum"] for kind in kinds if "enum" in kind] == [["none", "low", "medium", "high"]]
    assert [kind["minimum"] for kind in kinds if kind.get("type") == "number"] == [0]
    assert "caution" not in rules["epsilon"]["parameters"]


def test_the_servers_own_defaults_are_documented() -> None:
    document = document_of(poor_below=4, scale="1-7", when_held="more", rule="tau:quantile=0.5")
    fields = document["components"]["schemas"]["DarcOptions"]["properties"]
    assert fields["rule"]["default"] == "tau:quantile=0.5"
    assert fields["poor_below"]["default"] == 4
    assert fields["scale"]["default"] == [1, 7]
    assert fields["when_held"]["default"] == "more"


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
        served = without_free_names(httpx.get(f"{gateway.url}/openapi.json").json())
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
        served = without_free_names(httpx.get(f"{gateway.url}/openapi.json").json())
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


def without_free_names(document: dict[str, Any]) -> dict[str, Any]:
    """A document that names rules and has no parameters, which depend on the rule."""
    options = document["components"]["schemas"]["DarcOptions"]
    options["additionalProperties"] = False
    # They need nothing besides scores, on which all endpoints can decide.
    options["properties"]["rule"]["enum"] = [
        rule["name"] for rule in document["info"]["x-rules"] if not rule["needs"]
    ]
    return document


def check(gateway: Running, strategy: Any, answered: list[int], *, allowed: bool) -> None:
    @CASES
    @given(case=strategy)
    def run(case: Any) -> None:
        answer = case.call(base_url=gateway.url, timeout=60)
        answered.append(answer.status_code)
        told = (answer.text, case.as_curl_command())
        if answer.status_code == 422 and answer.json()["error"]["code"] == "budget":
            return
        assert answer.status_code < 500, told
        # What is passed on, such as tools, is for the backend to judge.
        if allowed and not is_inconsistent(case.body) and "cannot be read: " not in answer.text:
            assert answer.status_code == 200, told
        if answer.status_code >= 400:
            assert answer.json()["error"]["message"]

    run()


def is_inconsistent(body: Any) -> bool:
    """Whether fields that are fine by themselves do not fit together, which the schema leaves out.

    Without the original there must be rewrites, and scores must be a block of numbers that has as
    many scorers, raters and candidates as are named. Grades must be a block of the same candidates
    and raters.
    """
    if not isinstance(body, dict):
        return False
    scores = body.get("scores")
    darc = body.get("darc") or {}
    if darc.get("include_original") is False:
        return True
    if darc.get("models") or darc.get("adaptive"):
        # Models are those of the backend, and asking for fewer grades takes a calibration.
        return True
    if scores is None:
        return False
    if darc.get("normalize") == "fixed":
        return True
    size = shape(scores)
    if size is None:
        return True
    scorers = 1 if len(size) == 2 else size[0]
    if body.get("grades"):
        grades = shape(body["grades"])
        if grades is None or len(grades) != 4 or grades[1:3] != size[-2:]:
            return True
    named = {"scorers": scorers, "raters": size[-1], "names": size[-2], "orders": size[-1]}
    return any(len(body.get(name, ())) not in (0, most) for name, most in named.items())


def shape(value: Any) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return ()
    inner = {shape(each) for each in value}
    only = inner.pop() if len(inner) == 1 else None
    return None if only is None else (len(value), *only)

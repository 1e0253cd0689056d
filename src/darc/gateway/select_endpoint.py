"""POST /v1/select: candidates or scores of the client's own."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.api import select
from darc.errors import DarcError
from darc.gateway.method import Method, read_method, split_model, whole, wrong
from darc.gateway.request import MOST_CHOICES, for_candidates, onward, read_prompt
from darc.gateway.service import SMALL, Gateway
from darc.gateway.streaming import ClientLeft, begun, unless_gone
from darc.models.remote.scope import Caller
from darc.web.bodies import read_body, read_object
from darc.web.problems import Problem

LEFT = 499


async def selection(gateway: Gateway, request: Request) -> Response:
    """The decision, as JSON."""
    given = await read_body(request, gateway.settings.max_body)
    body = await gateway.busily(len(given) > SMALL, read_object, given)
    method = read_method(body.get("darc"), "", gateway.settings)
    model = body.get("model") or gateway.settings.model
    if not isinstance(model, str):
        raise wrong("model", "is no text")
    headers = for_candidates(onward(request.headers, gateway.trusting))
    caller = Caller(gateway.backend.name, split_model(model)[1], headers)
    work = begun(_decided(gateway, body, method, request.state.request_id, caller))
    try:
        await unless_gone(request, work)
    except ClientLeft:
        return Response(status_code=LEFT)
    large = len(given) > SMALL or method.n_aug > 8
    content = await gateway.busily(large, as_json, work.result())
    return Response(content, media_type="application/json")


def as_json(data: Any) -> bytes:
    """The bytes of an answer."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


async def _decided(
    gateway: Gateway, body: Mapping[str, Any], method: Method, request_id: str, caller: Caller
) -> dict[str, Any]:
    given = {name for name in ("scores", "candidates") if body.get(name) is not None}
    if len(given) != 1:
        raise wrong("candidates", "or scores must be given, and not both")
    if given == {"scores"}:
        async with gateway.gate:
            most = gateway.settings.max_scores
            return await gateway.busily(True, by_scores, body["scores"], method, request_id, most)
    texts = body["candidates"]
    fine = isinstance(texts, list) and texts and all(isinstance(t, str) for t in texts)
    if not fine or len(texts) > gateway.settings.max_k:
        raise wrong("candidates", f"must be 1 to {gateway.settings.max_k} texts (max_k)")
    n = whole(body.get("n"), "n", 1, MOST_CHOICES) or 1
    messages = body.get("messages")
    if messages is None:
        if not isinstance(body.get("prompt"), str):
            raise wrong("messages", "or prompt must be given with candidates")
        messages = [{"role": "user", "content": body["prompt"]}]
    prompt = read_prompt({"messages": messages})
    return await gateway.select(method, prompt, texts, n, request_id, caller)


def by_scores(scores: Any, method: Method, request_id: str, most: int) -> dict[str, Any]:
    """The decision on at most `most` scores, (K, n) or (M, K, n), null where there is none."""
    if not isinstance(scores, list) or _count(scores) > most:
        raise wrong("scores", f"must be a list of lists of at most {most} numbers (max_scores)")
    spec = method.spec
    if spec.rule.required():
        needed = " and ".join(spec.rule.required())
        raise wrong("darc.rule", f"{spec.rule.name!r} needs {needed} besides scores")
    if method.normalize == "fixed":
        raise wrong("darc.normalize", "must be prompt or none for scores of your own")
    normalize: Any = None if method.normalize == "auto" else method.normalize
    try:
        decision = select(
            _numbers(scores),
            spec.rule_for(()),
            beta=spec.beta,
            gamma=spec.gamma,
            normalize=normalize,
        )
        return {**decision.to_dict(), "request_id": request_id}
    except DarcError as problem:
        raise Problem(400, str(problem), code="invalid_scores", param="scores") from None
    except (ValueError, TypeError, OverflowError):
        raise wrong("scores", "must be numbers in lists of one length") from None


def _numbers(value: Any) -> Any:
    """Lists of numbers with NaN for null; whatever is no number is a `TypeError`."""
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return float(value)


def _count(value: Any) -> int:
    return sum(map(_count, value)) if isinstance(value, list) else 1

"""Scores of the fake server: a function of the texts alone, as logits or as probabilities."""

import math
from collections.abc import Sequence
from typing import Any

from tests.fakes.answers import number


def logit(*texts: str) -> float:
    """Between -4 and 4, in eighths."""
    return (number(*texts) % 65 - 32) / 8


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def activated(values: Sequence[float], raw: bool) -> list[float]:
    """The logits themselves, or what a server makes of them by default."""
    if raw:
        return list(values)
    if len(values) == 1:
        return [sigmoid(values[0])]
    total = sum(math.exp(value) for value in values)
    return [math.exp(value) / total for value in values]


def rendered(body: dict[str, Any]) -> list[str]:
    """The texts of a request, a conversation joined as a chat template would."""
    if "messages" in body:
        return ["".join(f"<{m['role']}>{m['content']}" for m in body["messages"])]
    texts = body["input"]
    return [texts] if isinstance(texts, str) else texts


def classify(body: dict[str, Any], classes: int, raw: bool) -> dict[str, Any]:
    data = []
    for index, text in enumerate(rendered(body)):
        probs = activated([logit(text, str(i)) for i in range(classes)], raw)
        data.append({"index": index, "label": "LABEL_0", "probs": probs, "num_classes": classes})
    return {"id": "classify-1", "object": "list", "model": body.get("model"), "data": data}


def pooling(body: dict[str, Any], classes: int, raw: bool) -> dict[str, Any]:
    """A row a token, as a pooler over all tokens gives it; the last is the answer's."""
    data = []
    for index, text in enumerate(rendered(body)):
        last = activated([logit(text, str(i)) for i in range(classes)], raw)
        data.append({"index": index, "object": "pooling", "data": [[9.0] * classes, last]})
    return {"id": "pool-1", "object": "list", "model": body.get("model"), "data": data}


def score(body: dict[str, Any], raw: bool) -> dict[str, Any]:
    pairs = zip(body["text_1"], body["text_2"], strict=True)
    data = [
        {"index": i, "object": "score", "score": activated([logit(*pair)], raw)[0]}
        for i, pair in enumerate(pairs)
    ]
    return {"id": "score-1", "object": "list", "data": data[::-1]}


def predict(body: dict[str, Any], classes: int) -> list[list[dict[str, Any]]]:
    """Best class first, as text-embeddings-inference sorts them."""
    result = []
    for texts in body["inputs"]:
        values = [logit(*texts, str(i)) for i in range(classes)]
        scores = activated(values, body.get("raw_scores", False))
        best = sorted(range(classes), key=lambda i: -scores[i])
        result.append([{"score": scores[i], "label": f"LABEL_{i}"} for i in best])
    return result


def plain(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "scores": [
            logit(*(m["content"] for m in pair["messages"]), pair["response"])
            for pair in body["pairs"]
        ]
    }

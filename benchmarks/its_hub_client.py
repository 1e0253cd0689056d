"""Best-of-8 with a judge by its_hub, as a library, in an environment that has its_hub installed.

Run by `benchmarks.gateway` with the Python of that environment: python its_hub_client.py URL
OPTIONS, where OPTIONS is JSON. Prints one JSON object with milliseconds and requests per second.
"""

import asyncio
import json
import sys
import time
import urllib.request
from typing import Any

from its_hub.core.algorithms.bon import BestOfN
from its_hub.core.lms.openai_lm import OpenAICompatibleLanguageModel
from its_hub.core.reward_models.llm_judge import LLMJudge


def calls(backend: str) -> int:
    with urllib.request.urlopen(f"{backend}/calls") as answer:
        return int(json.load(answer)["calls"])


async def measured(backend: str, options: dict[str, Any]) -> dict[str, float]:
    model = OpenAICompatibleLanguageModel(f"{backend}/v1", api_key="none", model_name="fake")
    algorithm = BestOfN(LLMJudge(model))

    async def ask() -> float:
        begun = time.perf_counter()
        reply = await algorithm.ainfer(model, options["question"], options["k"])
        assert reply["content"]
        return (time.perf_counter() - begun) * 1000

    for _ in range(3):
        await ask()
    before = calls(backend)
    alone = sorted([await ask() for _ in range(options["sequential"])])
    calls_per_request = (calls(backend) - before) / options["sequential"]
    places = asyncio.Semaphore(options["clients"])

    async def waiting() -> float:
        async with places:
            return await ask()

    rates = []
    for _ in range(3):
        begun = time.perf_counter()
        await asyncio.gather(*(waiting() for _ in range(options["requests"])))
        rates.append(options["requests"] / (time.perf_counter() - begun))
    await model.close()
    return {
        "p50": alone[len(alone) // 2],
        "p95": alone[int(len(alone) * 0.95)],
        "rate": sorted(rates)[1],
        "calls": calls_per_request,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(sys.argv[1], json.loads(sys.argv[2])))))

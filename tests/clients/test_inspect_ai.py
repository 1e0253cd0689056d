from pathlib import Path

import inspect_ai
import pytest
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes
from tests.clients.conftest import KEY, was_chosen
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients


def test_a_task_is_evaluated(address: str, backend: FakeServer, tmp_path: Path) -> None:
    model = get_model(
        "openai-api/mine/fake", base_url=address, api_key=KEY,
        config=GenerateConfig(max_retries=0),
    )  # fmt: skip
    samples = [Sample(input=f"Why are there {n} tides?", target="Moon") for n in ("two", "four")]
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=samples, scorer=includes()), model=model, log_dir=str(tmp_path),
        display="none",
    )  # fmt: skip
    assert log.status == "success", log.error
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    was_chosen(backend, 2)

"""EleutherAI's lm-evaluation-harness with its model `local-chat-completions`."""

import json
from pathlib import Path

import pytest
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients
TASK = """\
task: tides
dataset_path: json
dataset_kwargs: {{data_files: {{test: {rows}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n"], max_gen_toks: 64, temperature: 1.0, do_sample: true}}
metric_list:
  - metric: exact_match
    ignore_punctuation: true
"""


def test_a_task_is_evaluated(
    address: str, backend: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    rows = [{"question": f"Why are there {n} tides?", "answer": SENTENCE} for n in ("two", "four")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "tides.yaml").write_text(TASK.format(rows=tmp_path / "rows.jsonl"))
    evaluation = simple_evaluate(
        model="local-chat-completions",
        model_args=f"model=fake,base_url={address}/chat/completions,num_concurrent=2,max_retries=1",
        tasks=["tides"],
        task_manager=TaskManager(include_path=str(tmp_path), include_defaults=False),
        apply_chat_template=True,
    )
    assert evaluation["results"]["tides"]["exact_match,none"] == 1.0
    was_chosen(backend, 2)

"""Simon Willison's `llm`, whose models of one's own are named in a YAML file."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.clients.conftest import KEY, SENTENCE, was_chosen
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients
MODEL = "- model_id: mine\n  model_name: fake\n  api_base: {address}\n  api_key_name: mine\n"


@pytest.mark.parametrize("more", [(), ("--no-stream",)])
def test_prompt_is_answered(
    more: tuple[str, ...], address: str, backend: FakeServer, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    (tmp_path / "extra-openai-models.yaml").write_text(MODEL.format(address=address))
    (tmp_path / "keys.json").write_text(f'{{"mine": "{KEY}"}}')
    from llm.cli import cli

    made = CliRunner().invoke(cli, ["-m", "mine", *more, "Why are there two tides?"])
    assert made.exit_code == 0, made.output
    assert made.output.startswith(SENTENCE)
    was_chosen(backend)

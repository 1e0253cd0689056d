"""Every recipe of docs/clients.md, as it stands there but for the address and the model's name."""

import re
from pathlib import Path

import pytest
from tests.clients.conftest import was_chosen
from tests.fakes import FakeServer

pytestmark = pytest.mark.clients
PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
RECIPES = re.findall(
    r"## (\S+)\n[^#]*?```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)


def test_all_are_found() -> None:
    names = ["openai", "LiteLLM", "LangChain", "LlamaIndex", "DSPy", "instructor", "inspect_ai"]
    assert [name for name, _ in RECIPES] == names


@pytest.mark.parametrize(("name", "code"), RECIPES, ids=[name for name, _ in RECIPES])
def test_recipe(
    name: str, code: str, address: str, backend: FakeServer, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for library in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    code = code.replace("http://127.0.0.1:8000/v1", address).replace('MODEL"', 'fake"')
    exec(compile(code, f"{PAGE.name}: {name}", "exec"), {"__name__": "recipe"})
    assert re.search("Moon|Brest|1.0", capsys.readouterr().out)
    was_chosen(backend)

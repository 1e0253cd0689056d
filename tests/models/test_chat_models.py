from pathlib import Path

import pytest

from darc.errors import InputError
from darc.models.chat_models import chat_model
from darc.models.remote.openai import OpenAIModel


def test_model_on_a_server() -> None:
    model = chat_model("org/name@http://localhost:1/v1/", timeout=3.0)
    assert isinstance(model, OpenAIModel)
    assert model.name == "org/name"
    other = chat_model("m@http://h")
    assert isinstance(other, OpenAIModel)
    assert other.version == "m@http://h/v1"


@pytest.mark.parametrize("text", ["", "embedded"])
def test_embedded_model_must_be_installed(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="run: darc models install"):
        chat_model(text)


@pytest.mark.parametrize("text", ["gpt", "http://h"])
def test_other_names(text: str) -> None:
    with pytest.raises(InputError, match="write embedded, transformers:MODEL or MODEL@URL"):
        chat_model(text)

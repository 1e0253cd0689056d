from pathlib import Path

import pytest

from darc.models.installed import cache_folder


@pytest.mark.skipif("sys.platform != 'linux'", reason="XDG is Linux's")
@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"DARC_CACHE": "/data/darc", "XDG_CACHE_HOME": "/x"}, "/data/darc"),
        ({"DARC_CACHE": "~/kept"}, "~/kept"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/darc"),
        ({"XDG_CACHE_HOME": ""}, "~/.cache/darc"),
        ({}, "~/.cache/darc"),
    ],
)
def test_cache_folder(
    environment: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DARC_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(expected).expanduser()

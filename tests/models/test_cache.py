from pathlib import Path

import pytest

from darc.models.cache import cache_folder


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"DARC_CACHE": "/data/darc", "XDG_CACHE_HOME": "/x"}, "linux", "/data/darc"),
        ({"XDG_CACHE_HOME": "/x"}, "linux", "/x/darc"),
        ({"XDG_CACHE_HOME": "relative"}, "linux", "~/.cache/darc"),
        ({}, "linux", "~/.cache/darc"),
        ({"XDG_CACHE_HOME": "/x"}, "darwin", "~/Library/Caches/darc"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/darc"),
        ({}, "win32", "~/AppData/Local/darc"),
    ],
)
def test_cache_folder(environment: dict[str, str], platform: str, expected: str) -> None:
    assert cache_folder(environment, platform) == Path(expected).expanduser()

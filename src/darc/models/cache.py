"""Where downloaded files are kept."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "DARC_CACHE"


def cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where downloaded files are kept: DARC_CACHE, else by the platform's convention."""
    given = environment.get(VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
    elif platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        # The XDG rules say that a relative path is to be ignored.
        named = environment.get("XDG_CACHE_HOME", "")
        base = Path(named) if named.startswith("/") else Path.home() / ".cache"
    return base / "darc"

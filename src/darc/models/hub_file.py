"""Downloading a weights file from the model hub."""

import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from darc.errors import DarcError
from darc.models.catalogue import CatalogueEntry

ENDPOINT_ENV = "HF_ENDPOINT"
OFFLINE_ENV = "HF_HUB_OFFLINE"

_ENDPOINT = "https://huggingface.co"
_TIMEOUT_SECONDS = 15.0
_CHUNK_BYTES = 1 << 20
_REPORT_EVERY_BYTES = 50_000_000
_PARTIAL_CONTENT = 206
_OFF = ("", "0", "false", "no")


def fetch_from_hub(entry: CatalogueEntry, folder: Path, report: Callable[[str], None]) -> Path:
    """Download a weights file, going on where an earlier attempt ended.

    Args:
        entry: The model.
        folder: Where the unfinished file is, and stays after an error.
        report: Called with a sentence per 50 MB.

    Returns:
        The file; its hash is not checked here.

    Raises:
        DarcError: The hub cannot be reached, has no such file, or ended the download early.
    """
    if os.environ.get(OFFLINE_ENV, "").lower() not in _OFF:
        raise DarcError(f"{OFFLINE_ENV} is set, so {entry.hub} was not asked for the file")
    endpoint = os.environ.get(ENDPOINT_ENV) or _ENDPOINT
    url = f"{endpoint.rstrip('/')}/{entry.hub}/resolve/main/{entry.file_name}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / entry.file_name
    try:
        _download(url, path, entry.size, report)
    except (OSError, ValueError) as problem:
        # URLError and timeouts are OSError; an endpoint that is not a URL is ValueError.
        raise DarcError(f"{url} could not be fetched: {_reason(problem)}") from None
    size = path.stat().st_size
    if size != entry.size:
        path.unlink()
        raise DarcError(f"{url} has {size} bytes, not {entry.size}")
    return path


def _download(url: str, path: Path, size: int, report: Callable[[str], None]) -> None:
    done = path.stat().st_size if path.is_file() else 0
    if done >= size:
        return
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"})
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
        mode = "ab"
        if getattr(response, "status", None) != _PARTIAL_CONTENT:
            mode = "wb"
            done = 0
        next_report = done + _REPORT_EVERY_BYTES
        with path.open(mode) as file:
            while chunk := response.read(_CHUNK_BYTES):
                file.write(chunk)
                done += len(chunk)
                if done >= next_report:
                    report(f"{done / 1e6:,.0f} of {size / 1e6:,.0f} MB ({done / size:.0%})")
                    next_report += _REPORT_EVERY_BYTES


def _reason(problem: OSError | ValueError) -> str:
    if isinstance(problem, urllib.error.HTTPError):
        return f"status {problem.code}"
    if isinstance(problem, urllib.error.URLError):
        return str(problem.reason)
    return str(problem)

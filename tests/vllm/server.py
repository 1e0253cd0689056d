"""A real vLLM on this machine's CPU, from an environment of its own."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = Path(os.environ.get("DARC_VLLM_PYTHON", ROOT / ".venv-vllm" / "bin" / "python"))
SETTINGS = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
}
SECONDS = 600.0


@contextmanager
def serving(model: str, log: Path, *options: str) -> Iterator[str]:
    """The URL of a server with this model, called "tiny", which ends with the block."""
    if not PYTHON.exists():
        pytest.fail(f"there is no {PYTHON}; run: make test-vllm")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # The package's own `vllm` command looks for a distribution of that name, which is another.
    command = [str(PYTHON), "-m", "vllm.entrypoints.openai.api_server", "--model", model]
    command += ["--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--dtype", "float32", "--max-model-len", "1024", "--max-num-seqs", "8"]
    command += ["--enforce-eager", *options]
    with log.open("wb") as told:
        server = subprocess.Popen(
            command, cwd=log.parent, env={**os.environ, **SETTINGS}, stdout=told, stderr=told
        )
    url = f"http://127.0.0.1:{port}"
    try:
        ends = time.monotonic() + SECONDS
        while not _healthy(url):
            if server.poll() is not None or time.monotonic() > ends:
                pytest.fail(f"vLLM did not start:\n{log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.5)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False

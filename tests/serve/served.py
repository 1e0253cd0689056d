"""`darc serve` as a process of its own, as somebody starts it in a terminal."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

START_SECONDS = 90.0
STOP_SECONDS = 40.0


class Served:
    """A gateway in a process of its own: its URL, its log, and its worker processes."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "darc", "serve", "--port", "0", *options]
        environment = {**os.environ, "OPENAI_API_KEY": ""}
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
        )
        assert self.process.stderr is not None
        first_line = self.process.stderr.readline().strip()
        assert "base URL" in first_line, first_line + self.process.stderr.read()
        self.url = first_line.rpartition(" ")[2].removesuffix("/v1")
        self.lines = [first_line]
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    def log(self) -> list[dict[str, Any]]:
        """The lines of the log so far."""
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def ready(self) -> None:
        wait_until(lambda: self._status("/readyz") == 200)

    def _status(self, path: str) -> int:
        try:
            return httpx.get(f"{self.url}{path}", timeout=20).status_code
        except httpx.TransportError:
            return 0

    def workers(self) -> list[int]:
        """The ids of the processes that answer requests."""
        parent = self.process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return [int(child) for child in children if "spawn_main" in _command_of(child)]

    def metrics(self) -> dict[tuple[str, ...], float]:
        """The values by names of metrics and values of labels."""
        text = httpx.get(f"{self.url}/metrics", timeout=20).text
        return {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def tell(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self) -> int:
        """Tell the gateway to stop, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        finally:
            if self.process.poll() is None:
                self.process.kill()
            self._reader.join(10)
            assert self.process.stderr is not None
            self.process.stderr.close()


@contextmanager
def served(*options: str) -> Iterator[Served]:
    """A gateway that is ready."""
    gateway = Served(*options)
    try:
        gateway.ready()
        yield gateway
    finally:
        gateway.stop()


def wait_until(condition: Any, seconds: float = START_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)


def _command_of(process: str) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""

"""A study served by the command itself, in a process that can be killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import httpx

from darc.web.server import listen


class Server:
    """`darc study serve` in a process of its own, which can be killed and started again."""

    def __init__(self, place: str, log: Path, *options: str) -> None:
        bound = listen("127.0.0.1", 0)
        self.port: int = bound.getsockname()[1]
        bound.close()
        self._place = place
        self._log = log
        self._options = options
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "darc", "study", "serve", "--port", str(self.port)]
        variables = {"DARC_STUDY_DATABASE": self._place, "PYTHONFAULTHANDLER": "1"}
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *self._options], env={**os.environ, **variables}, stderr=log
            )
        until = time.monotonic() + 30
        while True:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/healthz").status_code == 200:
                    return
            except httpx.TransportError:
                assert self.process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.stop(signal.SIGTERM)

    def dump(self) -> str:
        """What the server said, and where its threads are when it is aborted."""
        self.stop(signal.SIGABRT)
        return self._log.read_text()[-8000:]

    def stop(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(30)

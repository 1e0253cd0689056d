"""Processes that are started again when they end."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from darc.web.signals import release_signals
from darc.web.supervisor import Supervisor

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")

SECONDS = 60.0


def serve_until_told(folder: Path, place: int) -> None:
    """Note every start and every SIGHUP in a file; end at SIGTERM."""
    signal.signal(signal.SIGHUP, lambda *_: (folder / f"told-{place}").touch())
    (folder / f"started-{place}-{os.getpid()}").touch()
    release_signals()
    while True:
        time.sleep(0.05)


def wait_for(folder: Path, pattern: str, count: int) -> list[Path]:
    end = time.monotonic() + SECONDS
    while len(paths := list(folder.glob(pattern))) < count:
        assert time.monotonic() < end
        time.sleep(0.02)
    return paths


def test_processes_are_kept_running_and_told(tmp_path: Path) -> None:
    ended: list[tuple[int, int]] = []
    stopped: list[bool] = []
    errors: list[BaseException] = []
    may_hang_up = [False]

    def start(place: int) -> BaseProcess:
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=serve_until_told, args=(tmp_path, place))
        process.start()
        return process

    def steer() -> None:
        try:
            wait_for(tmp_path, "started-*", 2)
            (first,) = tmp_path.glob("started-0-*")
            victim = int(first.name.rpartition("-")[2])
            os.kill(victim, signal.SIGKILL)
            wait_for(tmp_path, "started-0-*", 2)
            assert ended == [(0, victim)]
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.6)
            assert not list(tmp_path.glob("told-*"))
            may_hang_up[0] = True
            os.kill(os.getpid(), signal.SIGHUP)
            wait_for(tmp_path, "told-*", 2)
        except BaseException as error:
            errors.append(error)
        os.kill(os.getpid(), signal.SIGTERM)

    supervisor = Supervisor(
        2,
        start,
        forget=lambda place, process: ended.append((place, process)),
        hang_up=lambda: may_hang_up[0],
        grace=5.0,
    )
    steering = threading.Thread(target=steer)
    steering.start()
    supervisor.run(on_stop=lambda: stopped.append(True))
    steering.join()
    assert not errors, errors
    assert stopped == [True]
    assert not multiprocessing.active_children()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL

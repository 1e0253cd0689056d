"""Several processes that serve together, and one that looks after them."""

import logging
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from darc.web.signals import HANDLED_SIGNALS, held_signals

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.2
# A process that has served for this long was not broken from the start.
_SOUND_SECONDS = 10.0
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
# What processes have beyond their grace to end by themselves.
_END_SECONDS = 5.0


class Supervisor:
    """Starts processes, starts those again that end, and passes signals on to them."""

    def __init__(
        self,
        processes: int,
        start: Callable[[int], BaseProcess],
        *,
        forget: Callable[[int, int], None],
        hang_up: Callable[[], bool],
        grace: float,
    ) -> None:
        """Make a supervisor.

        Args:
            processes: How many processes there are.
            start: Starts the process of a place, from 0.
            forget: Called with the place and the id of a process that has ended.
            hang_up: Called at SIGHUP; whether the processes are to be told.
            grace: How many seconds the processes have to end after SIGTERM.
        """
        self._places = [_Place(number) for number in range(processes)]
        self._start = start
        self._forget = forget
        self._hang_up = hang_up
        self._grace = grace
        self._stop_signal: int | None = None
        self._must_hang_up = False

    def run(self, on_stop: Callable[[], None] = lambda: None) -> None:
        """Serve until SIGINT or SIGTERM, and let the processes end what they do.

        Args:
            on_stop: Called before the processes are told to stop.

        Raises:
            KeyboardInterrupt: After SIGINT.
        """
        handlers = {number: signal.signal(number, self._note) for number in HANDLED_SIGNALS}
        try:
            while self._stop_signal is None:
                self._start_missing()
                alive = [place.process.sentinel for place in self._places if place.process]
                wait(alive, _LOOK_SECONDS)
                if self._must_hang_up:
                    self._must_hang_up = False
                    if self._hang_up():
                        self._tell_all(signal.SIGHUP)
            on_stop()
        finally:
            self._stop_all()
            for number, handler in handlers.items():
                signal.signal(number, handler)
        if self._stop_signal == signal.SIGINT:
            raise KeyboardInterrupt

    def _note(self, number: int, _: Any) -> None:
        if number in (signal.SIGINT, signal.SIGTERM):
            self._stop_signal = number
        else:
            self._must_hang_up = True

    def _start_missing(self) -> None:
        """Start the processes that have not begun, or have ended."""
        for place in self._places:
            process = place.process
            if process is not None and not process.is_alive():
                logger.error(
                    "process %s has ended (%s) and is started again", process.pid, process.exitcode
                )
                self._forget(place.number, process.pid or 0)
                place.note_end()
            if place.process is None and time.monotonic() >= place.not_before:
                place.began = time.monotonic()
                with held_signals():
                    place.process = self._start(place.number)

    def _stop_all(self) -> None:
        self._tell_all(signal.SIGTERM)
        end = time.monotonic() + self._grace + _END_SECONDS
        for place in self._places:
            if place.process is None:
                continue
            place.process.join(max(0.0, end - time.monotonic()))
            if place.process.is_alive():
                logger.error("process %s does not end and is killed", place.process.pid)
                place.process.kill()
                place.process.join()

    def _tell_all(self, number: int) -> None:
        for place in self._places:
            process = place.process
            if process is not None and process.is_alive():
                _send_signal(process, number)


class _Place:
    """A process, and when it may be started again."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: BaseProcess | None = None
        self.began = 0.0
        self.not_before = 0.0
        self._pause = _FIRST_PAUSE

    def note_end(self) -> None:
        """Start the process again: at once if it had been sound, later and later if not."""
        self.process = None
        now = time.monotonic()
        if now - self.began >= _SOUND_SECONDS:
            self._pause = _FIRST_PAUSE
            self.not_before = now
            return
        self.not_before = now + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)


def _send_signal(process: BaseProcess, number: int) -> None:
    """Send a signal to a process of ours, unless it has just ended."""
    if process.pid is not None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)

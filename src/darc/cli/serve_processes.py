"""`darc serve --processes N`: several processes that answer requests together."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING

from darc.cli.serve import arrival_limits
from darc.errors import DarcError
from darc.serve.process_share import ProcessShare
from darc.serve.settings import ServeSettings
from darc.settings.serve import ServeCommandSettings
from darc.web.keys import Keys

if TYPE_CHECKING:
    from darc.serve.service import Gateway

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class GatewayFiles:
    """What was read from the files of a gateway, and can be used."""

    settings: ServeSettings
    keys: Keys


@dataclass(frozen=True)
class WorkerJob:
    """What a process needs in order to answer requests."""

    command_settings: ServeCommandSettings
    #: Reads the files of the gateway again.
    read_settings: Callable[[], ServeSettings]
    #: What was read last and can be used, whatever the files have become since.
    files: GatewayFiles
    #: The socket that all processes accept connections from.
    listener: socket.socket
    share: ProcessShare


def serve_in_processes(
    settings: ServeCommandSettings,
    read_settings: Callable[[], ServeSettings],
    gateway: "Gateway",
    listener: socket.socket,
) -> None:
    """Serve in several processes until SIGINT or SIGTERM.

    Args:
        settings: The settings of the command.
        read_settings: Reads the files of the gateway again; it can be pickled.
        gateway: A gateway with these settings, which answers no requests itself.
        listener: A socket that listens; it is closed at the end.
    """
    with tempfile.TemporaryDirectory(prefix="darc-serve-") as folder:
        _Processes(settings, read_settings, gateway, listener, Path(folder)).run()


class _Processes:
    """The processes of a gateway, and what they share."""

    def __init__(
        self,
        settings: ServeCommandSettings,
        read_settings: Callable[[], ServeSettings],
        gateway: "Gateway",
        listener: socket.socket,
        folder: Path,
    ) -> None:
        self._settings = settings
        self._read_settings = read_settings
        self._gateway = gateway
        from darc.serve.app import keys_of

        self._files = GatewayFiles(gateway.settings, keys_of(gateway.settings))
        self._listener = listener
        self._share = ProcessShare(folder, settings.processes, 0)
        self._share.metrics_folder.mkdir()
        self._gate = self._share.gate(gateway.settings)
        self._client_limits = self._share.client_limits()

    def run(self) -> None:
        """Serve until the processes are told to stop."""
        from darc.web.supervisor import Supervisor

        supervisor = Supervisor(
            self._settings.processes,
            self._start,
            forget=self._forget,
            hang_up=self._read_again,
            grace=self._settings.grace,
        )
        supervisor.run(on_stop=self._listener.close)

    def _start(self, place: int) -> BaseProcess:
        job = WorkerJob(
            command_settings=self._settings,
            read_settings=self._read_settings,
            files=self._files,
            listener=self._listener,
            share=ProcessShare(self._share.folder, self._settings.processes, place),
        )
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=run_worker, args=(job,), name=f"darc-serve-{place}")
        with _metrics_in(self._share.metrics_folder):
            process.start()
        return process

    def _forget(self, place: int, process_id: int) -> None:
        """Forget what a process that has ended was doing; what it has counted stays."""
        from prometheus_client.multiprocess import mark_process_dead

        self._gate.forget_process(place)
        self._client_limits.forget_process(place)
        mark_process_dead(  # type: ignore[no-untyped-call]
            process_id, str(self._share.metrics_folder)
        )

    def _read_again(self) -> bool:
        """Whether the files can be used, so that the processes are to read them again."""
        from darc.serve.app import keys_of, make_gateway

        try:
            settings = self._read_settings()
            make_gateway(settings, lasting=self._gateway.lasting)
            self._files = GatewayFiles(settings, keys_of(settings))
        except DarcError as error:
            logger.error("the files were not read again, the old ones stay in use: %s", error)
            return False
        return True


def run_worker(job: WorkerJob) -> None:
    """Answer requests in a process of its own, until it is told to stop.

    Args:
        job: What it needs.
    """
    from darc.serve.app import make_app, make_gateway
    from darc.web.allowed_hosts import AllowedHosts
    from darc.web.logs import log_as_json
    from darc.web.server import serve

    command_settings = job.command_settings
    log_as_json(command_settings.log_level, key_env=job.files.settings.backend_key_env)
    threading.Thread(target=_stop_after_parent, daemon=True).start()
    cores = os.cpu_count() or 1

    def read_settings() -> ServeSettings:
        return job.share.limit_settings(job.read_settings(), cores)

    settings = job.share.limit_settings(job.files.settings, cores)
    gateway = make_gateway(settings, share=job.share)
    hosts = AllowedHosts(command_settings.host, command_settings.allowed_hosts)
    app = make_app(settings, gateway, hosts, read_settings, job.files.keys)
    limits = arrival_limits(command_settings)
    try:
        serve(app, job.listener, command_settings.grace, limits, app.reload)
    except KeyboardInterrupt:
        sys.exit(0)
    except DarcError as error:
        logger.error("%s", error)
        sys.exit(1)


def _stop_after_parent() -> None:
    """Stop when the process that looks after this one has ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _metrics_in(folder: Path) -> Iterator[None]:
    """Have the processes that are started meanwhile keep their metrics in a folder."""
    from darc.serve.metrics import SHARED_FOLDER

    os.environ[SHARED_FOLDER] = str(folder)
    try:
        yield
    finally:
        del os.environ[SHARED_FOLDER]

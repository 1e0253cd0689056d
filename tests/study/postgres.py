"""A PostgreSQL server of the tests' own, in a temporary folder, run by an unprivileged user."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

USER = "nobody"
MISSING = "there are no PostgreSQL binaries; on Debian: apt-get install postgresql"


def binaries() -> Path | None:
    """The folder of initdb and postgres, None where they are not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql")
    folders = sorted(versions.glob("*/bin/initdb")) if versions.is_dir() else []
    return folders[-1].parent if folders else None


@contextmanager
def postgres_server(tools: Path) -> Iterator[str]:
    """The URL of a running server; %s stands for the database's name."""
    folder = Path(tempfile.mkdtemp(prefix="darc-pg-"))
    drop: dict[str, Any] = {}
    if os.geteuid() == 0:
        shutil.chown(folder, USER)
        drop = {"user": USER, "group": "nogroup", "extra_groups": []}
    data = folder / "data"
    common = {"cwd": folder, "env": {**os.environ, "HOME": str(folder), "LC_ALL": "C"}, **drop}

    def tool(name: str, *arguments: object) -> list[str]:
        return [str(tools / name), *map(str, arguments)]

    initdb = tool("initdb", "-D", data, "-U", "study", "-A", "trust", "-E", "UTF8", "--no-sync")
    subprocess.run(initdb, check=True, capture_output=True, **common)
    # What is thrown away need not outlive a crash.
    quick = [f"-c{name}=off" for name in ("fsync", "full_page_writes", "synchronous_commit")]
    running = tool("postgres", "-D", data, "-k", folder, "-clisten_addresses=", *quick)
    ready = tool("pg_isready", "-q", "-h", folder, "-U", "study", "-d", "postgres")
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(running, stdout=log, stderr=log, **common)
        try:
            until = time.monotonic() + 60
            while subprocess.run(ready, check=False).returncode:
                assert server.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < until
                time.sleep(0.05)
            yield f"postgresql://study@/%s?host={folder}"
        finally:
            server.send_signal(signal.SIGQUIT)  # which waits for neither clients nor files
            server.wait(30)
            shutil.rmtree(folder, ignore_errors=True)

import asyncio
import os
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from darc.engine.threads import run_in_thread


def test_threads_are_used_again_and_keep_their_callers_context() -> None:
    told: ContextVar[int] = ContextVar("told", default=0)

    def look() -> tuple[int, threading.Thread]:
        return told.get(), threading.current_thread()

    async def main() -> list[tuple[int, threading.Thread]]:
        found = []
        for number in range(20):
            told.set(number)
            found.append(await run_in_thread(look))
        return found

    found = asyncio.run(main())
    assert [number for number, _ in found] == list(range(20))
    assert len({thread for _, thread in found}) < 10
    assert all(thread.daemon for _, thread in found)


FORKED = """
import asyncio, os, time
from darc.engine.threads import run_in_thread

def once():
    assert asyncio.run(asyncio.wait_for(run_in_thread(len, "four"), 5)) == 4

once()
time.sleep(0.1)
process = os.fork()
once()
if process:
    print(os.waitpid(process, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, check=True)
    assert done.stdout.decode().split() == ["0"]

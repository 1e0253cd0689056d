import multiprocessing
import subprocess
import sys
from pathlib import Path

from tests.engine.makers import ANSWERS, PROMPT, at_once

from darc.engine.engine import Engine
from darc.engine.scoring import ScorerRetry

SCRIPT = """
from darc.engine.engine import Engine
with Engine(scorers=["form"], n_aug=0, workers=1) as engine:
    print(engine.choose("Why?", ["Because it is so.", "I do not know."]).answer)
"""


def test_a_script_without_a_main_block_is_told_to_have_one(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("Traceback") == 1
    told = done.stderr.splitlines()[-1]
    assert told.startswith("darc.errors.InputError: no worker process could be started; ")
    assert told.endswith('below a line: if __name__ == "__main__":')


def test_processes_that_were_killed_while_idle_are_replaced() -> None:
    patience = ScorerRetry(sleep=at_once)
    with Engine(scorers=["form"], n_aug=0, workers=1, retry=patience) as engine:
        before = engine.choose(PROMPT, ANSWERS)
        (process,) = multiprocessing.active_children()
        process.kill()
        after = engine.choose(PROMPT, ANSWERS)
    assert before.scores.values.tolist() == after.scores.values.tolist()

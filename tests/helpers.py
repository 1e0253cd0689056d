"""What tests of several packages share."""

import io
import subprocess
import sys
import time
from unittest.mock import patch

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A run with the parts of the plugin: three answers, two rewrites each, two scorers.
ECHO = ("--generator", "echo", "--scorer", "brevity", "--scorer", "form", "-k", "3", "--n-aug", "2")

fast_settings = settings(derandomize=True, max_examples=80, deadline=None, database=None)


def run_command(*arguments: object, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a darc command in this process, which is ten times as fast as in a separate one."""
    from darc.cli import main

    words = [str(argument) for argument in arguments]
    stdin = io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8")
    stdout = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    stderr = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    with patch.multiple(sys, stdin=stdin, stdout=stdout, stderr=stderr):
        try:
            code = main(words)
        except SystemExit as exit_request:
            code = int(exit_request.code or 0)
        stdout.flush()
        stderr.flush()
    output = stdout.buffer.getvalue().decode()
    errors = stderr.buffer.getvalue().decode()
    return subprocess.CompletedProcess(words, code, output, errors)


def check_interrupted(
    running: subprocess.Popen[str], pressed: float, last: str, goal: float
) -> None:
    """Fail unless a command ends soon after an interrupt, with one line on standard error.

    `pressed` is when it was interrupted, `goal` in how many seconds it ends where the machine is
    not busy.
    """
    output, errors = running.communicate(timeout=60)
    seconds = time.monotonic() - pressed
    assert running.returncode == 130, errors
    assert not output
    assert errors.splitlines()[-1] == f"darc: interrupted; {last}"
    assert "Traceback" not in errors
    print(f"it ended after {seconds:.1f} s; the goal is {goal:g} s")
    assert seconds < 3 * goal


def assume_finite(array: Array) -> None:
    """Fail unless every number is finite."""
    assert np.isfinite(array).all()


@st.composite
def scores_with_gaps(draw: st.DrawFn, rows: int = 4, most: int = 7) -> Array:
    """Scores (rows, n) of one magnitude from 1e-12 to 1e12, at least one sample per row."""
    n = draw(st.integers(1, most))
    size = 10.0 ** draw(st.integers(-12, 12))
    unit = st.one_of(st.floats(-1, 1, width=32), st.sampled_from([-1.0, 0.0, 0.5, 1.0]))
    values = draw(st.lists(unit, min_size=rows * n, max_size=rows * n))
    scores = np.array(values, dtype=np.float64).reshape(rows, n) * size
    gaps = draw(st.lists(st.booleans(), min_size=rows * n, max_size=rows * n))
    mask = np.array(gaps).reshape(rows, n)
    mask[:, draw(st.integers(0, n - 1))] = False
    return np.where(mask, np.nan, scores)

"""The notebook, run from top to bottom in a kernel of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NOTEBOOK = Path(__file__).parents[2] / "examples" / "quickstart.ipynb"
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


def test_the_file_ships_with_its_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert all(cell.outputs for cell in cells)
    assert not any(output.output_type == "error" for cell in cells for output in cell.outputs)
    assert not re.search(r"/(home|root|tmp|work)/", NOTEBOOK.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_it_runs(tmp_path: Path) -> None:
    done = tmp_path / "done.ipynb"
    subprocess.run([sys.executable, "-c", EXECUTE, NOTEBOOK, done], check=True, timeout=120)
    outputs = [
        output
        for cell in nbformat.read(done, as_version=4).cells
        for output in cell.get("outputs", [])
    ]
    printed = "".join(
        output.get("text", "") + output.get("data", {}).get("text/html", "") for output in outputs
    )
    print(printed)
    for words in (
        "warm, not bold: ",
        "true mean above",
        "the same choice: True",
        "ratings, overall (60 prompts): ",
    ):
        assert words in printed
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)

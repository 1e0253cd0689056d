"""The numbers that the paper prints, by table, block and row."""

from functools import cache
from typing import Any

from darc.analysis.paper import CELLS, PRINTED
from darc.reproduce.layout import Cell
from darc.settings.toml_file import read_toml


@cache
def _printed() -> dict[str, Any]:
    return read_toml(PRINTED)


@cache
def _tradeoffs() -> dict[str, Any]:
    return dict(read_toml(CELLS)["tradeoffs"])


def paper_label(label: str) -> str:
    """The name of a method in the paper's data: without what stands in brackets."""
    return label.partition(" (")[0]


def printed_row(table: str, block: str, label: str, size: int) -> tuple[Cell, ...]:
    """The printed cells of a row.

    Args:
        table: The name of the table.
        block: The title of the block.
        label: The label of the row.
        size: How many cells the row has.

    Returns:
        The cells; no cells if the paper prints no such row of this size.
    """
    cells = _printed().get(table, {}).get(block, {}).get(paper_label(label), [])
    if len(cells) != size:
        return ()
    return tuple(None if cell == "-" else cell for cell in cells)


def printed_main(block: str, column: str, label: str) -> tuple[Cell, ...]:
    """Reward, risk, tradeoff and length of a method in the main table.

    Args:
        block: Overall or High-Variance.
        column: The model and the benchmark, such as Llama/MT-Bench.
        label: The method.

    Returns:
        Four cells, None where the paper prints nothing.
    """
    place = f"{block}, {column}"
    cells = _tradeoffs()["main table"].get(place, {}).get(paper_label(label))
    length = _printed()["length"].get(place, {}).get(paper_label(label))
    if cells is None:
        return (None, None, None, None)
    return (*cells, length)


def printed_outcomes(table: str, block: str, label: str) -> tuple[Cell, ...]:
    """Mean, risk, tradeoff and CVaR of a method in the human table or that of the 14B model.

    Args:
        table: The name of the table in the paper's data.
        block: The name of the block.
        label: The method.

    Returns:
        Four cells, or none if the paper has no such row.
    """
    cells = _tradeoffs()[table].get(block, {}).get(paper_label(label))
    tail = _printed()["cvar"][table].get(block, {}).get(paper_label(label))
    if cells is None:
        return ()
    return (*cells, tail)

"""What the tests of the readers share."""

import io
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

from darc.errors import TableError
from darc.ratings import Ratings, RatingTable, read_ratings
from darc.ratings.plain_files import BLOCK_BYTES

TIDY = "prompt_id,candidate_id,rater_id,rating\n"


class Cell(NamedTuple):
    """One candidate of one prompt under one scorer."""

    prompt: str
    scorer: str
    candidate: str
    samples: tuple[tuple[str, float], ...]


def table_of(
    data: str | bytes, name: str = "ratings.csv", block_bytes: int = BLOCK_BYTES, **options: Any
) -> RatingTable:
    """The table of some data, as if it came from a file of that name, read in such blocks."""
    content = data.encode("utf-8") if isinstance(data, str) else data
    with patch("darc.ratings.plain_files.BLOCK_BYTES", block_bytes):
        return read_ratings(name, stream=io.BytesIO(content), **options)


def cells_of(data: str | bytes, name: str = "ratings.csv", **options: Any) -> list[Cell]:
    """All cells of some data, in the order of the batches."""
    with table_of(data, name, **options) as table:
        return [cell for batch in table.batches() for cell in cells(batch)]


def cells(batch: Ratings) -> list[Cell]:
    """All cells of a batch; checks that the samples are packed and the rest is NaN."""
    prompts, scorers, most, depth = batch.samples.shape
    assert (prompts, scorers) == (len(batch.prompt_ids), len(batch.scorers))
    assert most == max(map(len, batch.candidate_ids))
    result = []
    for p, prompt in enumerate(batch.prompt_ids):
        assert np.isnan(batch.samples[p, :, len(batch.candidate_ids[p]) :]).all()
        for k, candidate in enumerate(batch.candidate_ids[p]):
            for m, scorer in enumerate(batch.scorers):
                places = batch.raters[p, m, k].tolist()
                raters = [batch.rater_names[place] for place in places if place >= 0]
                scores = batch.samples[p, m, k].tolist()
                assert np.isnan(scores[len(raters) :]).all()
                samples = tuple(zip(raters, scores[: len(raters)], strict=True))
                result.append(Cell(prompt, scorer, candidate, samples))
    assert depth == max(len(cell.samples) for cell in result)
    return result


def refusal(data: str | bytes, name: str = "ratings.csv", **options: Any) -> TableError:
    """The error that some data is refused with."""
    with pytest.raises(TableError) as caught, table_of(data, name, **options) as table:
        list(table.batches())
    assert str(caught.value).startswith(name)
    assert "\n" not in str(caught.value)
    return caught.value

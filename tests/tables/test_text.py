import io

import pytest

from darc.tables.source import Source
from darc.tables.text import text_blocks


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 100])
@pytest.mark.parametrize("ending", ["", "\n"])
def test_blocks_are_whole_lines(size: int, ending: str) -> None:
    data = "\ufeffone\r\n\r\ntwo é\nthree".encode() + ending.encode()
    blocks = list(text_blocks(Source("x", io.BytesIO(data)), size))
    assert "".join(block.lines for block in blocks) == "one\n\ntwo é\nthree\n"
    line = 1
    for block in blocks:
        assert block.first == line
        assert block.lines.endswith("\n")
        line += block.lines.count("\n")

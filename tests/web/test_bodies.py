import pytest

from darc.web.bodies import depth, read_object
from darc.web.problems import Problem


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'"a"', b'{"a": NaN}', b'{"a": Infinity}', b"\xff", b"[" * 100_000],
)
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(Problem) as caught:
        read_object(content)
    assert caught.value.status == 400


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(Problem):
        read_object(b'{"a": ' + b"[" * 80 + b"]" * 80 + b"}")
    assert depth({"a": [[1]]}) == 3
    assert read_object(b'{"a": [[1]]}') == {"a": [[1]]}

import pytest

from darc.web.bodies import nesting_depth, parse_json_object
from darc.web.problems import Problem


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'"a"', b'{"a": NaN}', b'{"a": Infinity}', b"\xff", b"[" * 100_000],
)
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(Problem) as caught:
        parse_json_object(content)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b'{"a": 1e400}', "a"), (b'{"a": -1e400}', "a"), (b'{"a": NaN}', "a"),
        (b'{"x": [1, {"b": [0, Infinity]}]}', "x.1.b.1"), (b'{"a": "\\ud800"}', "a"),
        (b'{"m": [{"content": "fine \xc3\xa4 \\udc00 \\ud83d\\ude00"}]}', "m.0.content"),
        (b'{"a": {"\\ud800": 1}}', "a.?"), (b'{"a": 1' + b"0" * 400 + b"}", "a"),
        (b'{"a": [1, 1' + b"0" * 9000 + b"]}", "a.1"), (b'{"a": "\xed\xa0\x80"}', "a"),
        (b'{"b": 1, "a": ' + b"[" * 80 + b"]" * 80 + b"}", "a"),
    ],
    ids=lambda value: repr(value[:40]),
)  # fmt: skip
def test_what_cannot_be_sent_on_is_refused_with_its_place(content: bytes, place: str) -> None:
    with pytest.raises(Problem) as caught:
        parse_json_object(content)
    assert (caught.value.status, caught.value.param) == (400, place)


def test_what_can_be_sent_on_is_kept() -> None:
    content = '{"a": [1e308, -5, true, null, "\U0001f600 \\ud83d\\ude00", 123456789012345678901]}'
    assert parse_json_object(content.encode())["a"] == [
        1e308, -5, True, None, "\U0001f600 \U0001f600", 123456789012345678901,
    ]  # fmt: skip


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(Problem):
        parse_json_object(b'{"a": ' + b"[" * 80 + b"]" * 80 + b"}")
    assert nesting_depth({"a": [[1]]}) == 3
    assert parse_json_object(b'{"a": [[1]]}') == {"a": [[1]]}

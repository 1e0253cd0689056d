import pytest

pytest.importorskip("uvicorn")

from darc.errors import DarcError
from darc.web.server import listen


def test_port_in_use_is_told() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DarcError, match="cannot listen"):
            listen("127.0.0.1", port)


def test_a_port_that_is_none_is_told() -> None:
    with pytest.raises(DarcError, match=r"cannot listen on 127\.0\.0\.1:99999"):
        listen("127.0.0.1", 99_999)

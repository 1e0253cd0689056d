import pytest

from darc.errors import DarcError, InputError
from darc.web.server import check_address, is_loopback, listening


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_needs_no_key(host: str) -> None:
    assert is_loopback(host)
    check_address(host, keyed=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.com", ""])
def test_public_address_needs_one(host: str) -> None:
    with pytest.raises(InputError, match="no API keys"):
        check_address(host, keyed=False)
    check_address(host, keyed=True)


def test_port_in_use_is_told() -> None:
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DarcError, match="cannot be served"):
            listening("127.0.0.1", port)


def test_a_port_that_is_none_is_told() -> None:
    with pytest.raises(DarcError, match="99999 cannot be served on"):
        listening("127.0.0.1", 99_999)

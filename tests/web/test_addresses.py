import pytest

from darc.errors import InputError
from darc.web.addresses import is_loopback, require_keys_if_public


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_needs_no_key(host: str) -> None:
    assert is_loopback(host)
    require_keys_if_public(host, has_keys=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.com", ""])
def test_public_address_needs_one(host: str) -> None:
    with pytest.raises(InputError, match="no API keys"):
        require_keys_if_public(host, has_keys=False)
    require_keys_if_public(host, has_keys=True)

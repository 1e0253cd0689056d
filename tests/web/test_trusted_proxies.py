import pytest

pytest.importorskip("starlette")

from starlette.datastructures import Headers

from darc.errors import InputError
from darc.web.trusted_proxies import TrustedProxies

PROXY = "127.0.0.1"
FAR = "203.0.113.7"
SPOOFED = "198.51.100.9"


@pytest.mark.parametrize(
    ("peer", "headers", "expected"),
    [
        (PROXY, [], PROXY),
        (PROXY, [("x-forwarded-for", FAR)], FAR),
        (PROXY, [("x-forwarded-for", f"{SPOOFED}, {FAR}")], FAR),
        (PROXY, [("x-forwarded-for", SPOOFED), ("x-forwarded-for", FAR)], FAR),
        (PROXY, [("x-forwarded-for", f"{SPOOFED}, {FAR}, 10.1.2.3")], FAR),
        (PROXY, [("x-forwarded-for", "10.9.9.9, 10.1.2.3")], "10.9.9.9"),
        (PROXY, [("x-forwarded-for", f"{FAR}:4711")], FAR),
        (PROXY, [("x-forwarded-for", "unknown")], PROXY),
        (PROXY, [("x-forwarded-for", f"{SPOOFED}, unknown")], PROXY),
        (PROXY, [("x-forwarded-for", f"{SPOOFED},")], PROXY),
        (PROXY, [("forwarded", f"for={SPOOFED}, for={FAR};proto=https")], FAR),
        (PROXY, [("forwarded", f'for="{SPOOFED}, for={FAR}')], FAR),
        (PROXY, [("forwarded", 'proto=https;For="[2001:db8:1:2:3::4]:80"')], "2001:db8:1:2::/64"),
        (PROXY, [("forwarded", "for=_hidden")], PROXY),
        (PROXY, [("x-forwarded-for", FAR), ("forwarded", f"for={FAR}")], FAR),
        (PROXY, [("x-forwarded-for", FAR), ("forwarded", f"for={SPOOFED}")], PROXY),
        (PROXY, [("x-forwarded-for", "::ffff:203.0.113.7")], FAR),
        ("::ffff:127.0.0.1", [("x-forwarded-for", FAR)], FAR),
        ("192.0.2.1", [("x-forwarded-for", FAR)], "192.0.2.1"),
        ("192.0.2.1", [("forwarded", f"for={FAR}")], "192.0.2.1"),
        ("2001:db8:1:2::9", [("x-forwarded-for", FAR)], "2001:db8:1:2::/64"),
        ("fe80::1%eth0", [], "fe80::/64"),
        ("unknown", [("x-forwarded-for", FAR)], "unknown"),
    ],
)
def test_the_address_that_a_trusted_proxy_forwards(
    peer: str, headers: list[tuple[str, str]], expected: str
) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers]
    assert (
        TrustedProxies.parse(["127.0.0.1", "10.0.0.0/8"]).client_address(peer, Headers(raw=raw))
        == expected
    )
    if peer == PROXY:
        assert TrustedProxies.parse([]).client_address(peer, Headers(raw=raw)) == PROXY


def test_a_proxy_is_an_address() -> None:
    assert len(TrustedProxies.parse(["10.0.0.1/8", "::1"]).networks) == 2
    with pytest.raises(InputError, match="is not an address"):
        TrustedProxies.parse(["proxy.example"])

"""Network addresses: reading them, and which of them other machines can reach."""

import ipaddress

from darc.errors import InputError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Hosts that stand for every address of the machine.
EVERY_ADDRESS = ("", "0.0.0.0", "::")


def parse_address(text: str) -> Address | None:
    """Read an address as HTTP headers write it, with or without a port.

    Args:
        text: Such as `192.0.2.1`, `192.0.2.1:4711`, `"[2001:db8::1]:4711"` or `fe80::1%eth0`.

    Returns:
        The address, as IPv4 if it is an IPv4 address mapped to IPv6; None if it is not an
        address.
    """
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    without_zone = text.partition("%")[0]
    try:
        address = ipaddress.ip_address(without_zone)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_loopback(host: str) -> bool:
    """Whether an address or name can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_keys_if_public(host: str, has_keys: bool) -> None:
    """Refuse to serve without API keys on an address that other machines can reach.

    Raises:
        InputError: The host is not a loopback address and there are no keys.
    """
    if has_keys or is_loopback(host):
        return
    raise InputError(
        f"{host} can be reached from other machines and there are no API keys",
        "make one with darc serve --make-key NAME --api-keys FILE, or serve on 127.0.0.1",
    )


def local_url(host: str, port: int) -> str:
    """Return the URL under which a browser on this machine reaches a service.

    Args:
        host: The address that the service listens on.
        port: Its port.
    """
    name = host.strip("[]")
    if name in EVERY_ADDRESS:
        name = "127.0.0.1"
    if ":" in name:
        name = f"[{name}]"
    return f"http://{name}:{port}"

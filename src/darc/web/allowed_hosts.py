"""The host names that a service answers to."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from darc.errors import InputError
from darc.web.addresses import EVERY_ADDRESS, is_loopback, parse_address

_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+?)\.?(?::(\d{1,5}))?")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


@dataclass(frozen=True)
class _Authority:
    """The host and port of a URL; the port is empty if none is given."""

    host: str
    port: str

    def with_default_port(self, port: str) -> "_Authority":
        return _Authority(self.host, self.port or port)


class AllowedHosts:
    """The names of a service: its address, those of the loopback interface and further ones.

    A page of another site can make a browser send requests to this machine, also under a name of
    that site. So a service checks both the name that it is asked for and the origin of the page.
    """

    def __init__(self, bound: str = "127.0.0.1", names: Iterable[str] = ()) -> None:
        """Collect the names.

        Args:
            bound: The address or name that the service listens on. If it listens on every address,
                any address is one of its names.
            names: Further names. `host:port` is for a reverse proxy on an unusual port.

        Raises:
            InputError: One of the names is not a host name.
        """
        self._extra = []
        for name in names:
            authority = _parse_authority(name)
            if authority is None:
                hint = "give a name such as darc.example.org, or NAME:PORT"
                raise InputError(f"--allowed-host is {name!r}", hint)
            self._extra.append(authority)
        bound_host = bound.strip("[]").lower()
        self._hosts = {bound_host, *(authority.host for authority in self._extra)}
        self._listens_everywhere = bound_host in EVERY_ADDRESS

    def is_own_host(self, host_header: str) -> bool:
        """Whether the value of a Host header is a name of this service."""
        authority = _parse_authority(host_header)
        if authority is None:
            return False
        if authority.host in self._hosts or is_loopback(authority.host):
            return True
        return self._listens_everywhere and parse_address(authority.host) is not None

    def is_own_origin(self, origin: str, host_header: str) -> bool:
        """Whether the origin of a page is the requested name, or one of the further names."""
        scheme, _, rest = origin.lower().partition("://")
        default_port = _DEFAULT_PORTS.get(scheme)
        page = _parse_authority(rest)
        if default_port is None or page is None:
            return False
        service_authorities = list(self._extra)
        requested = _parse_authority(host_header)
        if requested is not None:
            service_authorities.append(requested)
        page = page.with_default_port(default_port)
        return any(
            page == authority.with_default_port(default_port) for authority in service_authorities
        )


def host_name(host_header: str) -> str | None:
    """Return the name in a Host header without the port, None if the header is not valid."""
    authority = _parse_authority(host_header)
    if authority is None:
        return None
    return authority.host


def host_of_url(url: str) -> str:
    """Return the host, with the port if there is one, of a service's public URL.

    Raises:
        InputError: The URL has no host.
    """
    authority = urlsplit(url).netloc.rpartition("@")[2]
    if _parse_authority(authority) is None:
        raise InputError(f"--url is {url!r}", "give it as https://NAME")
    return authority


def _parse_authority(text: str) -> _Authority | None:
    match = _AUTHORITY.fullmatch(text.strip().lower())
    if match is None:
        return None
    return _Authority(match[1].strip("[]"), match[2] or "")

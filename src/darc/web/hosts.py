"""The names under which a service is asked for, and whose pages may ask."""

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from darc.errors import InputError
from darc.web.problems import Problem
from darc.web.server import is_loopback

EVERY_ADDRESS = ("", "0.0.0.0", "::")
# What a browser says of a request that its user or a page of this same service made.
OWN_SITE = ("same-origin", "none")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+?)\.?(?::(\d{1,5}))?")
_PORTS = {"http": "80", "https": "443"}

Authority = tuple[str, str]


class Hosts:
    """The names of a service: its address, those of the loopback interface, and `given` ones.

    A name is a host, or host:port where a reverse proxy shows it on an unusual port. A service that
    listens on every address goes by any of them. A browser can be made to ask this machine by a
    page of another site, also under a name of that site, so both are looked at.
    """

    def __init__(self, bound: str = "127.0.0.1", given: Iterable[str] = ()) -> None:
        self._given = frozenset(map(_given, given))
        self._names = frozenset({bound.strip("[]").lower(), *(name for name, _ in self._given)})
        self._every_address = bound.strip("[]") in EVERY_ADDRESS

    def check_name(self, headers: Headers) -> None:
        """Refuse a request for another name; one without a name comes from no browser."""
        names = headers.getlist("host")
        if len(names) > 1:
            raise Problem(400, "the request has several Host headers", code="invalid_host")
        if not names:
            return
        found = _split(names[0])
        if found is None or not self._has(found[0]):
            name = "the Host of the request" if found is None else found[0]
            raise Problem(
                421,
                f"{name} is not a name of this server; "
                "if it should be, start the server with --allowed-host NAME",
                code="unknown_host",
            )

    def check_site(self, headers: Headers) -> None:
        """Refuse a request that a page of another site made; programs say nothing of a site.

        Browsers say whose page it was over TLS and on the loopback interface, else its origin only.
        """
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None:
            fine = site in OWN_SITE
        else:
            fine = origin is None or self._own(origin, headers.get("host", ""))
        if not fine:
            raise Problem(
                403,
                "the request was made by a page of another site, and only this server's own may; "
                "if it has another name, start the server with --allowed-host NAME",
                "permission_error",
                "foreign_origin",
            )

    def _has(self, name: str) -> bool:
        if name in self._names or is_loopback(name):
            return True
        return self._every_address and _is_address(name)

    def _own(self, origin: str, host: str) -> bool:
        """Whether a page's origin is the name that was asked for, or a given one."""
        scheme, _, rest = origin.lower().partition("://")
        page, asked, usual = _split(rest), _split(host), _PORTS.get(scheme, "")
        if page is None or not usual:
            return False
        names = {asked, *self._given}
        return (page[0], page[1] or usual) in {
            (each[0], each[1] or usual) for each in names if each
        }


def authority_of(url: str) -> str:
    """The host, and the port if there is one, of a service's public URL."""
    found = urlsplit(url).netloc.rpartition("@")[2]
    if _split(found) is None:
        raise InputError(f"--url is {url!r}", "give it as https://NAME")
    return found


def _given(name: str) -> Authority:
    found = _split(name)
    if found is None:
        raise InputError(
            f"--allowed-host is {name!r}", "give a name such as darc.example.org, or NAME:PORT"
        )
    return found


def _split(authority: str) -> Authority | None:
    """Name and port, the port empty if there is none; None for what is neither."""
    found = _AUTHORITY.fullmatch(authority.strip().lower())
    return None if found is None else (found[1].strip("[]"), found[2] or "")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True

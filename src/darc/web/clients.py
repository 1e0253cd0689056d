"""Who may ask, how often, and how much at a time: keys, rates, addresses, places."""

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, StringConstraints

from darc.errors import InputError
from darc.files import append_private, json_lines
from darc.settings.model import SettingsModel
from darc.settings.validation import validate_settings
from darc.web.problems import busy

if TYPE_CHECKING:
    from starlette.datastructures import Headers

PREFIX = "darc-"
BYTES = 32
MOST_CLIENTS = 10_000
# A household or a machine has at least as many addresses of IPv6 as this prefix leaves.
IPV6_PREFIX = 64

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Key(SettingsModel):
    """A client's key as it is kept: its name, its SHA-256, and its limits (0: the service's own).

    A key is 32 random bytes, which no search finds; a slow hash would add nothing.
    """

    name: str
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-fA-F]{64}$", to_lower=True)]
    rate: float = Field(0.0, ge=0)
    active: int = Field(0, ge=0)


class Keys(tuple[Key, ...]):
    """The keys that a service takes; without any it takes every client."""

    def find(self, token: str) -> Key | None:
        """The key of a token; the time taken does not depend on which one it is, or how near."""
        given = digest_of(token)
        fitting = [key for key in self if hmac.compare_digest(given, key.sha256)]
        return fitting[-1] if fitting else None


def digest_of(token: str) -> str:
    """The SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def read_keys(path: Path) -> Keys:
    """The keys of a file, one JSON object a line: name, sha256, and rate and active if they are."""
    keys = [
        validate_settings(Key, row if isinstance(row, dict) else {}, f"{path}, line {number}")
        for number, row in json_lines(path, "darc serve --make-key NAME makes it")
    ]
    if not keys:
        raise InputError(f"{path} has no keys", "add one with: darc serve --make-key NAME")
    return Keys(keys)


def make_key(path: Path, name: str, rate: float = 0.0) -> str:
    """A new key, which is returned and never written; its hash is added to the file."""
    known = read_keys(path) if path.exists() and path.stat().st_size else Keys()
    if any(key.name == name for key in known):
        raise InputError(f"{path} has a key named {name!r} already", "take another name")
    token = PREFIX + secrets.token_urlsafe(BYTES)
    key = validate_settings(Key, {"name": name, "sha256": digest_of(token), "rate": rate})
    append_private(path, (key.model_dump_json(exclude_defaults=True) + "\n").encode())
    return token


class Rates:
    """Requests a minute by client, a token bucket each that holds as much as a minute's worth."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, rate: float) -> float:
        """Count a request; the result is 0, or how many seconds too early it is."""
        if rate <= 0:
            return 0.0
        now = self._now()
        left, then = self._buckets.get(client, (rate, now))
        left = min(max(1.0, rate), left + (now - then) * rate / 60)
        early = 0.0 if left >= 1 else (1 - left) * 60 / rate
        self._buckets[client] = (left if early else left - 1, now)
        self._buckets.move_to_end(client)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return early


class Gate:
    """At most `active` requests at a time and `queue` that wait; more are told to come back."""

    def __init__(self, active: int, queue: int) -> None:
        self.active = active
        self.queue = queue
        self.running = self.waiting = 0
        self._places = asyncio.Semaphore(active)

    async def __aenter__(self) -> None:
        if self._places.locked() and self.waiting >= self.queue:
            raise busy("the server is busy and its queue is full", "queue_full", 1.0)
        self.waiting += 1
        try:
            await self._places.acquire()
        finally:
            self.waiting -= 1
        self.running += 1

    async def __aexit__(self, *_: object) -> None:
        self.running -= 1
        self._places.release()


@dataclass(frozen=True)
class Proxies:
    """Whom a request is counted for; `trusted` peers are believed when they name another."""

    trusted: tuple[Network, ...] = ()

    def client(self, peer: str, headers: "Headers") -> str:
        """The client's address, one of IPv6 by its /64.

        X-Forwarded-For and Forwarded are read from the right, up to the first address that is no
        trusted proxy's: what stands left of it, the client wrote. Where the two differ one was
        written by the client alone, and the proxy itself is counted, as where neither can be read.
        """
        address = read_address(peer)
        if address is None:
            return peer
        if self._trusts(address):
            found = set()
            for name, read in (("x-forwarded-for", read_address), ("forwarded", _forwarded_for)):
                if (told := ",".join(headers.getlist(name))).strip():
                    for part in reversed(told.split(",")):
                        hop = read(part)
                        if hop is None or not self._trusts(hop):
                            break
                    found.add(hop)
            if len(found) == 1:
                address = found.pop() or address
        if isinstance(address, ipaddress.IPv6Address):
            return str(ipaddress.ip_network((int(address), IPV6_PREFIX), strict=False))
        return str(address)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self.trusted)


def trusted_proxies(given: Iterable[str]) -> Proxies:
    """Proxies by address or network, as the option --trusted-proxy names them."""
    networks = []
    for text in given:
        try:
            networks.append(ipaddress.ip_network(text, strict=False))
        except ValueError:
            hint = "give one such as 127.0.0.1 or 10.0.0.0/8"
            raise InputError(f"--trusted-proxy {text} is no address", hint) from None
    return Proxies(tuple(networks))


def read_address(text: str) -> Address | None:
    """An address as headers write it, maybe with a port; None where it is none."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _forwarded_for(element: str) -> Address | None:
    """The address of an element of Forwarded, such as `for="[2001:db8::1]:4711";proto=https`."""
    pairs = (pair.partition("=") for pair in element.split(";"))
    return next((read_address(to) for name, _, to in pairs if name.strip().lower() == "for"), None)

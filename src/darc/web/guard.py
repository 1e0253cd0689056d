"""Who may ask, and how often."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from darc.web.keys import Key, Keys
from darc.web.limits import Proxies, Rates
from darc.web.problems import Problem, busy

if TYPE_CHECKING:
    from starlette.datastructures import Headers


@dataclass
class Guard:
    """Checks the key of a request and counts it; `rate` is a minute's worth for each client.

    With keys a client is its key, without any its address, which `proxies` may tell.
    """

    keys: Keys = field(default_factory=Keys)
    rate: float = 0.0
    rates: Rates = field(default_factory=Rates)
    proxies: Proxies = field(default_factory=Proxies)
    _active: Counter[str] = field(default_factory=Counter)

    def admit(self, headers: "Headers", address: str) -> AbstractContextManager[str]:
        """The client's name, held while its request runs; raises a `Problem` with 401 or 429."""
        key = self._key(headers)
        name = key.name if key is not None else f"address {self.proxies.client(address, headers)}"
        early = self.rates.wait(name, key.rate if key is not None and key.rate else self.rate)
        if early:
            raise busy("too many requests", "rate_limit_exceeded", early)
        most = key.active if key is not None else 0
        if most and self._active[name] >= most:
            raise busy(f"more than {most} requests at a time", "rate_limit_exceeded", 1.0)
        return self._held(name)

    def _key(self, headers: Mapping[str, str]) -> Key | None:
        if not len(self.keys):
            return None
        key = self.keys.find(bearer(headers))
        if key is None:
            raise Problem(
                401,
                "the API key is missing or wrong",
                "authentication_error",
                "invalid_api_key",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return key

    @contextmanager
    def _held(self, name: str) -> Iterator[str]:
        self._active[name] += 1
        try:
            yield name
        finally:
            self._active[name] -= 1
            if not self._active[name]:
                del self._active[name]


def bearer(headers: Mapping[str, str]) -> str:
    """The token of an Authorization header, empty where there is none."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""

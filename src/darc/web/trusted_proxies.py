"""The address of a client behind reverse proxies."""

import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers

from darc.errors import InputError
from darc.web.addresses import Address, parse_address

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# A household or a machine has at least as many IPv6 addresses as this prefix leaves.
_IPV6_PREFIX = 64


@dataclass(frozen=True)
class TrustedProxies:
    """Reverse proxies that are believed when they say for whom they pass a request on."""

    networks: tuple[Network, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "TrustedProxies":
        """Read addresses and networks as the option --trusted-proxy names them.

        Args:
            texts: Such as `127.0.0.1` or `10.0.0.0/8`.

        Raises:
            InputError: A text is not an address or network.
        """
        networks = []
        for text in texts:
            try:
                networks.append(ipaddress.ip_network(text, strict=False))
            except ValueError:
                hint = "give one such as 127.0.0.1 or 10.0.0.0/8"
                raise InputError(f"--trusted-proxy {text} is not an address", hint) from None
        return cls(tuple(networks))

    def client_address(self, peer: str, headers: Headers) -> str:
        """Return the address that a request is counted for, the /64 network for IPv6.

        Where X-Forwarded-For and Forwarded name different clients, one of them was written by the
        client alone, so the proxy itself is counted. So it is where neither can be read.

        Args:
            peer: The address at the other end of the connection.
            headers: The headers of the request, believed only if the peer is a trusted proxy.
        """
        address = parse_address(peer)
        if address is None:
            return peer
        if self._is_trusted(address):
            address = self._forwarded_client(headers) or address
        if isinstance(address, ipaddress.IPv6Address):
            return str(ipaddress.ip_network((int(address), _IPV6_PREFIX), strict=False))
        return str(address)

    def _forwarded_client(self, headers: Headers) -> Address | None:
        """The client that the proxies' headers agree on."""
        clients = set()
        for_header = ",".join(headers.getlist("x-forwarded-for"))
        if for_header.strip():
            clients.add(self._last_untrusted(for_header, parse_address))
        forwarded = ",".join(headers.getlist("forwarded"))
        if forwarded.strip():
            clients.add(self._last_untrusted(forwarded, _parse_forwarded_element))
        if len(clients) != 1:
            return None
        return clients.pop()

    def _last_untrusted(
        self, header: str, parse: Callable[[str], Address | None]
    ) -> Address | None:
        """The rightmost address that is not a trusted proxy's, else the leftmost.

        Every proxy appends to the right, so what stands left of an untrusted address was written by
        that client. The result is None if an element on the way cannot be read.
        """
        address = None
        for element in reversed(header.split(",")):
            address = parse(element)
            if address is None or not self._is_trusted(address):
                break
        return address

    def _is_trusted(self, address: Address) -> bool:
        return any(address in network for network in self.networks)


def _parse_forwarded_element(element: str) -> Address | None:
    """The address of an element of Forwarded, such as `for="[2001:db8::1]:4711";proto=https`."""
    for pair in element.split(";"):
        name, _, value = pair.partition("=")
        if name.strip().lower() == "for":
            return parse_address(value)
    return None

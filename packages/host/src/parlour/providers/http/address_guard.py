"""Connecting to addresses that a stranger named, and to public ones only. What is then said there is for others.

An address is checked where its socket is made: a name that resolves differently the second time, a redirect and an
address written out all pass the same door.
"""

import asyncio
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Any, cast

from parlour_sdk.values import dataclass

if TYPE_CHECKING:
    from aiohttp import TCPConnector
    from aiohttp.abc import AbstractResolver, ResolveResult

Address = IPv4Address | IPv6Address
AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]]

NAT64 = IPv6Network("64:ff9b::/96")
"""Gateways turn the last four bytes into an IPv4 address."""
NEVER_PUBLIC = (IPv6Network("64:ff9b:1::/48"), IPv6Network("fec0::/10"), IPv6Network("::/96"))
"""Private translations, site-local and IPv4-compatible addresses, which the standard library takes for global."""


class AddressRefused(OSError):
    """An address that may not be connected to. Its text is a sentence for people."""


class NotPublic(AddressRefused):
    """The operator could allow it."""


class NameUnresolved(OSError):
    """A host whose addresses nobody can tell now; later somebody may. Its text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may be reached besides public addresses: host names and networks, as the operator lists them."""

    names: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, written: Iterable[str]) -> "Allowed":
        names: set[str] = set()
        networks: list[IPv4Network | IPv6Network] = []
        for each in written:
            try:
                networks.append(ip_network(each, strict=False))
            except ValueError:
                names.add(each.lower())
        return cls(frozenset(names), tuple(networks))

    def has(self, host: str, address: Address) -> bool:
        return host.rstrip(".").lower() in self.names or any(address in network for network in self.networks)


def is_public(address: Address) -> bool:
    """Also of an IPv4 address in any of its IPv6 dresses, which lead to the same machine."""
    if isinstance(address, IPv6Address):
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
        if any(address in network for network in NEVER_PUBLIC):
            return False
    return address.is_global and not address.is_multicast


def _inner(address: IPv6Address) -> IPv4Address | None:
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


async def resolve_public(host: str, port: int, allowed: Allowed) -> list[Address]:
    """The addresses of a host that may be connected to. Raises AddressRefused when there are none, and NameUnresolved
    when it can't be told: a name server that is away, and a name that is about to be made, look the same from here.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NameUnresolved(f"there is no host '{host[:200]}'") from error
    except UnicodeError as error:
        raise AddressRefused(f"'{host[:200]}' is no name of a host") from error
    addresses = list(dict.fromkeys(ip_address(str(each[4][0]).partition("%")[0]) for each in found))
    reachable = [each for each in addresses if is_public(each) or allowed.has(host, each)]
    if not reachable:
        raise _refusal(host)
    return reachable


def _refusal(host: str) -> NotPublic:
    return NotPublic(f"'{host[:200]}' is not a public address, and the operator did not allow it")


def at_the_door(error: BaseException) -> AddressRefused | NameUnresolved | None:
    """What was said to a session with such a connector, where that is why it failed."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, AddressRefused | NameUnresolved):
            return seen
        inner = getattr(seen, "os_error", None)
        seen = inner if isinstance(inner, BaseException) else seen.__cause__
    return None


def connector(allowed: Allowed) -> "TCPConnector":
    """For an aiohttp session that goes where strangers send it."""
    from aiohttp import TCPConnector

    door = _Door(allowed)
    return TCPConnector(resolver=cast("AbstractResolver", door), use_dns_cache=False, socket_factory=door.socket)


class _Door:
    """Resolves names to what may be reached; an address that is written out is looked at when its socket is made."""

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
        self._passed: set[Address] = set()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list["ResolveResult"]:
        addresses = await resolve_public(host, port, self._allowed)
        self._passed.update(addresses)
        return [
            {
                "hostname": host,
                "host": str(address),
                "port": port,
                "family": socket.AF_INET if address.version == 4 else socket.AF_INET6,
                "proto": socket.IPPROTO_TCP,
                "flags": socket.AI_NUMERICHOST,
            }
            for address in addresses
        ]

    def socket(self, info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, place = info
        written = str(place[0]).partition("%")[0]
        address = ip_address(written)
        if not (is_public(address) or address in self._passed or self._allowed.has(written, address)):
            raise _refusal(written)
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """It holds nothing."""

"""Restricts connections to public addresses when an untrusted party chose the address. It does not look at the content.

An address is checked when its socket is created, so a name that resolves differently the second time, a redirect and a
literal address all pass the same check.
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
"""Prefix of NAT64: gateways translate the last four bytes into an IPv4 address."""
NEVER_PUBLIC = (IPv6Network("64:ff9b:1::/48"), IPv6Network("fec0::/10"), IPv6Network("::/96"))
"""Private translation, site-local and IPv4-compatible addresses, which the standard library considers global."""


class AddressRefused(OSError):
    """Raised for an address that may not be connected to. Its text is a readable reason."""


class PrivateAddressRefused(AddressRefused):
    """Raised for a private address, which the operator could allow."""


class NameUnresolved(OSError):
    """Raised when a host name can't be resolved now; a later attempt may succeed. Its text is a readable reason."""


@dataclass(frozen=True, slots=True)
class AddressAllowlist:
    """Host names and networks that may be reached besides public addresses, as listed by the operator."""

    names: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, entries: Iterable[str]) -> "AddressAllowlist":
        names: set[str] = set()
        networks: list[IPv4Network | IPv6Network] = []
        for each in entries:
            try:
                networks.append(ip_network(each, strict=False))
            except ValueError:
                names.add(each.lower())
        return cls(frozenset(names), tuple(networks))

    def allows(self, host: str, address: Address) -> bool:
        return host.rstrip(".").lower() in self.names or any(address in network for network in self.networks)


def is_public(address: Address) -> bool:
    """Returns whether an address is public.

    An IPv4 address inside an IPv6 address is checked itself, as it leads to the same machine.
    """
    if isinstance(address, IPv6Address):
        embedded = _embedded_address(address)
        if embedded is not None:
            return is_public(embedded)
        if any(address in network for network in NEVER_PUBLIC):
            return False
    return address.is_global and not address.is_multicast


def _embedded_address(address: IPv6Address) -> IPv4Address | None:
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)


async def resolve_public(host: str, port: int, allowed: AddressAllowlist) -> list[Address]:
    """Returns the addresses of a host that may be connected to.

    Raises AddressRefused if there are none, and NameUnresolved if the name can't be resolved: an unavailable name
    server and a name that is not registered yet can't be distinguished.
    """
    loop = asyncio.get_running_loop()
    try:
        results = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NameUnresolved(f"there is no host '{host[:200]}'") from error
    except UnicodeError as error:
        raise AddressRefused(f"'{host[:200]}' is no name of a host") from error
    addresses = list(dict.fromkeys(ip_address(str(each[4][0]).partition("%")[0]) for each in results))
    reachable = [each for each in addresses if is_public(each) or allowed.allows(host, each)]
    if not reachable:
        raise _refusal(host)
    return reachable


def _refusal(host: str) -> PrivateAddressRefused:
    return PrivateAddressRefused(f"'{host[:200]}' is not a public address, and the operator did not allow it")


def find_guard_error(error: BaseException) -> AddressRefused | NameUnresolved | None:
    """Returns the guard's error if it caused this failure of a session, else None."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AddressRefused | NameUnresolved):
            return cause
        os_error = getattr(cause, "os_error", None)
        cause = os_error if isinstance(os_error, BaseException) else cause.__cause__
    return None


def guarded_connector(allowed: AddressAllowlist) -> "TCPConnector":
    """Creates the connector of an aiohttp session whose addresses come from an untrusted party."""
    from aiohttp import TCPConnector

    resolver = _GuardedResolver(allowed)
    return TCPConnector(
        resolver=cast("AbstractResolver", resolver), use_dns_cache=False, socket_factory=resolver.socket
    )


class _GuardedResolver:
    """Resolves names to permitted addresses; a literal address is checked when its socket is created."""

    def __init__(self, allowed: AddressAllowlist) -> None:
        self._allowed = allowed
        self._allowed_addresses: set[Address] = set()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list["ResolveResult"]:
        addresses = await resolve_public(host, port, self._allowed)
        self._allowed_addresses.update(addresses)
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
        family, kind, protocol, _, socket_address = info
        text = str(socket_address[0]).partition("%")[0]
        address = ip_address(text)
        if not (is_public(address) or address in self._allowed_addresses or self._allowed.allows(text, address)):
            raise _refusal(text)
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Does nothing: there is nothing to release."""

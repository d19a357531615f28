"""Refuses connections to private networks, so that a service can't make the agent read files inside of them."""

import ipaddress
import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

from .errors import ServiceFailure


def require_public_literal(host: str) -> None:
    """Checks a host that is an IP address; names are checked by PublicResolver. Raises ServiceFailure."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return
    if not address.is_global:
        raise _refusal()


class PublicResolver(AbstractResolver):
    """Resolves host names to public addresses only, at the time of the connection."""

    def __init__(self) -> None:
        self._resolver = DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        if not all(ipaddress.ip_address(each["host"].partition("%")[0]).is_global for each in found):
            raise _refusal()
        return found

    async def close(self) -> None:
        await self._resolver.close()


def _refusal() -> ServiceFailure:
    return ServiceFailure("input", "a file is in a private network; add its host to file_hosts to allow it")

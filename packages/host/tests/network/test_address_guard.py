"""Connections to non-public addresses are refused for every spelling and every name of an address."""

import asyncio
import socket
from ipaddress import ip_address
from typing import Any

import pytest
from aiohttp import ClientConnectorError, ClientSession

from parlour.network.address_guard import (
    AddressAllowlist,
    AddressRefused,
    NameUnresolved,
    guarded_connector,
    is_public,
    resolve_public,
)

NOTHING_ALLOWED = AddressAllowlist()


NON_PUBLIC_ADDRESSES = """
127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 240.0.0.1
192.0.2.1 ::1 :: fe80::1 fc00::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1
2002:7f00:1:: 2002:a00:1:: 2001:db8::1 ::127.0.0.1
"""


@pytest.mark.parametrize("address", NON_PUBLIC_ADDRESSES.split())
def test_a_private_address_is_not_public_in_any_spelling(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_an_internet_address_is_public(address: str) -> None:
    assert is_public(ip_address(address))


def fake_dns(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
    """Makes each look-up of a name return the next answer; the last one repeats."""
    left = list(answers)

    async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        answer = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answer]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)


async def test_only_the_public_addresses_of_a_name_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dns(monkeypatch, ["10.0.0.1", "8.8.8.8", "127.0.0.1"])
    assert await resolve_public("mixed.example", 80, NOTHING_ALLOWED) == [ip_address("8.8.8.8")]


@pytest.mark.parametrize("allowed", ["inside.example", "10.0.0.0/8", "10.0.0.1"])
async def test_the_operator_allows_by_name_address_or_network(monkeypatch: pytest.MonkeyPatch, allowed: str) -> None:
    fake_dns(monkeypatch, ["10.0.0.1"])
    assert await resolve_public("inside.example", 80, AddressAllowlist.parse([allowed])) == [ip_address("10.0.0.1")]
    with pytest.raises(AddressRefused, match=r"'inside.example' is not a public address"):
        await resolve_public("inside.example", 80, NOTHING_ALLOWED)


async def test_a_temporarily_unresolvable_name_is_not_refused_as_forbidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    with pytest.raises(NameUnresolved, match=r"there is no host 'away.example'"):
        await resolve_public("away.example", 80, NOTHING_ALLOWED)


async def test_a_name_that_is_rebound_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dns(monkeypatch, ["8.8.8.8"], ["127.0.0.1"])
    await resolve_public("rebinding.example", 80, NOTHING_ALLOWED)
    async with ClientSession(connector=guarded_connector(NOTHING_ALLOWED)) as session:
        with pytest.raises(ClientConnectorError) as refused:
            await session.get("http://rebinding.example/")
    assert isinstance(refused.value.os_error, AddressRefused)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"])
async def test_nothing_is_sent_to_a_private_address(host: str) -> None:
    reached: list[bytes] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.read(1))
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, ClientSession(connector=guarded_connector(NOTHING_ALLOWED)) as session:
        with pytest.raises(ClientConnectorError) as refused:
            await session.get(f"http://{host}:{port}/")
    assert isinstance(refused.value.os_error, AddressRefused)
    assert reached == []

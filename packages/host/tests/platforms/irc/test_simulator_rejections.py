"""Tests that the simulated server rejects what IRC servers reject."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from parlour.testing.irc_simulator import IrcSimulator


class Client:
    """A bare connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def ask(self, *lines: str) -> list[str]:
        """Sends lines and returns the answers, in order; the connection may end before all of them."""
        for line in (*lines, "PING done"):
            self.writer.write(line.encode() + b"\r\n")
        answers: list[str] = []
        while line := (await asyncio.wait_for(self._reader.readline(), 10)).decode().strip():
            if line.endswith("PONG irc.parlour.test :done"):
                break
            answers.append(line)
        return answers

    async def numerics(self, *lines: str) -> list[str]:
        return [each.split()[1] for each in await self.ask(*lines)]


@pytest.fixture
async def client(port: int) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    yield Client(reader, writer)
    writer.close()


REGISTER = ("NICK bot", "USER bot 0 * :bot")


@pytest.mark.parametrize(
    ("line", "numeric"),
    [
        ("PRIVMSG #Talk :hello", "404"),
        ("PRIVMSG Nobody :hello", "401"),
        ("PRIVMSG Ann :", "412"),
        ("PRIVMSG Ann", "412"),
        ("PRIVMSG", "461"),
        (f"PRIVMSG Ann :{'x' * 500}", "417"),
        ("NICK Ann", "433"),
        ("NICK 1digit", "432"),
        (f"NICK {'x' * 21}", "432"),
        ("JOIN talk", "403"),
        ("PART #Talk", "442"),
        ("KICK #Talk Ann", "442"),
        ("TOPIC #None :x", "403"),
        ("WHOIS Nobody", "401"),
        ("FLY", "421"),
    ],
)
async def test_an_invalid_command_is_rejected_with_its_number(client: Client, line: str, numeric: str) -> None:
    await client.ask(*REGISTER)
    assert await client.numerics(line) == [numeric]


async def test_commands_before_registration_and_unknown_capabilities_are_rejected(client: Client) -> None:
    assert await client.numerics("JOIN #Talk", "CAP REQ :no-such-thing") == ["451", "CAP"]
    assert "NAK" in (await client.ask("CAP REQ :no-such-thing"))[0]


async def test_channel_limits_are_kept(simulator: IrcSimulator, client: Client) -> None:
    talk = simulator.world.channels["#talk"]
    await client.ask(*REGISTER)
    talk.is_invite_only = True
    assert await client.numerics("JOIN #Talk") == ["473"]
    talk.is_invite_only, talk.key = False, "sesame"
    assert await client.numerics("JOIN #Talk wrong") == ["475"]
    talk.bans.add("*!bot@*")
    assert await client.numerics("JOIN #Talk sesame") == ["474"]
    talk.bans.clear()
    assert "353" in await client.numerics("JOIN #Talk sesame")
    assert await client.numerics("KICK #Talk Ann", "TOPIC #Talk :x", "MODE #Talk +b *!*@x") == ["482"] * 3
    talk.is_moderated = True
    assert await client.numerics("PRIVMSG #Talk :hello") == ["404"]


async def test_who_floods_is_disconnected(simulator: IrcSimulator, client: Client) -> None:
    simulator.max_lines = 10
    answers = await client.ask(*REGISTER, *(["PRIVMSG Ann :x"] * 10))
    assert answers[-1].startswith("ERROR")

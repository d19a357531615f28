"""Tests what newer servers have: messages of several lines, the past of channels, and log-in by certificate."""

import asyncio
import hashlib
import ssl
from pathlib import Path
from typing import Any

import pytest

from parlour.core.platforms.port import AdapterStopped, PlatformRefused
from parlour.testing.certificates import Certificate, make_certificate
from parlour.testing.irc_simulator import IrcSimulator
from parlour.testing.irc_simulator.client import MODERN_CAPABILITIES, MULTILINE_LINES
from parlour_sdk.protocol.chain import Plain, Quote
from parlour_sdk.protocol.platform_events import MessageReceived

from .conftest import Bot

ANN_MASK = "Ann!user@people.example"


@pytest.fixture
async def simulator(simulator: IrcSimulator) -> IrcSimulator:
    simulator.capabilities += MODERN_CAPABILITIES
    return simulator


def texts(bot: Bot) -> list[str]:
    """Returns the texts of the messages, each id once, as the Host stores them."""
    messages = {each.event.event_id: each.event for each in bot.link.incoming}
    return [each.message_chain[-1].text for each in messages.values() if isinstance(each, MessageReceived)]


async def hears(bot: Bot, text: str) -> None:
    await bot.link.until(lambda: text in texts(bot))


# --- messages of several lines


async def test_an_answer_of_several_lines_is_one_message_and_has_the_id_of_the_server(bot: Bot) -> None:
    asked = await bot.simulator.say("question", bot.simulator.world.users["ann"], "#Talk")
    sent = await bot.api.send_message(
        "group", "#talk", [Quote(id=asked.message_id), Plain(text="one\ntwo\nthree")], "k"
    )
    [message] = bot.simulator.sent("#talk")
    assert (message.content, message.tags) == ("one\ntwo\nthree", {"+draft/reply": asked.message_id})
    assert sent.message_id == message.message_id


async def test_more_lines_than_the_server_takes_are_several_messages(bot: Bot) -> None:
    lines = [f"line {number}" for number in range(MULTILINE_LINES + 5)]
    await bot.api.send_message("group", "#talk", [Plain(text="\n".join(lines))], "k")
    assert [each.content.count("\n") + 1 for each in bot.simulator.sent("#talk")] == [MULTILINE_LINES, 5]
    assert "\n".join(bot.simulator.texts("#talk")).split("\n") == lines


async def test_a_message_of_several_lines_that_is_refused_says_why(bot: Bot) -> None:
    bot.simulator.world.channels["#talk"].is_moderated = True
    with pytest.raises(PlatformRefused, match="does not let the bot write"):
        await bot.api.send_message("group", "#talk", [Plain(text="one\ntwo")])


async def test_a_user_s_message_of_several_lines_is_one_event(bot: Bot) -> None:
    said = await bot.simulator.say("Parlour: one\ntwo", bot.simulator.world.users["ann"], "#Talk")
    [incoming] = await bot.link.events(1)
    assert incoming.event.event_id == said.message_id
    assert texts(bot) == ["one\ntwo"]


async def test_a_long_line_in_parts_is_joined_again(bot: Bot) -> None:
    for line in (
        f"@msgid=m1;time=2026-01-02T03:04:05.000Z :{ANN_MASK} BATCH +1 draft/multiline #Talk",
        f"@batch=1 :{ANN_MASK} PRIVMSG #Talk :a long",
        f"@batch=1;draft/multiline-concat :{ANN_MASK} PRIVMSG #Talk : line",
        f"@batch=1 :{ANN_MASK} PRIVMSG #Talk :end",
        "BATCH -1",
    ):
        await bot.simulator.deliver(line, "Parlour")
    [incoming] = await bot.link.events(1)
    assert texts(bot) == ["a long line\nend"]
    assert (incoming.event.event_id, incoming.event.timestamp) == ("m1", 1767323045000)


# --- the past of channels


async def test_what_is_said_while_the_bot_is_away_arrives_once_and_in_order(bot: Bot) -> None:
    ann = bot.simulator.world.users["ann"]
    await bot.simulator.say("before", ann, "#Talk")
    await hears(bot, "before")
    missed = [f"missed {number}" for number in range(120)]
    bot.simulator.cut()
    for each in missed:
        await bot.simulator.say(each, ann, "#Talk")
    await hears(bot, missed[-1])
    await bot.simulator.say("after", ann, "#Talk")
    await hears(bot, "after")
    assert texts(bot) == ["before", *missed, "after"]


async def test_a_host_that_was_off_fetches_what_it_missed(simulator: IrcSimulator, port: int) -> None:
    ann = simulator.world.users["ann"]
    async with Bot(simulator, port).served() as first:
        await first.link.until(lambda: first.link.stored_cursor is not None)
    await simulator.until(lambda: simulator.client("Parlour") is None)
    await simulator.say("while it was off", ann, "#Talk")
    second = Bot(simulator, port)
    second.link.stored_cursor = first.link.stored_cursor
    async with second.served():
        await hears(second, "while it was off")
    assert texts(second) == ["while it was off"]
    other = Bot(simulator, port, nick="Other")
    other.link.stored_cursor = '{"server": "irc.example.org:6697", "time": 1}'
    async with other.served():
        await other.link.until(lambda: "127.0.0.1" in (other.link.stored_cursor or ""))
    assert texts(other) == [], "the position of another server means nothing"


async def test_a_server_that_refuses_the_past_keeps_the_bot_connected(simulator: IrcSimulator, port: int) -> None:
    bot = Bot(simulator, port)
    bot.link.stored_cursor = f'{{"server": "127.0.0.1:{port}", "time": 1}}'
    simulator.past_limit = 0
    async with bot.served():
        await simulator.say("now", simulator.world.users["ann"], "#Talk")
        await hears(bot, "now")
        assert bot.link.now == ("connected", "")


# --- log-in by certificate


@pytest.fixture(scope="module")
def server_certificate() -> Certificate:
    return make_certificate("127.0.0.1")


@pytest.fixture(scope="module")
def own_certificate() -> Certificate:
    return make_certificate("parlour")


@pytest.fixture
def tls(
    server_certificate: Certificate, own_certificate: Certificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ssl.SSLContext:
    """Returns the settings of a server that the bot trusts, and that asks for certificates of clients."""
    (tmp_path / "server.pem").write_text(server_certificate.pem)
    (tmp_path / "own.pem").write_text(own_certificate.public_pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(tmp_path / "own.pem"))
    context.load_cert_chain(tmp_path / "server.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


def external(simulator: IrcSimulator) -> IrcSimulator:
    simulator.capabilities[0] = "sasl=PLAIN,EXTERNAL"
    return simulator


async def test_a_bot_logs_in_by_its_certificate(
    simulator: IrcSimulator, own_certificate: Certificate, tls: ssl.SSLContext
) -> None:
    external(simulator).certificates[hashlib.sha256(own_certificate.der).hexdigest()] = "robot"
    async with simulator.listening(tls=tls) as port:
        fields = {"security": "tls", "certificate": own_certificate.pem}
        async with Bot(simulator, port, **fields).served() as bot:
            assert bot.link.now == ("connected", "")
            assert simulator.world.users["parlour"].account == "robot"
            assert "PRIVATE KEY" not in repr(bot.adapter.__dict__)


@pytest.mark.parametrize(
    ("config", "mechanisms", "message"),
    [
        ({"security": "tls"}, "PLAIN,EXTERNAL", "register its fingerprint with the services"),
        ({"security": "tls"}, "PLAIN", "offers no log-in by certificate"),
        ({"security": "none"}, "PLAIN,EXTERNAL", "used only with TLS"),
        ({"security": "tls", "certificate": "no PEM"}, "PLAIN,EXTERNAL", "PEM text is expected"),
    ],
)
async def test_a_certificate_that_is_not_accepted_stops_the_bot(
    simulator: IrcSimulator,
    own_certificate: Certificate,
    tls: ssl.SSLContext,
    config: dict[str, Any],
    mechanisms: str,
    message: str,
) -> None:
    simulator.capabilities[0] = f"sasl={mechanisms}"
    async with simulator.listening(tls=tls) as port:
        with pytest.raises(AdapterStopped, match=message):
            await Bot(simulator, port, **{"certificate": own_certificate.pem, **config}).adapter.serve()


async def test_a_server_without_a_trusted_certificate_is_not_used(
    simulator: IrcSimulator, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "none.pem").write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    async with simulator.listening(tls=tls) as port:
        bot = Bot(simulator, port, security="tls")
        work = asyncio.create_task(bot.adapter.serve())
        try:
            await bot.link.until(lambda: "its certificate is not trusted" in bot.link.now[1])
        finally:
            work.cancel()
            await asyncio.wait([work])

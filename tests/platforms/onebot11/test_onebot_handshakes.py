"""Tests the handshakes that a OneBot bot accepts: at its own port and at the Host's port, with tokens and origins."""

import asyncio
import json
from urllib.parse import urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from parlour.testing.onebot_simulator import Simulator, native
from tests.support.commands import parlour_here

from .qq import QQ, Bot, eventually, to_agent

TOKEN = "a-token-of-the-implementation"
ANN = 11
OWN = {"X-Self-ID": "10001"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def bot(qq: QQ, echo: str) -> Bot:
    return qq.bot(to_agent(echo), access_token=TOKEN)


async def refusal(url: str, **headers: str) -> tuple[int, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with pytest.raises(InvalidStatus) as refused:
        async with connect(url, additional_headers=named, proxy=None):
            pass
    return refused.value.response.status_code, bytes(refused.value.response.body or b"").decode()


async def test_an_implementation_connects_at_the_hosts_own_port(qq: QQ, echo: str) -> None:
    bot = qq.bot(to_agent(echo), access_token=TOKEN, port=0)
    assert f"/hooks/{bot.bot_id}/onebot/v11/ws" in await bot.wait_for_error("point its reverse WebSocket at")
    simulator = Simulator(token=TOKEN)
    async with simulator.connecting(bot.hooks_url):
        await eventually(lambda: bot.status["state"] == "connected", "the bot is connected")
        await simulator.say("hello", ANN)
        assert [each.text for each in await simulator.answered(1)] == ["hello"]
        assert not bot.status["last_error"]
        await simulator.cut()
        await simulator.say("again", ANN)
        assert [each.text for each in await simulator.answered(2)] == ["hello", "again"]
    await eventually(lambda: bot.status["state"] == "connecting", "the bot is no longer connected")


async def test_both_addresses_serve_one_bot(bot: Bot) -> None:
    async with (
        Simulator(10011, TOKEN).connecting(bot.url) as own,
        Simulator(10012, TOKEN).connecting(bot.hooks_url) as hosted,
    ):
        for simulator in (own, hosted):
            await simulator.say("hello", ANN)
            assert [each.text for each in await simulator.answered(1)] == ["hello"]


async def test_a_frame_larger_than_a_chat_frame_is_accepted_at_the_hosts_own_port(bot: Bot) -> None:
    async with Simulator(token=TOKEN).connecting(bot.hooks_url) as simulator:
        await simulator.report(native.heartbeat(10001, 60) | {"padding": "x" * 3_000_000})
        await simulator.say("still here", ANN)
        await simulator.answered(1)
        assert simulator.connections == 1


@pytest.mark.parametrize("given", ["", "wrong"])
async def test_the_hosts_own_port_requires_the_token(given: str, bot: Bot, qq: QQ) -> None:
    headers = {"Authorization": f"Bearer {given}"} if given else {}
    assert (await refusal(bot.hooks_url, X_Self_ID="10001", **headers))[0] == 401
    assert "access token is missing or wrong" in await bot.wait_for_error("was refused")
    assert (await refusal(f"{bot.hooks_url}?access_token={TOKEN}x"))[0] == 401
    assert TOKEN not in qq.host.log()


async def test_without_a_token_every_connection_at_the_hosts_own_port_is_refused(qq: QQ) -> None:
    bot = qq.bot(access_token="")
    status, sentence = await refusal(bot.hooks_url, X_Self_ID="10001")
    assert status == 403
    assert "set access_token" in sentence
    await bot.wait_for_error("set access_token to let it connect to this address")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1"])
async def test_a_web_page_is_refused_at_both_addresses(origin: str, bot: Bot, qq: QQ) -> None:
    await bot.wait_for_error("no OneBot implementation is connected")
    for url in (bot.url, bot.hooks_url):
        status, sentence = await refusal(url, Origin=origin, **OWN, **BEARER)
        assert status == 403
        assert "Origin" in sentence
    await bot.wait_for_error("a web page in a browser at 127.0.0.1 tried to connect")
    tokenless = qq.bot(access_token="")
    await tokenless.wait_for_error("no OneBot implementation is connected")
    assert (await refusal(tokenless.url, Origin=origin, **OWN))[0] == 403


async def test_a_bot_without_a_token_is_warned_about_in_its_state_and_by_doctor(qq: QQ) -> None:
    bot = qq.bot(name="tokenless", access_token="")
    async with bot.connected():
        assert "has no access token" in bot.status["last_error"]
    found = await asyncio.to_thread(parlour_here, "doctor", "--data", qq.host.data)
    assert "bot 'tokenless' has no access token: any program on this machine can connect" in found.stdout
    bot.delete()
    found = await asyncio.to_thread(parlour_here, "doctor", "--data", qq.host.data)
    assert "tokenless" not in found.stdout


@pytest.mark.parametrize("config", [{"host": "0.0.0.0"}, {"port": 0}])
async def test_a_bot_beyond_loopback_without_a_token_is_not_saved(config: dict[str, object], qq: QQ) -> None:
    whole = {"mode": "reverse", "host": "127.0.0.1", "port": 5321, **config}
    answer = qq.host.http().post("/bots", json={"name": "qq", "adapter": "onebot11", "adapter_config": whole})
    assert answer.status_code == 422
    assert answer.json()["error"]["details"]["fields"][0]["field"] == "adapter_config.access_token"


async def test_a_saved_bot_keeps_its_token_when_it_is_changed(qq: QQ) -> None:
    bot = qq.bot(access_token=TOKEN, port=0)
    bot.switch(enabled=True)  # the body has no token, because secrets are not shown
    async with Simulator(token=TOKEN).connecting(bot.hooks_url) as simulator:
        await eventually(lambda: bot.status["state"] == "connected", "the bot is connected")
        assert simulator.refusal == 0


async def test_a_bot_that_is_switched_off_closes_the_sockets_at_the_hosts_own_port(bot: Bot) -> None:
    async with connect(bot.hooks_url, additional_headers={**OWN, **BEARER}, proxy=None) as socket:
        await eventually(lambda: bot.status["state"] == "connected", "the bot is connected")
        bot.switch(enabled=False)
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), 30)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    assert (await refusal(bot.hooks_url, **BEARER))[0] == 404


async def test_a_second_connection_replaces_the_first_only_if_that_does_not_answer_a_ping(bot: Bot) -> None:
    async with Simulator(token=TOKEN).connecting(bot.hooks_url) as first:
        await first.until(lambda: first.connected)
        assert (await refusal(bot.hooks_url, **OWN, **BEARER))[0] == 409
    async with connect(bot.hooks_url, additional_headers={**OWN, **BEARER}, proxy=None) as dead:
        await dead.send(json.dumps(native.lifecycle(10001)))
        await eventually(lambda: bot.status["state"] == "connected", "the bot is connected")
        dead.transport.pause_reading()
        async with Simulator(token=TOKEN).connecting(bot.hooks_url) as successor:
            await successor.say("I am back", ANN)
            await successor.answered(1)
        dead.transport.abort()


async def test_unauthenticated_connections_at_the_bots_own_port_use_few_file_descriptors(bot: Bot, qq: QQ) -> None:
    async with bot.connected(token=TOKEN) as simulator:
        before = qq.host.process.num_fds()
        address = urlsplit(bot.url)
        assert address.hostname
        strangers = [await asyncio.open_connection(address.hostname, address.port) for _ in range(150)]
        await bot.wait_for_error("too many connections are open")
        assert qq.host.process.num_fds() - before <= 110
        await simulator.say("still here", ANN)
        await simulator.answered(1)
        for _, writer in strangers:
            writer.close()
    async with bot.connected(token=TOKEN) as simulator:
        await simulator.say("and again", ANN)
        await simulator.answered(1)


async def test_other_paths_and_bots_are_refused(bot: Bot, qq: QQ) -> None:
    assert (await refusal(bot.hooks_url.replace("/onebot/v11/ws", "/ws"), **BEARER))[0] == 404
    assert (await refusal(bot.hooks_url.replace(bot.bot_id, "nobody"), **BEARER))[0] == 404
    forward = qq.bot(mode="forward", url="ws://127.0.0.1:9")
    assert (await refusal(forward.hooks_url, **BEARER))[0] == 404

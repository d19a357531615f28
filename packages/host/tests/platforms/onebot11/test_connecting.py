"""Implementations connect or are refused, and the bot's state shows every problem of a connection."""

import asyncio
import json
import time
from contextlib import AsyncExitStack

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from parlour.core.platforms.port import AdapterStopped, PlatformOffline
from parlour.platforms.onebot11 import accounts, adapter, connectors
from parlour.testing.memory_link import MemoryLink
from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator, native
from parlour_sdk.protocol.chain import Plain

from .conftest import TOKEN, Bot, Reverse


@pytest.mark.parametrize("path", ["/", "/ws", "/onebot/v11/ws", "/onebot/v11/ws/"])
async def test_implementations_may_connect_to_each_known_path(path: str, bot: Bot) -> None:
    simulator = Simulator()
    async with simulator.connecting(bot.url.replace("/onebot/v11/ws", path)):
        await simulator.say("hello")
        [incoming] = await bot.link.events(1)
    assert (incoming.event.type, incoming.account) == ("message.received", "10001")


@pytest.mark.parametrize(
    ("host", "place"),
    [("127.0.0.1", "127.0.0.1"), ("", "127.0.0.1"), ("0.0.0.0", "THIS-MACHINE"), ("localhost", "localhost")],
)
async def test_the_state_names_the_address_for_implementations(host: str, place: str, reverse: Reverse) -> None:
    port = free_port()
    bot = await reverse(host=host, port=port)
    assert f"point its reverse WebSocket at ws://{place}:{port}/onebot/v11/ws" in bot.link.now[1]


async def test_another_path_is_refused_and_the_accepted_paths_are_named(bot: Bot, joined: Reverse) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(bot.url.replace("/ws", "/ws/api"), additional_headers={"X-Self-ID": "10001"}, proxy=None)
    assert refused.value.response.status_code == 404
    assert b"/onebot/v11/ws" in refused.value.response.body
    assert "it asked for another path than /, /ws, /onebot/v11/ws; correct its address" in bot.link.now[1]
    await joined(bot)
    assert bot.link.now == ("connected", "")


@pytest.mark.parametrize("self_ids", [["1", "2"], ["9" * 100]])
async def test_an_invalid_account_is_refused_with_a_reason(self_ids: list[str], bot: Bot) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(bot.url, additional_headers=[("X-Self-ID", each) for each in self_ids], proxy=None)
    assert refused.value.response.status_code == 400
    assert refused.value.response.body == b"X-Self-ID: one account's number is expected\n"


@pytest.mark.parametrize("given", ["", "wrong"])
async def test_a_wrong_token_is_refused_and_shown(given: str, reverse: Reverse, stack: AsyncExitStack) -> None:
    bot = await reverse(access_token=TOKEN)
    simulator = Simulator(token=given)
    await stack.enter_async_context(simulator.connecting(bot.url))
    await bot.link.until(lambda: "access token is missing or wrong" in bot.link.now[1])
    await simulator.until(lambda: simulator.refusal == 401)
    assert bot.link.now[0] == "connecting"
    async with Simulator(token=TOKEN).connecting(bot.url):
        await bot.link.until(lambda: bot.link.now == ("connected", ""))


async def test_the_token_may_be_part_of_the_url(reverse: Reverse, stack: AsyncExitStack) -> None:
    bot = await reverse(access_token=TOKEN)
    await stack.enter_async_context(Simulator().connecting(f"{bot.url}?access_token={TOKEN}"))
    await bot.link.until(lambda: bot.link.now == ("connected", ""))
    assert not [error for _, error in bot.link.states if "token" in error]


async def test_accounts_of_one_bot_are_distinguished(bot: Bot, joined: Reverse) -> None:
    first, second = await joined(bot, self_id=1), await joined(bot, self_id=2)
    await first.say("to the first", user_id=7)
    await second.say("to the second", user_id=7)
    incoming = await bot.link.events(2)
    assert {each.account for each in incoming} == {"1", "2"}
    assert len({each.event.event_id for each in incoming}) == 2


async def test_a_send_uses_the_named_account(bot: Bot, joined: Reverse) -> None:
    first, second = await joined(bot, self_id=1), await joined(bot, self_id=2)
    await bot.adapter.api("2").send_message("private", "7", [Plain(text="by the second")])
    assert [each.text for each in second.sent()] == ["by the second"]
    assert first.sent() == []
    with pytest.raises(PlatformOffline, match="account 3 is not connected"):
        await bot.adapter.api("3").send_message("private", "7", [Plain(text="by nobody")])


async def test_a_second_connection_of_a_connected_account_is_refused_and_shown(bot: Bot, joined: Reverse) -> None:
    first = await joined(bot)
    second = Simulator()
    async with second.connecting(bot.url):
        await second.until(lambda: second.refusal == 409)
        await bot.link.until(lambda: "claims account 10001" in bot.link.now[1])
        assert bot.link.now[0] == "connected"
        await first.say("still here")
        await bot.link.events(1)


async def test_an_account_with_a_dead_connection_can_connect_again(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "PROBE_TIMEOUT_SECONDS", 0.2)
    headers = {"X-Self-ID": "10001"}
    async with connect(bot.url, additional_headers=headers, proxy=None) as dead:
        await bot.link.until(lambda: bot.link.now[0] == "connected")
        dead.transport.pause_reading()  # type: ignore[attr-defined]
        simulator = Simulator()
        async with simulator.connecting(bot.url):
            await simulator.say("I am back")
            [incoming] = await bot.link.events(1)
        dead.transport.abort()
    assert (incoming.event.type, incoming.account) == ("message.received", "10001")


async def test_a_connection_without_an_account_is_asked_for_it(bot: Bot) -> None:
    async with connect(bot.url, proxy=None) as socket:
        call = json.loads(await socket.recv())
        assert call["action"] == "get_login_info"
        answer = {"status": "ok", "retcode": 0, "data": {"user_id": 5}, "echo": call["echo"]}
        await socket.send(json.dumps(answer))
        await bot.link.until(lambda: bot.link.now[0] == "connected")


async def test_a_second_connection_that_names_its_account_after_the_handshake_is_refused(
    bot: Bot, joined: Reverse
) -> None:
    first = await joined(bot)
    async with connect(bot.url, proxy=None) as second:
        await second.send(json.dumps(native.lifecycle(10001)))
        await second.wait_closed()
    await bot.link.until(lambda: "claims account 10001" in bot.link.now[1])
    await first.say("still here")
    [incoming] = await bot.link.events(1)
    assert (incoming.event.type, incoming.account) == ("message.received", "10001")


async def test_a_heartbeat_that_stops_ends_the_connection(bot: Bot) -> None:
    async with connect(bot.url, additional_headers={"X-Self-ID": "10001"}, proxy=None) as socket:
        await socket.send(json.dumps(native.heartbeat(10001, 0.05)))
        await bot.link.until(lambda: "the heartbeat of account 10001 stopped" in bot.link.now[1])
        await socket.wait_closed()
    assert bot.link.now[0] == "connecting"


async def test_a_frame_that_is_too_large_is_shown(reverse: Reverse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connectors, "MAX_FRAME_BYTES", 1000)
    bot = await reverse()
    async with connect(bot.url, additional_headers={"X-Self-ID": "10001"}, proxy=None) as socket:
        await socket.send("x" * 2000)
        await bot.link.until(lambda: "account 10001 told more than 64 MiB at once" in bot.link.now[1])
    assert "let it tell files by their address" in bot.link.now[1]


async def test_an_account_that_is_logged_out_is_shown_until_it_is_back(bot: Bot, joined: Reverse) -> None:
    simulator = await joined(bot)
    simulator.world.online = False
    simulator.heartbeat_seconds = 0.05
    await bot.link.until(lambda: "log in there again" in bot.link.now[1])
    simulator.world.online = True
    await bot.link.until(lambda: bot.link.now == ("connected", ""))
    assert [error for _, error in bot.link.states if error][-1].count("log in there again") == 1


@pytest.mark.parametrize("back", ["bot_online", "a message"])
async def test_an_account_that_qq_logged_out_is_shown_until_it_is_back(
    back: str, bot: Bot, simulator: Simulator
) -> None:
    offline = {"user_id": 10001, "tag": "Kicked", "message": "another device logged in"}
    await simulator.report(native.notice(10001, "bot_offline", **offline))
    expected = "QQ logged account 10001 out (another device logged in); log in at its OneBot implementation again"
    await bot.link.until(lambda: bot.link.now == ("connected", expected))
    await simulator.report(native.heartbeat(10001, 60))
    await simulator.report(native.notice(10001, "friend_add", user_id=7))
    await bot.link.events(2)
    assert bot.link.now == ("connected", expected)
    again = native.notice(10001, back) if back == "bot_online" else native.message(10001, 5, 7, [native.text("hello")])
    await simulator.report(again)
    await bot.link.until(lambda: bot.link.now == ("connected", ""))


async def test_a_wrong_clock_is_shown(bot: Bot, joined: Reverse) -> None:
    simulator = await joined(bot)
    late = {**native.heartbeat(10001, 60), "time": int(time.time()) - 3600}
    await simulator.report(late)
    await bot.link.until(lambda: "clock is 60 minutes behind the Host's" in bot.link.now[1])
    assert bot.link.now[0] == "connected"


async def test_a_port_in_use_is_shown_and_tried_again(reverse: Reverse, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    other = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", port)
    bot = await reverse(port=port)
    state, error = bot.link.now
    assert state == "failed"
    assert f"port {port} on 127.0.0.1 is in use" in error
    other.close()
    await other.wait_closed()
    await bot.link.until(lambda: bot.link.now[0] == "connecting")


async def test_an_incident_that_does_not_repeat_is_no_longer_shown(
    reverse: Reverse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "INCIDENT_SHOWN_SECONDS", 0.2)
    bot = await reverse(access_token=TOKEN)
    with pytest.raises(InvalidStatus):
        await connect(bot.url, proxy=None)
    await bot.link.until(lambda: "access token" in bot.link.now[1])
    await bot.link.until(lambda: "access token" not in bot.link.now[1])


async def test_a_healthy_account_does_not_hide_the_problem_of_another(bot: Bot, joined: Reverse) -> None:
    away, well = await joined(bot, self_id=1), await joined(bot, self_id=2)
    away.world.online = False
    away.heartbeat_seconds = 0.05
    await bot.link.until(lambda: "account 1 is not logged in" in bot.link.now[1])
    shown_before = len(bot.link.states)
    await well.report(native.heartbeat(2, 60))
    await well.say("hello")
    await bot.link.events(1)
    assert all("account 1 is not logged in" in error for _, error in bot.link.states[shown_before:])


async def test_a_disconnected_account_is_shown_until_it_is_back(
    bot: Bot, joined: Reverse, stack: AsyncExitStack
) -> None:
    await joined(bot, self_id=1)
    other = Simulator(self_id=2)
    async with other.connecting(bot.url):
        await other.until(lambda: other.connected)
    await bot.link.until(
        lambda: bot.link.now == ("connected", "account 2 went away; look at its OneBot implementation")
    )
    await stack.enter_async_context(other.connecting(bot.url))
    await bot.link.until(lambda: bot.link.now == ("connected", ""))
    assert "account 2" not in bot.link.now[1]


async def test_a_bounded_number_of_disconnected_accounts_is_named(bot: Bot, joined: Reverse) -> None:
    await joined(bot, self_id=1)
    for account in range(100, 112):
        async with connect(bot.url, additional_headers={"X-Self-ID": str(account)}, proxy=None):
            pass
    await bot.link.until(lambda: bot.link.now[1].endswith("; 4 more accounts went away too"))
    assert bot.link.now[1].count("look at its OneBot implementation") == accounts.MAX_NAMED_ACCOUNTS


async def test_an_implementation_that_names_two_accounts_is_shown(bot: Bot) -> None:
    async with connect(bot.url, additional_headers={"X-Self-ID": "10005"}, proxy=None) as socket:
        await socket.send(json.dumps(native.message(10006, 1, 7, [native.text("hello")])))
        await bot.link.events(1)
        state, error = bot.link.now
    assert state == "connected"
    assert "connected as account 10005 (X-Self-ID) and reports events of account 10006" in error
    await bot.link.until(lambda: "10006" not in bot.link.now[1])


async def test_an_account_that_does_not_come_back_is_no_longer_shown(
    bot: Bot, joined: Reverse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "DISCONNECTED_SHOWN_SECONDS", 0.2)
    await joined(bot, self_id=1)
    other = Simulator(self_id=2)
    async with other.connecting(bot.url):
        await other.until(lambda: other.connected)
    await bot.link.until(lambda: "account 2 went away" in bot.link.now[1])
    await bot.link.until(lambda: bot.link.now == ("connected", ""))
    assert not other.connected


async def test_a_good_connection_does_not_hide_problems_of_other_accounts(reverse: Reverse, joined: Reverse) -> None:
    bot = await reverse(access_token=TOKEN)
    await joined(bot, self_id=1, token=TOKEN)
    with pytest.raises(InvalidStatus):
        await connect(bot.url, additional_headers={"X-Self-ID": "1", **_bearer(TOKEN)}, proxy=None)
    with pytest.raises(InvalidStatus):
        await connect(bot.url, additional_headers={"X-Self-ID": "2", **_bearer("wrong")}, proxy=None)
    await joined(bot, self_id=3, token=TOKEN)
    assert "claims account 1" in bot.link.now[1]
    assert "access token is missing or wrong" in bot.link.now[1]
    await joined(bot, self_id=2, token=TOKEN)
    assert "claims account 1" in bot.link.now[1]
    assert "access token" not in bot.link.now[1]


async def test_many_refused_connections_do_not_fill_the_bots_state(reverse: Reverse) -> None:
    bot = await reverse(access_token=TOKEN)
    for account in range(30):
        with pytest.raises(InvalidStatus):
            await connect(bot.url, additional_headers={"X-Self-ID": str(account)}, proxy=None)
    assert bot.link.now[1].count("access token is missing or wrong") == 1
    assert len(bot.onebot._accounts._timers) == accounts.MAX_INCIDENTS


@pytest.mark.parametrize("port", [-1, 65_536, 99_999])
async def test_an_invalid_port_stops_the_adapter_with_a_reason(port: int) -> None:
    link = MemoryLink({"mode": "reverse", "host": "127.0.0.1", "port": port})
    with pytest.raises(AdapterStopped, match=f"there is no port {port}; choose one"):
        await asyncio.wait_for(adapter.adapter_factory()(link).serve(), 30)


@pytest.mark.parametrize("config", [{"host": "0.0.0.0", "port": 5320}, {"host": "127.0.0.1", "port": 0}])
async def test_a_stored_bot_that_is_reachable_without_a_token_is_not_started(config: dict[str, object]) -> None:
    link = MemoryLink({"mode": "reverse", **config})
    with pytest.raises(AdapterStopped, match="access_token: is required"):
        await asyncio.wait_for(adapter.adapter_factory()(link).serve(), 30)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_an_invalid_listen_address_stops_the_adapter_with_a_reason() -> None:
    link = MemoryLink({"mode": "reverse", "host": "a..b", "port": free_port()})
    with pytest.raises(AdapterStopped, match="host: must be an address of this machine"):
        await asyncio.wait_for(adapter.adapter_factory()(link).serve(), 30)

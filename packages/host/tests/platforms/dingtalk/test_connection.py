"""Tests stream mode: login, pings, the request to reconnect, repetitions, and people outside the company."""

from typing import Any

import pytest

from parlour.core.model.ids import EventId
from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.port import AdapterStopped, PlatformRefused
from parlour.testing.dingtalk_simulator import DingTalkSimulator
from parlour_sdk.protocol.chain import File, Plain

from .conftest import ANN, Bot

GUEST = "$:LWCP_v1:$guest"


async def test_a_wrong_secret_is_tried_five_times_and_stops_the_bot(simulator: DingTalkSimulator, url: str) -> None:
    bot = Bot(simulator, url, client_secret="wrong")
    with pytest.raises(AdapterStopped, match="client_secret: DingTalk does not accept it"):
        async with bot.served():
            pass
    assert simulator.made.count("v1.0/gateway/connections/open") == 5


@pytest.mark.parametrize("field", ["client_id", "client_secret"])
def test_a_missing_field_is_named(simulator: DingTalkSimulator, field: str) -> None:
    with pytest.raises(AdapterStopped, match=f"{field}: "):
        Bot(simulator, "http://127.0.0.1:9", **{field: ""})


async def test_a_ping_is_answered_with_its_data(bot: Bot) -> None:
    await bot.simulator.stream.system("ping", {"opaque": "0d75a8f4"})
    await bot.simulator.until(lambda: bot.simulator.stream.pongs == [{"opaque": "0d75a8f4"}])


async def test_a_request_to_disconnect_leads_to_a_new_connection_without_a_problem(bot: Bot) -> None:
    await bot.simulator.stream.system("disconnect", {"reason": "connection is expired"})
    await bot.simulator.until(lambda: bot.simulator.stream.connections == 2)
    await bot.simulator.say("after", ANN)
    await bot.link.events(1)
    assert all(not problem for _, problem in bot.link.states)


async def test_a_connection_without_any_frame_is_replaced(
    simulator: DingTalkSimulator, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parlour.platforms.dingtalk.connection.SILENCE_SECONDS", 0.1)
    async with Bot(simulator, url).served() as bot:
        await simulator.until(lambda: simulator.stream.connections >= 2)
        assert any("sent nothing for" in problem for _, problem in bot.link.states)


async def test_a_repeated_report_has_the_same_id(simulator: DingTalkSimulator, url: str) -> None:
    async with Bot(simulator, url).served() as bot:
        message = simulator.message(ANN, "text", content="once")
        for _ in range(2):
            await simulator.report(message)
        first, second = await bot.link.events(2)
        await simulator.happen("chat_quit", "ev1", openConversationId="cid", userId=["a"])
        await simulator.happen("chat_quit", "ev1", openConversationId="cid", userId=["a"])
        third, fourth = (await bot.link.events(4))[2:]
    assert first.event.event_id == second.event.event_id != third.event.event_id
    assert third.event.event_id == fourth.event.event_id


async def test_a_change_of_several_members_is_several_events(bot: Bot) -> None:
    await bot.simulator.happen("chat_add_member", "ev1", openConversationId="cid", userId=["a", "b"], operator="boss")
    events: list[Any] = [each.event for each in await bot.link.events(2)]
    assert [each.member.user.id for each in events] == ["a", "b"]
    assert len({each.event_id for each in events}) == 2
    assert events[0].inviter.id == "boss"


async def test_a_person_outside_the_company_is_answered_through_their_session(bot: Bot) -> None:
    await bot.simulator.say("hello", GUEST)
    [incoming] = await bot.link.events(1)
    allowance = incoming.reply_allowance
    assert allowance is not None
    assert (allowance.then, allowance.count) == ("refuse", 0)
    reply = ReplyHandle(allowance.handle, 1, EventId("e"))
    await bot.api.send_reply(reply, "private", GUEST, [Plain(text="hi")])
    assert bot.simulator.texts(GUEST) == ["hi"]
    with pytest.raises(PlatformRefused, match="only texts for people outside"):
        await bot.api.send_reply(reply, "private", GUEST, [File(base64="eHg=", name="a.pdf")])
    with pytest.raises(PlatformRefused, match="only members of the company"):
        await bot.api.send_message("private", GUEST, [Plain(text="x")])
    elsewhere = ReplyHandle("http://198.51.100.7/steal", 1, EventId("e"))
    with pytest.raises(PlatformRefused, match="not one of DingTalk"):
        await bot.api.send_reply(elsewhere, "private", GUEST, [Plain(text="x")])


async def test_the_address_of_a_session_is_not_part_of_the_event(bot: Bot) -> None:
    for message in (
        bot.simulator.message(GUEST, "text", content="x"),
        {**bot.simulator.message(ANN, "text", content="x"), "createAt": "never"},
    ):
        await bot.simulator.report(message)
    events = [each.event.model_dump_json() for each in await bot.link.events(2)]
    assert all("sendBySession" not in each for each in events)

"""Tests how an official account replies: within a call, after it, in parts, and by customer-service messages."""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from parlour.core.model.ids import EventId
from parlour.core.model.reply_allowance import ReplyAllowance, ReplyHandle
from parlour.core.platforms.port import PlatformRefused, ReplyHandleRejected
from parlour.testing.errcode_simulator import SentCall
from parlour.testing.officialaccount_simulator import OfficialAccountSimulator
from parlour_sdk.protocol.chain import File, Image, Plain, Platform

from .conftest import ANN, Bot

HELLO = base64.b64encode(b"hello").decode()
WAIT, ABANDONED = 1.0, 1.3
LOADING = "one moment"


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, simulator: OfficialAccountSimulator) -> None:
    """Shortens the time for which WeChat waits, on both sides."""
    monkeypatch.setattr("parlour.platforms.officialaccount.replies.ANSWER_SECONDS", WAIT)
    monkeypatch.setattr("parlour.platforms.officialaccount.replies.ABANDONED_SECONDS", ABANDONED)
    simulator.calls.timeout_seconds = (WAIT + ABANDONED) / 2


@pytest.fixture
async def passive(simulator: OfficialAccountSimulator, url: str, short: None) -> AsyncIterator[Bot]:
    async with Bot(simulator, url, mode="passive", loading_message=LOADING).served() as bot:
        yield bot


@pytest.fixture
async def drop(simulator: OfficialAccountSimulator, url: str, short: None) -> AsyncIterator[Bot]:
    async with Bot(simulator, url, mode="drop").served() as bot:
        yield bot


@pytest.fixture
async def service(simulator: OfficialAccountSimulator, url: str) -> AsyncIterator[Bot]:
    async with Bot(simulator, url, mode="service").served() as bot:
        yield bot


async def asked(bot: Bot, text: str) -> tuple["asyncio.Task[SentCall]", ReplyHandle]:
    """Lets a follower write, and returns the call with the handle of the reply."""
    number = len(bot.link.incoming)
    call = asyncio.ensure_future(bot.simulator.ask(bot.simulator.message(ANN, "text", Content=text)))
    incoming = (await bot.link.events(number + 1))[-1]
    return call, ReplyHandle(allowance(incoming).handle, 1, EventId("e"))


def allowance(incoming: Any) -> ReplyAllowance:
    assert incoming.reply_allowance is not None
    return incoming.reply_allowance  # type: ignore[no-any-return]


async def test_a_reply_in_time_is_the_answer_to_the_call(passive: Bot) -> None:
    call, handle = await asked(passive, "hello")
    await passive.api.send_reply(handle, "private", ANN, [Plain(text="a < b & 你好")], "k")
    assert (await call).attempts == 0
    [sent] = passive.simulator.sent()
    assert (sent.text, sent.is_passive) == ("a < b & 你好", True)
    await passive.api.send_reply(handle, "private", ANN, [Plain(text="a < b & 你好")], "k")
    assert len(passive.simulator.sent()) == 1


async def test_a_late_reply_is_announced_and_shown_with_the_next_message(passive: Bot) -> None:
    call, handle = await asked(passive, "hard question")
    await passive.api.send_typing("private", ANN)
    await call
    assert passive.simulator.texts() == [LOADING]
    status = {"action": "get_cached_response_status", "params": {"user_id": ANN}}
    assert await passive.api.call_platform_api(**status) == {"pending": True, "ready": False}
    with pytest.raises(ReplyHandleRejected, match="shown with the user's next message"):
        await passive.api.send_reply(handle, "private", ANN, [Plain(text="late")], "k")
    passive.link.held[("private", ANN)] = 1
    assert await passive.api.call_platform_api(**status) == {"pending": False, "ready": True}
    passive.link.held.clear()
    again, handle = await asked(passive, "go on")
    await passive.api.send_reply(handle, "private", ANN, [Plain(text="late")], "k")
    await again
    assert passive.simulator.texts() == [LOADING, "late"]
    assert await passive.api.call_platform_api(**status) == {"pending": False, "ready": False}


async def test_a_message_that_nobody_answers_gets_no_loading_message(passive: Bot) -> None:
    call, _ = await asked(passive, "ignored")
    assert (await call).answers == [(200, "success")]
    assert passive.simulator.sent() == []


async def test_the_second_call_about_a_message_carries_its_reply(drop: Bot) -> None:
    call, handle = await asked(drop, "hello")
    await drop.api.send_typing("private", ANN)
    await drop.simulator.until(lambda: drop.simulator.calls.made[-1].attempts == 1)
    await drop.api.send_reply(handle, "private", ANN, [Plain(text="in time")], "k")
    assert (await call).attempts == 1
    assert drop.simulator.texts() == ["in time"]
    assert len({each.event.event_id for each in drop.link.incoming}) == 1


async def test_a_reply_after_the_third_call_is_rejected(drop: Bot) -> None:
    call, handle = await asked(drop, "hello")
    await drop.api.send_typing("private", ANN)
    assert (await call).answers == [(0, ""), (0, ""), (200, "success")]
    with pytest.raises(ReplyHandleRejected, match="within fifteen seconds"):
        await drop.api.send_reply(handle, "private", ANN, [Plain(text="late")], "k")
    assert drop.simulator.sent() == []


async def test_a_reply_for_a_call_before_a_restart_waits_for_the_next_call(passive: Bot) -> None:
    message = passive.simulator.message(ANN, "text", Content="asked before")
    call, handle = await asked(passive, "before")
    earlier = ReplyHandle(
        handle.handle.replace(handle.handle.partition("|")[0], f"m:{message['MsgId']}"), 1, EventId("e")
    )
    sending = asyncio.ensure_future(passive.api.send_reply(earlier, "private", ANN, [Plain(text="found")], "k"))
    await passive.simulator.ask(message)
    await sending
    await call
    assert passive.simulator.texts() == ["found"]


async def test_each_call_carries_one_part_of_a_reply(passive: Bot) -> None:
    chain = [Plain(text="see"), Image(base64=HELLO, name="a.png", mime_type="image/png")]
    call, handle = await asked(passive, "a picture")
    with pytest.raises(ReplyHandleRejected, match="one message"):
        await passive.api.send_reply(handle, "private", ANN, chain, "k")
    await call
    call, handle = await asked(passive, "go on")
    await passive.api.send_reply(handle, "private", ANN, chain, "k")
    await call
    assert [each.kind for each in passive.simulator.sent()] == ["text", "image"]


async def test_only_customer_service_messages_need_no_call(passive: Bot) -> None:
    with pytest.raises(PlatformRefused, match="only replies to messages") as refused:
        await passive.api.send_message("private", ANN, [Plain(text="x")])
    assert refused.value.permanent


@pytest.mark.parametrize(
    ("mode", "then", "count"), [("passive", "hold", 1), ("drop", "refuse", 1), ("service", "hold", 5)]
)
async def test_each_mode_declares_what_becomes_of_late_replies(
    simulator: OfficialAccountSimulator, url: str, short: None, mode: str, then: str, count: int
) -> None:
    async with Bot(simulator, url, mode=mode).served() as bot:
        await simulator.ask(simulator.message(ANN, "text", Content="x"))
        await simulator.ask(simulator.event(ANN, "VIEW", EventKey="https://example.org"))
        await simulator.ask(simulator.event(ANN, "CLICK", EventKey="today"))
        message, view, click = await bot.link.events(3)
    assert (allowance(message).then, allowance(message).count) == (then, count)
    assert view.reply_allowance is None
    assert allowance(click).count == (3 if mode == "service" else 1)


async def test_customer_service_messages_have_their_window(service: Bot) -> None:
    call, handle = await asked(service, "hello")
    assert (await call).answers == [(200, "success")]
    link = Platform(
        platform="officialaccount", component_type="link", data={"Title": "A", "Url": "https://example.org"}
    )
    await service.api.send_reply(handle, "private", ANN, [Plain(text="see"), link], "k")
    assert [each.kind for each in service.simulator.sent()] == ["text", "news"]
    for number in range(3):
        await service.api.send_reply(handle, "private", ANN, [Plain(text=f"{number}")], f"k{number}")
    with pytest.raises(ReplyHandleRejected, match="five customer-service messages"):
        await service.api.send_reply(handle, "private", ANN, [Plain(text="sixth")], "k6")


async def test_an_account_without_the_right_is_told_what_to_do(service: Bot) -> None:
    service.simulator.is_verified = False
    _, handle = await asked(service, "hello")
    with pytest.raises(PlatformRefused, match="no right to customer-service messages; choose another way"):
        await service.api.send_reply(handle, "private", ANN, [Plain(text="x")], "k")


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "nothing in this message"),
        ([Plain(text="x" * 2049)], "up to 2048 bytes"),
        ([File(base64=HELLO, name="a.pdf", mime_type="application/pdf")], "can't be sent"),
        ([Platform(platform="officialaccount", component_type="link", data={})], "needs a Title and a Url"),
    ],
)
async def test_what_wechat_would_refuse_is_explained(service: Bot, chain: Any, reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await service.api.send_message("private", ANN, chain)
    assert refused.value.permanent
    assert service.simulator.sent() == []

"""Tests an AI bot that WeCom calls: answers that WeCom asks for, later ones, events, restarts, and forged calls."""

import asyncio
import base64
import json
import logging
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from parlour.core.platforms.port import AdapterStopped, PlatformRefused
from parlour.platforms.wecombot import callbacks
from parlour.platforms.wecombot.adapter import CalledWecomBotAdapter
from parlour.platforms.wecombot.api import WecomBotApi
from parlour.platforms.wecombot.configuration import problems
from parlour.testing.hook_server import hooks_served
from parlour.testing.memory_link import MemoryLink
from parlour.testing.wecombot_simulator import WecomBotSimulator
from parlour.testing.wecombot_simulator.calls import SECRETS
from parlour.testing.wecombot_simulator.simulator import NAME
from parlour_sdk.protocol.chain import File, Plain
from parlour_sdk.protocol.platform_api import NotSupportedError

from .test_connection import buttons

MUTATED = 1000


class CalledBot:
    """A served adapter that the simulated WeCom calls."""

    def __init__(self, simulator: WecomBotSimulator, cursor: str | None = None, **config: Any) -> None:
        keys = {"token": SECRETS.token, "encoding_aes_key": SECRETS.encoding_aes_key}
        self.simulator = simulator
        self.link = MemoryLink({"mode": "webhook", "robot_name": NAME, **keys, **config})
        self.link.stored_cursor = cursor
        self.adapter = CalledWecomBotAdapter(self.link)

    @property
    def api(self) -> WecomBotApi:
        return self.adapter.api()

    async def hear(self, text: str, user_id: str = "ann") -> None:
        number = len(self.link.incoming)
        await self.simulator.say(text, user_id)
        await self.link.events(number + 1)

    @asynccontextmanager
    async def served(self) -> AsyncIterator["CalledBot"]:
        async with hooks_served(self.adapter) as address:
            self.simulator.calls.address = address
            work = asyncio.create_task(self.adapter.serve())
            try:
                await self.link.until(lambda: self.link.now[0] == "connected")
                yield self
            finally:
                work.cancel()
                await asyncio.wait([work])


@pytest.fixture
async def called() -> AsyncIterator[WecomBotSimulator]:
    simulator = WecomBotSimulator()
    simulator.is_called = True
    async with simulator.listening():
        yield simulator


async def test_the_check_of_the_address_gets_the_text_unchanged(called: WecomBotSimulator) -> None:
    async with CalledBot(called).served():
        assert await called.calls.verify("echo <b> +/=") == (200, "echo <b> +/=")


async def test_an_answer_is_shown_as_wecom_asks_for_it(called: WecomBotSimulator) -> None:
    async with CalledBot(called).served() as bot:
        await bot.hear("hello")
        stream = await bot.api.open_stream("private", "ann", "key")
        for word in ("one", " two"):
            await stream.append(word)
            await called.until(lambda: bool(called.messages) and called.messages[0].text.endswith(word))  # noqa: B023
        result = await stream.finish([Plain(text="one two three")])
    [shown] = called.sent("ann")
    assert (shown.versions[0], shown.text, shown.finished) == ("one", "one two three", True)
    assert result.message_id == shown.id


async def test_a_repeated_call_gets_the_same_answer_and_is_one_event(called: WecomBotSimulator) -> None:
    async with CalledBot(called).served() as bot:
        message = called.message("ann", "text", content="hello")
        answers = [await called.calls.ask(message)]
        stream = await bot.api.open_stream("private", "ann", "key")
        await stream.append("one")
        answers.append(await called.calls.ask(message))
        (_, first), (_, again) = answers
    assert first["stream"]["id"] == again["stream"]["id"]
    assert first["stream"]["feedback"] == again["stream"]["feedback"]
    assert (first["stream"]["content"], again["stream"]["content"]) == ("", "one")
    assert len({each.event.event_id for each in bot.link.incoming}) == 1


async def test_an_answer_of_an_earlier_process_is_ended_in_its_stream(called: WecomBotSimulator) -> None:
    async with CalledBot(called).served() as first:
        await first.hear("hello")
        await (await first.api.open_stream("private", "ann", "key")).append("one")
        await called.until(lambda: called.texts("ann") == ["one"])
    async with CalledBot(called, first.link.stored_cursor).served() as later:
        await later.api.send_message("private", "ann", [Plain(text="one two")], "key")
    [shown] = called.sent("ann")
    assert (shown.text, shown.finished) == ("one two", True)


async def test_one_further_message_is_sent_later_and_the_next_is_refused(called: WecomBotSimulator) -> None:
    async with CalledBot(called).served() as bot:
        await bot.hear("hello")
        for text in ("first", "second"):
            await bot.api.send_message("private", "ann", [Plain(text=text)])
        with pytest.raises(PlatformRefused, match="one further message") as refused:
            await bot.api.send_message("private", "ann", [Plain(text="third")])
        with pytest.raises(PlatformRefused, match="only over the long connection"):
            await bot.api.send_message("private", "ann", [File(base64="aGVsbG8=", name="a.pdf")])
    assert refused.value.permanent
    assert called.texts("ann") == ["first", "second"]


async def test_an_end_that_wecom_no_longer_asks_for_is_sent_later(
    called: WecomBotSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(callbacks, "POLL_SECONDS", 0.2)
    async with CalledBot(called).served() as bot:
        await bot.hear("hello")
        stream = await bot.api.open_stream("private", "ann", "key")
        await stream.append("one")
        await called.until(lambda: called.texts("ann") == ["one"])
        await called.end_tasks()
        await stream.finish([Plain(text="one two")])
    assert called.texts("ann") == ["one", " two"]


async def test_events_are_answered_at_once(called: WecomBotSimulator) -> None:
    async with CalledBot(called, welcome_message="Welcome").served() as bot:
        await called.report(called.event("ann", eventtype="enter_chat"))
        await called.until(lambda: called.texts("ann") == ["Welcome"])
        await bot.hear("hello")
        await bot.api.send_message("private", "ann", [Plain(text="one moment")])
        await bot.api.send_message("private", "ann", [Plain(text="Delete it?"), buttons("Yes")])
        await called.press(called.sent("ann")[-1], "Yes", "ann")
        await called.until(lambda: bool(called.messages[-1].pressed))
        await called.report(called.event("ann", eventtype="feedback_event", feedback_event={"id": "fb-x", "type": 1}))
        kinds = [each.event.type for each in await bot.link.events(4)]
    assert kinds[0] == "platform.wecombot.enter_chat"
    assert kinds[2:] == ["interaction.received", "feedback.received"]


async def test_files_are_decrypted_with_the_key_of_the_calls(called: WecomBotSimulator) -> None:
    fields = called.files.add("a.pdf", b"hello", key=base64.b64decode(SECRETS.encoding_aes_key + "="))
    async with CalledBot(called).served() as bot:
        await called.report(called.message("ann", "file", url=fields["url"]))
        event: Any = (await bot.link.events(1))[0].event
    assert base64.b64decode(event.message_chain[1].base64) == b"hello"


async def test_the_modes_differ_in_their_actions_and_fields(called: WecomBotSimulator) -> None:
    async with CalledBot(called).served() as bot:
        assert await bot.api.call_platform_api("is_websocket_mode", {}) == {"websocket": False}
        with pytest.raises(NotSupportedError):
            await bot.api.call_platform_api("send_markdown", {"chat_id": "ann", "content": "x"})
    assert [name for name, _ in problems({"mode": "webhook", "token": "x"})] == ["encoding_aes_key"]
    assert [name for name, _ in problems({"bot_id": "x"})] == ["secret"]
    with pytest.raises(AdapterStopped, match="EncodingAESKey"):
        CalledBot(called, encoding_aes_key="")


def _forged(simulator: WecomBotSimulator, generator: random.Random, number: int) -> tuple[dict[str, str], str]:
    """Returns a genuine call with one change that a forger could make."""
    calls = simulator.calls
    content = json.dumps(simulator.message("ann", "text", content=f"forged {number}"))
    encrypted = calls.crypto.encrypt(content)
    query = calls.query(encrypted)
    match generator.randrange(6):
        case 0:
            query["msg_signature"] = query["msg_signature"][::-1]
        case 1:
            del query["msg_signature"]
        case 2:
            query["timestamp"] = str(int(query["timestamp"]) + generator.choice((-1, 1, 60)))
        case 3:
            query["nonce"] += "x"
        case 4:
            old = str(int(time.time()) - 601)
            query |= {"timestamp": old, "msg_signature": calls.crypto.signature(old, query["nonce"], encrypted)}
        case _:
            place = generator.randrange(len(encrypted) - 4)
            changed = "A" if encrypted[place] != "A" else "B"
            encrypted = f"{encrypted[:place]}{changed}{encrypted[place + 1 :]}"
    return query, calls.body(encrypted, content)


@pytest.mark.parametrize("number", [60, pytest.param(MUTATED, marks=pytest.mark.long)])
async def test_forged_calls_are_refused_without_a_line_in_the_log(
    called: WecomBotSimulator, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    generator = random.Random(3)
    async with CalledBot(called).served() as bot:
        with caplog.at_level(logging.INFO, "parlour"):
            caplog.clear()
            for each in range(number):
                query, body = _forged(called, generator, each)
                assert (await called.calls.post(query, body))[0] == 401
        assert caplog.records == []
        assert bot.link.incoming == []

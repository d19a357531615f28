"""Incoming updates: the stored offset, senders and their roles, files as bytes, pressed buttons."""

import asyncio
import json

import pytest

from parlour.core.platforms.port import IncomingEvent
from parlour.testing.telegram_simulator import Simulator, native
from parlour_sdk.protocol.chain import Image, Unknown
from parlour_sdk.protocol.platform_events import InteractionReceived, MessageReceived

from .conftest import Bot

ANN, BOSS, GROUP = 1, 2, -1001


def message_of(incoming: IncomingEvent) -> MessageReceived:
    assert isinstance(incoming.event, MessageReceived)
    return incoming.event


async def test_the_offset_is_stored_with_the_events_and_used_after_a_restart(simulator: Simulator, url: str) -> None:
    async with Bot(simulator, url).served() as bot:
        await simulator.say("one", ANN)
        await bot.link.events(1)
        last = simulator.updates.reported[-1]["update_id"]
        assert json.loads(bot.link.stored_cursor or "") == {"offset": last + 1, "albums": []}
    again = Bot(simulator, url)
    again.link.stored_cursor = bot.link.stored_cursor
    await simulator.say("two", ANN)
    async with again.served():
        [incoming] = await again.link.events(1)
    assert message_of(incoming).message_id == str(simulator.updates.reported[-1]["message"]["message_id"])


async def test_messages_and_button_presses_have_the_role_of_their_sender(bot: Bot) -> None:
    simulator = bot.simulator
    simulator.world.add_group(GROUP)
    simulator.world.add_member(GROUP, BOSS, "creator")
    simulator.world.add_member(GROUP, ANN)
    question = simulator.world.show(simulator.world.chats[GROUP], {"text": "sure?"})
    shown = simulator.world.shown(GROUP, question["message_id"])
    await simulator.say("hello", BOSS, GROUP)
    await simulator.say("hello", ANN, GROUP)
    await bot.link.events(2)
    simulator.world.chats[GROUP].members[ANN]["status"] = "administrator"
    await simulator.press_data(shown, 'act\n{"n":1}', ANN)
    owner, member, pressed = await bot.link.events(3)
    assert [owner.role, member.role, pressed.role] == ["owner", "member", "admin"]
    assert isinstance(pressed.event, InteractionReceived)
    assert (pressed.event.action_id, pressed.event.value) == ("act", {"n": 1})
    assert pressed.event.message_id == str(question["message_id"])
    await simulator.until(lambda: len(simulator.world.answered_queries) == 1)


async def test_an_album_comes_in_even_if_its_timer_is_early(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = asyncio.sleep
    monkeypatch.setattr("asyncio.sleep", lambda seconds: sleep(max(0.0, seconds - 0.05)))
    file_id = bot.simulator.world.add_file(b"a photo")
    photo = {"photo": [{"file_id": file_id, "file_unique_id": "u", "width": 1, "height": 1}]}
    await bot.simulator.album(photo, photo, user=ANN)
    [incoming] = await bot.link.events(1)
    assert [type(each) for each in message_of(incoming).message_chain[1:]] == [Image, Image]


async def test_a_file_comes_as_bytes_and_a_missing_one_has_a_reason(bot: Bot) -> None:
    simulator = bot.simulator
    known = simulator.world.add_file(b"a photo")
    for file_id in (known, "unknown"):
        await simulator.say(user=ANN, photo=[{"file_id": file_id, "file_unique_id": "u", "width": 1, "height": 1}])
    first, second = await bot.link.events(2)
    image, reason = message_of(first).message_chain[1], message_of(second).message_chain[1]
    assert isinstance(image, Image)
    assert (image.base64, image.url) == ("YSBwaG90bw==", None)
    assert isinstance(reason, Unknown)
    assert reason.text == "[photo; Telegram did not hand it over]"


async def test_messages_in_topics_and_answers_to_the_bot_are_distinguished(bot: Bot) -> None:
    simulator = bot.simulator
    simulator.world.add_group(GROUP, is_forum=True)
    own = simulator.world.show(simulator.world.chats[GROUP], {"text": "mine"})
    await simulator.say("in a topic", ANN, GROUP, topic=5)
    await simulator.say("an answer", ANN, GROUP, reply_to_message=own, message_thread_id=own["message_id"])
    topic, answer = await bot.link.events(2)
    assert (topic.thread_id, topic.addresses_bot) == ("5", False)
    assert (answer.thread_id, answer.addresses_bot) == ("", True)


async def test_an_anonymous_group_sender_is_an_administrator_and_no_bot(bot: Bot) -> None:
    simulator = bot.simulator
    chat = simulator.world.add_group(GROUP).about
    anonymous = native.user(1087968824, "Group", is_bot=True, username="GroupAnonymousBot")
    message = simulator.message(ANN, GROUP, text="hello", sender_chat=chat)
    await simulator.report(message={**message, "from": anonymous})
    [incoming] = await bot.link.events(1)
    assert (incoming.role, message_of(incoming).sender.is_bot, message_of(incoming).sender.id) == (
        "admin",
        False,
        str(GROUP),
    )

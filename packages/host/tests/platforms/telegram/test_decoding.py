"""Every update becomes events that the Host can store; an unstorable one does not affect other updates."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.core.encoding import dumps
from parlour.core.platforms.events import to_envelope
from parlour.core.platforms.port import IncomingEvent
from parlour.platforms.telegram.decode import TelegramDecodeContext, decode
from parlour.platforms.telegram.entities import BotAccount
from parlour.testing.memory_link import MemoryLink
from parlour.testing.telegram_simulator import native

from .conftest import Bot

CONTEXT = TelegramDecodeContext("bot", BotAccount("777", "parlour_test_bot"))
FIELDS = (
    "text", "entities", "caption", "photo", "document", "sticker", "reply_to_message", "forward_origin", "sender_chat",
    "message_thread_id", "is_topic_message", "new_chat_members", "new_chat_title", "media_group_id", "venue",
)  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(("message", "edited_message", "callback_query", "message_reaction", "chat_member", "poll")),
    fields=st.dictionaries(st.sampled_from(FIELDS), values, max_size=5),
)
def test_every_update_becomes_events_that_the_host_can_store(kind: str, fields: dict[str, Any]) -> None:
    whole = {"message_id": 1, "from": native.user(7), "chat": native.private(7), "date": 1760000000, **fields}
    for incoming in decode({"update_id": 1, kind: whole}, CONTEXT):
        assert dumps(to_envelope(incoming, "bot", "telegram").data)


async def test_an_unstorable_update_does_not_block_later_updates(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    received = MemoryLink.receive

    async def receive_except_poison(link: MemoryLink, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        if any("poison" in str(each.event) for each in incoming):
            raise RuntimeError("it can't be kept")
        await received(link, *incoming, cursor=cursor)

    monkeypatch.setattr(MemoryLink, "receive", receive_except_poison)
    bot.simulator.updates.waiting += [
        {"update_id": 600_000_000 + number, "message": bot.simulator.message(1, text=text)}
        for number, text in enumerate(("one", "poison", "two"))
    ]
    await bot.simulator.updates.notify()
    incoming = await bot.link.events(2)
    assert [each.event.message_chain[1].text for each in incoming] == ["one", "two"]  # type: ignore[attr-defined]
    await bot.link.until(lambda: '"offset":600000003' in (bot.link.stored_cursor or "").replace(" ", ""))


async def test_half_of_an_emoji_becomes_a_replacement_character(bot: Bot) -> None:
    await bot.simulator.say("cut \ud83d", 1)
    [incoming] = await bot.link.events(1)
    assert "cut \ufffd" in str(incoming.event)


@pytest.mark.parametrize(
    ("fields", "locale"), [({"language_code": "zh-hans"}, "zh-hans"), ({}, None), ({"language_code": 7}, None)]
)
def test_the_language_of_a_user_becomes_the_locale(fields: dict[str, Any], locale: str | None) -> None:
    message = {
        "message_id": 1,
        "from": {**native.user(7), "language_code": None, **fields},
        "chat": native.private(7),
        "date": 1760000000,
        "text": "你好",
    }
    [incoming] = decode({"update_id": 1, "message": message}, CONTEXT)
    assert to_envelope(incoming, "bot", "telegram").actor.data.get("locale") == locale

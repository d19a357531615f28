"""Tests a homeserver in trouble: notices to users, repeated sends, and unaffected bots."""

from collections.abc import AsyncIterator

import pytest

from parlour.core.delivery.notices import notice_text
from parlour.testing.homeserver_proxy import HomeserverProxy
from tests.platforms.onebot11.qq import eventually, to_agent
from tests.support.harness import Json

from .person import Person, replaced
from .world import Bot, World

SEND = "/send/m.room.message/"
BUSY = {"errcode": "M_LIMIT_EXCEEDED", "error": "Too Many Requests", "retry_after_ms": 50}


@pytest.fixture
async def proxy(world: World) -> AsyncIterator[HomeserverProxy]:
    async with HomeserverProxy(world.synapse.url).listening() as proxy:
        yield proxy


@pytest.fixture
async def ann(world: World) -> AsyncIterator[Person]:
    async with world.person("Ann") as ann:
        yield ann


@pytest.fixture
async def bot(world: World, proxy: HomeserverProxy, puppet: str) -> AsyncIterator[Bot]:
    async with world.bot(to_agent(puppet), proxy.url) as bot:
        yield bot


@pytest.fixture
async def room(ann: Person, bot: Bot) -> str:
    return await ann.room(bot.user_id)


async def test_a_refused_message_is_reported_and_later_ones_are_sent_in_order(
    world: World, proxy: HomeserverProxy, ann: Person, room: str
) -> None:
    proxy.refuse("PUT", SEND, 403, {"errcode": "M_FORBIDDEN", "error": "you may not speak here"})
    refused = await ann.say(room, "say refused")
    for text in ("second", "third"):
        await ann.say(room, f"say {text}")
    notice_about_refusal = notice_text("delivery.refused")
    await ann.until(lambda: [text for text in ann.read(room) if text != notice_about_refusal] == ["second", "third"])
    step, notice = await world.wait_for_deliveries(refused, "failed", "sent")
    assert notice["text"] == "A notice was sent to platform."
    assert "you may not speak here (M_FORBIDDEN)" in step["text"]
    assert step["data"]["attempts"] == 1


async def test_a_streamed_answer_is_complete_in_one_message_under_a_storm_of_refusals(
    world: World, proxy: HomeserverProxy, ann: Person, bot: Bot, room: str
) -> None:
    opened = world.host.shared_file("storm")
    proxy.refuse("PUT", SEND, 429, BUSY, times=4)
    await ann.say(room, f"gate {opened}")
    await proxy.until(lambda: proxy.count("PUT", SEND) >= 2)
    opened.touch()
    await ann.say(room, "say afterwards")
    await ann.answered(room, "waiting is over", "afterwards")
    assert proxy.count("PUT", SEND) >= 6
    assert len({replaced(each) or each["event_id"] for each in ann.events(room)}) == 2
    assert bot.status["state"] == "connected"


async def test_a_revoked_token_stops_the_bot_and_is_reported(
    world: World, proxy: HomeserverProxy, ann: Person, bot: Bot, room: str
) -> None:
    proxy.refuse("GET", "/sync", 401, {"errcode": "M_UNKNOWN_TOKEN", "error": "Invalid access token"})
    await ann.say(room, "say hello")
    status = await bot.wait_for_error("access_token: the homeserver does not accept it (M_UNKNOWN_TOKEN); log in anew")
    assert status["state"] == "failed"
    assert proxy.count("GET", "/account/whoami") == 1, "it was tried again"


async def test_an_encrypted_room_gets_one_clear_notice(world: World, bot: Bot, ann: Person) -> None:
    room = await ann.room(bot.user_id, encrypted=True)
    secret = {"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "secret", "session_id": "s"}
    for _ in range(2):
        await ann.send_plainly(room, "m.room.encrypted", secret)
    await ann.until(lambda: bool(ann.read(room)))
    [notice] = ann.read(room)
    assert "This room is encrypted" in notice

    def notices() -> list[Json]:
        found = world.host.items("/events", bot_id=bot.bot_id)
        return [each for each in found if each["event_type"] == "platform.matrix.encrypted"]

    await eventually(lambda: len(notices()) == 2, "both are events")
    assert len(ann.read(room)) == 1

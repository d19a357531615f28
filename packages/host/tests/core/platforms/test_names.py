"""Names of people and groups: one question for each, again only after they expired, and swept when they are old."""

import asyncio

import pytest

from parlour.core.config.bots import Bot
from parlour.core.journal import Insert, Select, Unit
from parlour.core.platforms.names import NAME_TTL_MILLISECONDS
from parlour.core.store.retention import Retention, RetentionPeriods
from parlour.core.store.tables import NAMES
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import MemberJoined

from ..delivery.platform_support import BOT, PlatformWorld
from ..support import LoopClock, make_agent

EXPIRY_SECONDS = NAME_TTL_MILLISECONDS / 1000 + 1


async def opened() -> PlatformWorld:
    world = await PlatformWorld.open(agent=make_agent(event_types=("*",), stale_after=0))
    await world.core.bots.add(Bot(BOT, "bot", "fake"))
    return world


async def joined(world: PlatformWorld, number: int) -> str:
    """Returns the nickname that the run's event has."""
    group, member = Group(id="g"), GroupMember(user=User(id="eve"), group_id="g")
    event = MemberJoined(event_id=f"e{number}", timestamp=number, group=group, member=member)
    await world.platform.happen(event)
    run = await world.plugins.next_run()
    run.answer("hi")
    await world.rest()
    return str(run.context["event"]["data"]["member"]["user"]["nickname"])


def asked(world: PlatformWorld) -> list[str]:
    return [name for name, _ in world.platform.calls if name in ("get_user_info", "get_group_info")]


async def test_a_name_is_asked_for_once_until_it_expires() -> None:
    world = await opened()
    assert [await joined(world, 1), await joined(world, 2)] == ["Eve", "Eve"]
    assert sorted(asked(world)) == ["get_group_info", "get_user_info"]
    await asyncio.sleep(EXPIRY_SECONDS)
    assert await joined(world, 3) == "Eve"
    assert len(asked(world)) == 4


async def test_names_that_expired_are_swept() -> None:
    world = await opened()
    await joined(world, 1)
    retention = Retention(world.journal, world.core.artifacts, LoopClock(), RetentionPeriods(events=0))
    assert len(world.journal.database.read(Select(NAMES))) == 2
    await retention.run_once()
    assert len(world.journal.database.read(Select(NAMES))) == 2
    await asyncio.sleep(EXPIRY_SECONDS)
    await retention.run_once()
    assert world.journal.database.read(Select(NAMES)) == []


async def test_a_name_that_was_kept_while_the_clock_was_ahead_is_asked_for_again() -> None:
    world = await opened()
    ahead = LoopClock().now() + 400 * 24 * 3600 * 1000
    kept = {"bot_id": BOT, "kind": "user", "entity_id": "eve", "name": "old", "created_at": ahead, "expires_at": ahead}
    await world.journal.commit(Unit("name.keep", (Insert(NAMES, kept),)))
    assert await joined(world, 1) == "Eve"


@pytest.mark.parametrize(
    ("chat", "kind", "entity_id"),
    [
        ("10001/group:55", "group", "55"),
        ("private:7", "user", "7"),
        ("group:!a/b:example.org", "group", "!a/b:example.org"),
    ],
)
async def test_the_name_of_a_deleted_chat_is_forgotten(chat: str, kind: str, entity_id: str) -> None:
    world = await opened()
    known = {"bot_id": BOT, "kind": kind, "entity_id": entity_id}
    await world.journal.commit(
        Unit("name.keep", (Insert(NAMES, {**known, "name": "A", "created_at": 1, "expires_at": 2}),))
    )
    await world.journal.commit(Unit("conversation.erase", tuple(world.core.names.forget_chat(BOT, chat))))
    assert world.journal.database.read(Select(NAMES)) == []

"""Names of users and groups are requested once, refreshed after they expire, and deleted by retention."""

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


async def open_world() -> PlatformWorld:
    world = await PlatformWorld.open(agent=make_agent(event_types=("*",), stale_after=0))
    await world.core.bots.add(Bot(BOT, "bot", "fake"))
    return world


async def join_member(world: PlatformWorld, number: int) -> str:
    """Returns the nickname that the run's event has."""
    group, member = Group(id="g"), GroupMember(user=User(id="eve"), group_id="g")
    event = MemberJoined(event_id=f"e{number}", timestamp=number, group=group, member=member)
    await world.platform.happen(event)
    run = await world.plugins.next_run()
    run.answer("hi")
    await world.rest()
    return str(run.context["event"]["data"]["member"]["user"]["nickname"])


def name_requests(world: PlatformWorld) -> list[str]:
    return [name for name, _ in world.platform.calls if name in ("get_user_info", "get_group_info")]


async def test_name_is_requested_once_until_it_expires() -> None:
    world = await open_world()
    assert [await join_member(world, 1), await join_member(world, 2)] == ["Eve", "Eve"]
    assert sorted(name_requests(world)) == ["get_group_info", "get_user_info"]
    await asyncio.sleep(EXPIRY_SECONDS)
    assert await join_member(world, 3) == "Eve"
    assert len(name_requests(world)) == 4


async def test_expired_names_are_deleted_by_retention() -> None:
    world = await open_world()
    await join_member(world, 1)
    retention = Retention(world.journal, world.core.artifacts, LoopClock(), RetentionPeriods(events=0))
    assert len(world.journal.database.read(Select(NAMES))) == 2
    await retention.run_once()
    assert len(world.journal.database.read(Select(NAMES))) == 2
    await asyncio.sleep(EXPIRY_SECONDS)
    await retention.run_once()
    assert world.journal.database.read(Select(NAMES)) == []


async def test_name_stored_with_a_future_time_is_requested_again() -> None:
    world = await open_world()
    ahead = LoopClock().now() + 400 * 24 * 3600 * 1000
    row = {
        "bot_id": BOT,
        "kind": "user",
        "entity_id": "eve",
        "name": "old",
        "created_at": ahead,
        "expires_at": ahead,
    }
    await world.journal.commit(Unit("name.keep", (Insert(NAMES, row),)))
    assert await join_member(world, 1) == "Eve"


@pytest.mark.parametrize(
    ("chat", "kind", "entity_id"),
    [
        ("10001/group:55", "group", "55"),
        ("private:7", "user", "7"),
        ("group:!a/b:example.org", "group", "!a/b:example.org"),
    ],
)
async def test_name_of_a_deleted_chat_is_deleted(chat: str, kind: str, entity_id: str) -> None:
    world = await open_world()
    known = {"bot_id": BOT, "kind": kind, "entity_id": entity_id}
    await world.journal.commit(
        Unit("name.keep", (Insert(NAMES, {**known, "name": "A", "created_at": 1, "expires_at": 2}),))
    )
    await world.journal.commit(Unit("conversation.erase", tuple(world.core.names.forget_chat(BOT, chat))))
    assert world.journal.database.read(Select(NAMES)) == []

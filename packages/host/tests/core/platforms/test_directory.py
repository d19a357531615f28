"""The directory records what events name, answers the read API from it, and forgets on request."""

from typing import Any

import pytest

from parlour.core.config.bots import Bot
from parlour.core.journal import Select, Unit
from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms.directory import DirectoryRecorder
from parlour.core.platforms.events import to_envelope
from parlour.core.platforms.manifest import SEEN_APIS
from parlour.core.platforms.port import IncomingEvent
from parlour.core.store.retention import Retention, RetentionPeriods
from parlour.core.store.tables import DIRECTORY, DIRECTORY_MEMBERS, DIRECTORY_MESSAGES
from parlour_sdk.protocol.chain import Plain
from parlour_sdk.protocol.people import ChatType, Group, GroupMember, User
from parlour_sdk.protocol.platform_events import MemberLeft, MessageReceived, PlatformEvent

from ..support import World, jump
from .bot_support import MANIFEST, BotFleet

TABLES = (DIRECTORY, DIRECTORY_MEMBERS, DIRECTORY_MESSAGES)
SEEN = MANIFEST.model_copy(update={"supported_apis": ["send_message"], "seen_apis": list(SEEN_APIS)})
ANN, GROUP = User(id="ann", nickname="Ann"), Group(id="g", name="Friends")


def said(number: int, chat_type: ChatType = "group", sender: User = ANN, **fields: Any) -> IncomingEvent:
    event = MessageReceived(
        event_id=f"e{number}",
        timestamp=1_700_000_000,
        message_id=f"m{number}",
        message_chain=[Plain(text=f"text {number}")],
        sender=sender,
        chat_type=chat_type,
        chat_id="g" if chat_type == "group" else sender.id,
        group=GROUP if chat_type == "group" else None,
    )
    return IncomingEvent(event, **fields)


class Seen:
    """A core with one bot whose platform has no look-up."""

    def __init__(self, world: World, fleet: BotFleet) -> None:
        self.world = world
        self.fleet = fleet

    @classmethod
    async def open(cls, manifest: Any = SEEN) -> "Seen":
        world = await World.open(echo=True)
        seen = cls(world, BotFleet(world, manifest))
        await seen.fleet.repository.add(Bot("bot", "bot", "fake"))
        await seen.fleet.bots.apply("bot")
        await seen.fleet.bots.wait_connected("bot")
        return seen

    async def happen(self, *incoming: IncomingEvent) -> None:
        link = self.fleet.catalogue.adapters[-1].link
        await link.receive(*incoming)
        await self.world.rest()

    async def ask(self, api: str, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = await self.fleet.bots.call(None, "bot", api, arguments)  # type: ignore[arg-type]
        return answer

    def count(self) -> list[int]:
        return [len(self.world.journal.database.read(Select(table))) for table in TABLES]


async def test_read_api_answers_what_events_named() -> None:
    seen = await Seen.open()
    await seen.happen(said(1, role="admin"), said(2, "private", User(id="bob", nickname="Bob")))
    assert (await seen.ask("get_user_info", user_id="ann"))["nickname"] == "Ann"
    assert (await seen.ask("get_group_info", group_id="g"))["name"] == "Friends"
    groups = await seen.ask("get_group_list")
    assert ([each["id"] for each in groups["groups"]], groups["incomplete"]) == (["g"], True)
    members = await seen.ask("get_group_member_list", group_id="g")
    assert [(each["user"]["nickname"], each["role"]) for each in members["members"]] == [("Ann", "admin")]
    assert (await seen.ask("get_group_member_info", group_id="g", user_id="ann"))["role"] == "admin"
    assert [each["id"] for each in (await seen.ask("get_friend_list"))["friends"]] == ["bob"]
    message = await seen.ask("get_message", chat_type="group", chat_id="g", message_id="m1")
    assert (message["sender"]["id"], message["chain"][0]["text"]) == ("ann", "text 1")
    with pytest.raises(ProviderFailed, match="no event has named user 'eve'"):
        await seen.ask("get_user_info", user_id="eve")
    with pytest.raises(ProviderFailed, match="no event has named message"):
        await seen.ask("get_message", chat_type="private", chat_id="ann", message_id="m1")


async def test_sightings_cost_no_unit_and_unchanged_rows_are_not_written_again() -> None:
    seen = await Seen.open()
    units = len(seen.world.journal.units)
    await seen.happen(said(1))
    first_units, units = seen.world.journal.units[units:], len(seen.world.journal.units)
    assert not [name for name in first_units if "directory" in name]
    world = seen.world
    recorder = DirectoryRecorder(world.core.directory, "bot", SEEN_APIS, world.clock)

    def written(incoming: IncomingEvent) -> list[str]:
        sighting = recorder.record(to_envelope(incoming, "bot", "fake"))
        recorder.after_commit(sighting)
        return [statement.table.name for statement in sighting.statements]

    assert sorted(written(said(2))) == ["directory", "directory", "directory_members", "directory_messages"]
    assert written(said(3)) == ["directory_messages"]
    assert written(said(4, sender=User(id="ann", nickname="Anna"))) == ["directory", "directory_messages"]
    jump(3601)
    assert len(written(said(5))) == 4


async def test_platform_without_seen_api_writes_nothing() -> None:
    seen = await Seen.open(MANIFEST)
    await seen.happen(said(1))
    assert seen.count() == [0, 0, 0]


async def test_member_who_leaves_is_forgotten() -> None:
    seen = await Seen.open()
    left: PlatformEvent = MemberLeft(
        event_id="left", timestamp=1, group=GROUP, member=GroupMember(user=ANN, group_id="g"), is_kicked=False
    )
    await seen.happen(said(1), IncomingEvent(left))
    assert (await seen.ask("get_group_member_list", group_id="g"))["members"] == []
    await seen.happen(said(2))
    assert len((await seen.ask("get_group_member_list", group_id="g"))["members"]) == 1


async def test_person_is_exported_and_forgotten() -> None:
    seen = await Seen.open()
    await seen.happen(said(1), said(2, sender=User(id="bob")))
    directory = seen.world.core.directory
    exported = await directory.export_person("bot", "ann")
    assert {name: len(rows) for name, rows in exported.items()} == {each.name: 1 for each in TABLES}
    await seen.world.journal.commit(Unit("person.forget", tuple(directory.forget_person("bot", "ann"))))
    assert all(not rows for rows in (await directory.export_person("bot", "ann")).values())
    assert seen.count() == [2, 1, 1]
    await seen.happen(said(3))
    assert seen.count() == [3, 2, 2]


async def test_deletion_of_a_conversation_and_of_the_bot_deletes_the_rows() -> None:
    seen = await Seen.open()
    await seen.happen(said(1), said(2, "private"))
    core = seen.world.core
    events = [to_envelope(each, "bot", "fake") for each in (said(1), said(2, "private"))]
    group, private = [await core.conversations.find(each.conversation_key) for each in events]
    assert group
    await core.conversation_eraser.erase(group, events[0].actor)
    assert seen.count() == [1, 0, 1]
    assert private
    await seen.fleet.repository.remove("bot")
    assert seen.count() == [0, 0, 0]


async def test_rows_expire_after_the_retention_period() -> None:
    seen = await Seen.open()
    await seen.happen(said(1))
    world = seen.world
    retention = Retention(world.journal, world.core.artifacts, world.clock, RetentionPeriods(events=0, directory=90))
    await retention.run_once()
    assert seen.count() == [2, 1, 1]
    jump(91 * 24 * 3600)
    await retention.run_once()
    assert seen.count() == [0, 0, 0]


@pytest.mark.parametrize("name", ["send_message", "kick_member"])
def test_manifest_rejects_a_seen_api_that_the_directory_has_not(name: str) -> None:
    with pytest.raises(ValueError, match="seen_apis"):
        type(MANIFEST)(**{**MANIFEST.model_dump(), "seen_apis": [name]})

"""Requests are answered by the owner of the bot, run or conversation that they name."""

import pytest

from parlour.app.cluster.request_owner import RequestOwner
from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostFacts, HostLease
from parlour.core.cluster.parts import bot_part, shard_part
from parlour.core.journal import Insert, Unit
from parlour.core.model.event import ConversationKey
from parlour.core.model.ids import NO_BOT, AgentId, BotId, ConversationId, HostId
from parlour.core.store import conversations
from parlour.core.store.tables import OWNERS
from parlour.testing.memory_journal import MemoryDatabase, MemoryJournal
from parlour.testing.memory_leases import MemoryHostLeases

OWN, OTHER, SILENT = HostId("own"), HostId("other"), HostId("silent")
OWN_BOT, OTHER_BOT, SILENT_BOT, FREE_BOT = (BotId(name) for name in ("mine", "theirs", "unreachable", "free"))
CONVERSATION = ConversationId("c1")


@pytest.fixture
async def owners() -> RequestOwner:
    database = MemoryDatabase()
    journal, leases = MemoryJournal(database), MemoryHostLeases(database, lambda: 1)
    for host, address in ((OWN, "http://own"), (OTHER, "http://other:5300"), (SILENT, "")):
        await leases.join(HostFacts(host, host, "1", address))
    parts = [(bot_part(bot), host) for bot, host in ((OWN_BOT, OWN), (OTHER_BOT, OTHER), (SILENT_BOT, SILENT))]
    parts += [(bot_part(FREE_BOT), HostId("")), (shard_part(CONVERSATION), OTHER)]
    rows = [{"part": part, "host_id": host, "wanted": "", "epoch": 1, "moved_at": 0} for part, host in parts]
    key = ConversationKey("default", "webui", NO_BOT, "chat", "", AgentId("a"), "user:1")
    made = conversations.create(CONVERSATION, key, 1)
    await journal.commit(Unit("test.own", (*(Insert(OWNERS, {**row}) for row in rows), made)))
    ownership = LeasedOwnership(HostLease())
    ownership.add(bot_part(OWN_BOT), 1)
    return RequestOwner(journal, ownership)


async def test_calls_of_platforms_go_to_the_owner_of_the_bot(owners: RequestOwner) -> None:
    assert await owners.find("POST", f"/hooks/{OWN_BOT}") == ""
    assert await owners.find("POST", f"/hooks/{OTHER_BOT}") == "http://other:5300"
    assert await owners.find("WEBSOCKET", f"/hooks/{OTHER_BOT}/ws") == "http://other:5300"


async def test_an_owner_without_address_or_a_part_without_owner_can_not_be_reached(owners: RequestOwner) -> None:
    assert await owners.find("POST", f"/hooks/{SILENT_BOT}") is None
    assert await owners.find("POST", f"/hooks/{FREE_BOT}") is None


async def test_changes_of_a_conversation_go_to_its_owner_and_readings_stay_here(owners: RequestOwner) -> None:
    assert await owners.find("DELETE", f"/api/v1/conversations/{CONVERSATION}") == "http://other:5300"
    assert await owners.find("GET", f"/api/v1/conversations/{CONVERSATION}") == ""
    assert await owners.find("POST", "/api/v1/runs/unknown/cancel") == ""
    assert await owners.find("POST", "/api/v1/events") == ""


async def test_the_owner_of_a_part_is_found_by_its_address(owners: RequestOwner) -> None:
    assert await owners.address(bot_part(OWN_BOT)) == ""
    assert await owners.address(bot_part(OTHER_BOT)) == "http://other:5300"
    assert await owners.address(bot_part(FREE_BOT)) is None

"""Requests for conversations of other Hosts are refused here as long as they can still be passed on."""

from collections.abc import Iterator

import pytest

from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostLease
from parlour.core.cluster.parts import bot_part, shard_part
from parlour.core.ingest.arrivals import ARRIVAL, AnsweredElsewhere, Arrival, Arrivals
from parlour.core.journal import Unit
from parlour.core.model.event import ConversationKey
from parlour.core.model.ids import NO_BOT, AgentId, BotId, ConversationId
from parlour.core.store import conversations
from parlour.core.store.conversations import Conversations
from parlour.core.system import SystemClock, SystemIds
from parlour.testing.memory_journal import MemoryDatabase, MemoryJournal

BOT = BotId("bot")


def key(chat: str, bot_id: BotId = NO_BOT) -> ConversationKey:
    return ConversationKey("default", "webui", bot_id, chat, "", AgentId("a"), "user:1")


class Chats:
    """Conversations on a database that two Hosts share; this one owns no part at first."""

    def __init__(self) -> None:
        self.journal = MemoryJournal(MemoryDatabase())
        self.ownership = LeasedOwnership(HostLease())
        self.conversations = Conversations(self.journal, ownership=self.ownership)
        self.arrivals = Arrivals(self.ownership, self.conversations)

    async def add(self, chat: str, conversation_id: str, generation: int = 0) -> ConversationId:
        made = ConversationId(conversation_id)
        await self.journal.commit(Unit("test.add", (conversations.create(made, key(chat), 1, generation),)))
        return made


@pytest.fixture
def arrival() -> Iterator[Arrival]:
    arrival = Arrival()
    token = ARRIVAL.set(arrival)
    yield arrival
    ARRIVAL.reset(token)


async def test_a_request_for_a_conversation_of_another_host_is_refused_until_its_answer_has_begun(
    arrival: Arrival,
) -> None:
    chats = Chats()
    conversation_id = await chats.add("known", "c1")
    with pytest.raises(AnsweredElsewhere):
        await chats.arrivals.require_key(key("known"))
    assert arrival.part == shard_part(conversation_id)
    with pytest.raises(AnsweredElsewhere):
        chats.arrivals.require(BOT, conversation_id)
    assert arrival.part == bot_part(BOT)
    arrival.is_final = True
    await chats.arrivals.require_key(key("known"))


async def test_a_new_chat_and_a_conversation_of_this_host_are_answered_here(arrival: Arrival) -> None:
    chats = Chats()
    await chats.arrivals.require_key(key("new"))
    chats.ownership.add(shard_part(await chats.add("own", "c1")), 1)
    await chats.arrivals.require_key(key("own"))
    chats.ownership.add(bot_part(BOT), 1)
    await chats.arrivals.require_key(key("any", BOT))
    assert arrival.part is None


async def test_outside_of_a_request_that_can_be_passed_on_nothing_is_refused() -> None:
    chats = Chats()
    await chats.add("known", "c1")
    await chats.arrivals.require_key(key("known"))
    chats.arrivals.require(BOT, ConversationId("c1"))


async def test_a_chat_that_its_owner_has_restarted_is_found_by_the_other_hosts_without_a_notice() -> None:
    chats = Chats()
    await chats.add("known", "c1")
    assert await chats.conversations.find(key("known")) == "c1"
    await chats.add("known", "c2", generation=1)
    assert await chats.conversations.find(key("known")) == "c2"
    assert await chats.conversations.get_or_create(key("known"), SystemIds(), SystemClock()) == "c2"

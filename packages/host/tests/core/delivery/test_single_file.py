"""One message at a time of an account is with its platform, while that answers at once: a kill repeats one at most."""

import asyncio

import pytest

from parlour.core.delivery.send_serializer import FAST_RESPONSE_SECONDS, PARALLEL_THRESHOLD, SendSerializer
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendReceipt

from ..support import PlatformSurface, settle, until
from .outbox_support import Post
from .platform_support import PlatformWorld, chat_manifest

QUICK = FAST_RESPONSE_SECONDS / 5
SLOW = FAST_RESPONSE_SECONDS * 5


class Watched(PlatformSurface):
    """Knows how many messages were with it at a time."""

    def __init__(self, takes: float) -> None:
        super().__init__()
        self.takes = takes
        self.turns = asyncio.Event()
        self.turns.set()
        self.under_way = 0
        self.most = 0

    async def acquire(self, outgoing: OutboxRow) -> None:
        await self.turns.wait()

    async def send(self, outgoing: OutboxRow) -> SendReceipt:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await asyncio.sleep(self.takes)
            return await super().send(outgoing)
        finally:
            self.under_way -= 1


class Office(Post):
    def __init__(self, takes: float) -> None:
        self.platform = Watched(takes)
        super().__init__(surface=self.platform)

    async def write_to(self, chats: int, bot_id: str = "bot") -> None:
        for number in range(chats):
            await self.post(f"{bot_id}-{len(self.journal.units)}-{number}", f"{bot_id}/{number}", bot_id=bot_id)

    async def took(self, chats: int) -> float:
        begun = asyncio.get_running_loop().time()
        await self.write_to(chats)
        await self.done()
        return asyncio.get_running_loop().time() - begun


async def test_messages_of_one_account_are_with_their_platform_one_at_a_time() -> None:
    office = Office(takes=QUICK)
    await office.write_to(10)
    await office.done()
    assert len(office.platform.tries) == 10
    assert office.platform.most == 1


async def test_accounts_do_not_wait_for_each_other() -> None:
    office = Office(takes=QUICK)
    await office.write_to(1, "one")
    await office.write_to(1, "other")
    await office.done()
    assert office.platform.most == 2


async def test_a_platform_that_takes_its_time_is_not_waited_for() -> None:
    office = Office(takes=SLOW)
    assert await office.took(10) < 2 * SLOW
    assert office.platform.most > 5


async def test_one_that_answers_at_once_again_is_asked_for_one_at_a_time_again() -> None:
    office = Office(takes=SLOW)
    await office.took(3)
    office.platform.takes = QUICK
    await office.took(1)
    office.platform.most = 0
    await office.took(5)
    assert office.platform.most == 1


async def test_a_message_that_is_never_answered_holds_up_the_others_for_a_moment_only() -> None:
    office = Office(takes=QUICK)
    office.platform.prepared.append(10_000.0)
    await office.write_to(1, "bot")
    await until(lambda: len(office.platform.tries) == 1)
    begun = asyncio.get_running_loop().time()
    await office.post("next", "another chat")
    await until(lambda: office.row("next")["state"] == "sent")
    assert asyncio.get_running_loop().time() - begun < FAST_RESPONSE_SECONDS + 2 * QUICK
    await office.outbox.close()


async def test_a_crowd_goes_together() -> None:
    office = Office(takes=QUICK)
    await office.write_to(1 + PARALLEL_THRESHOLD)
    await office.done()
    assert office.platform.most == 1 + PARALLEL_THRESHOLD


async def test_after_a_kill_only_the_one_that_was_handed_over_may_be_repeated() -> None:
    office = Office(takes=10_000)
    await office.post("first", "chat 1")
    await until(lambda: office.platform.under_way == 1)
    await office.post("second", "chat 2")
    await office.post("third", "chat 3")
    await settle()
    after = Post(journal=office.journal)
    after.handovers.__dict__.update(office.handovers.__dict__)
    await office.outbox.close()
    await after.outbox.recover()
    await after.done()
    repeated = {each.outbox_id: each.possibly_repeated for each in after.surface.tries}
    assert repeated == {"first": True, "second": False, "third": False}


async def test_what_waits_for_its_turn_has_not_left() -> None:
    office = Office(takes=QUICK)
    office.platform.turns.clear()
    await office.post("a")
    await settle()
    assert not office.handovers.was_started("a")
    office.platform.turns.set()
    await office.done()
    assert office.state("a")[0] == "sent"


async def test_what_waits_when_the_host_closes_is_left_to_the_next_life() -> None:
    office = Office(takes=QUICK)
    await office.post("first", "chat 1")
    await office.post("second", "chat 2")
    await until(lambda: office.platform.under_way == 1)
    await office.outbox.close()
    assert [each.outbox_id for each in office.platform.tries] == ["first"]
    assert office.state("first")[0] == "sent"
    assert not office.handovers.was_started("second")


async def test_who_gives_up_while_waiting_is_passed_over() -> None:
    line, gone = SendSerializer(), asyncio.Event()
    order: list[str] = []

    async def go(name: str) -> None:
        async with line.slot("account"):
            order.append(name)
            await gone.wait()

    first, second, third = (asyncio.create_task(go(name)) for name in ("first", "second", "third"))
    await settle()
    second.cancel()
    await settle()
    gone.set()
    await asyncio.gather(first, third)
    assert order == ["first", "third"]


@pytest.mark.parametrize(("idempotent", "apart"), [(False, QUICK), (True, 0)], ids=["twice", "once"])
async def test_where_a_second_copy_would_not_be_shown_nobody_waits(idempotent: bool, apart: float) -> None:
    world = await PlatformWorld.open(chat_manifest(idempotent=idempotent))
    world.platform.delay_seconds = QUICK
    for chat_id in ("1", "2"):
        await world.platform.say("hello", chat_id)
    runs = [await world.plugins.next_run() for _ in range(2)]
    for run in runs:
        run.send(run.completed("hi"), run.finished())
    await world.platform.until(lambda: len(world.platform.shown) == 2)
    calls = zip(world.platform.calls, world.platform.called_at, strict=True)
    first, second = (at for (api, _), at in calls if api == "send_message")
    assert second - first == pytest.approx(apart, abs=QUICK / 4)

"""Messages of an account are sent one at a time while its platform is fast, so that a kill repeats only one."""

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


class CountingSurface(PlatformSurface):
    """A surface that counts concurrent sends."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.turns = asyncio.Event()
        self.turns.set()
        self.active = 0
        self.max_active = 0

    async def acquire(self, outgoing: OutboxRow) -> None:
        await self.turns.wait()

    async def send(self, outgoing: OutboxRow) -> SendReceipt:
        self.active += 1
        self.max_active = max(self.max_active, self.active)
        try:
            await asyncio.sleep(self.seconds)
            return await super().send(outgoing)
        finally:
            self.active -= 1


class SerializedPost(Post):
    def __init__(self, seconds: float) -> None:
        self.platform = CountingSurface(seconds)
        super().__init__(surface=self.platform)

    async def write_to(self, chats: int, bot_id: str = "bot") -> None:
        for number in range(chats):
            await self.post(f"{bot_id}-{len(self.journal.units)}-{number}", f"{bot_id}/{number}", bot_id=bot_id)

    async def took(self, chats: int) -> float:
        started = asyncio.get_running_loop().time()
        await self.write_to(chats)
        await self.done()
        return asyncio.get_running_loop().time() - started


async def test_messages_of_an_account_are_sent_one_at_a_time() -> None:
    post = SerializedPost(seconds=QUICK)
    await post.write_to(10)
    await post.done()
    assert len(post.platform.tries) == 10
    assert post.platform.max_active == 1


async def test_accounts_do_not_wait_for_each_other() -> None:
    post = SerializedPost(seconds=QUICK)
    await post.write_to(1, "one")
    await post.write_to(1, "other")
    await post.done()
    assert post.platform.max_active == 2


async def test_slow_platform_gets_parallel_sends() -> None:
    post = SerializedPost(seconds=SLOW)
    assert await post.took(10) < 2 * SLOW
    assert post.platform.max_active > 5


async def test_platform_that_is_fast_again_is_serialized_again() -> None:
    post = SerializedPost(seconds=SLOW)
    await post.took(3)
    post.platform.seconds = QUICK
    await post.took(1)
    post.platform.max_active = 0
    await post.took(5)
    assert post.platform.max_active == 1


async def test_unanswered_send_blocks_others_only_briefly() -> None:
    post = SerializedPost(seconds=QUICK)
    post.platform.prepared.append(10_000.0)
    await post.write_to(1, "bot")
    await until(lambda: len(post.platform.tries) == 1)
    started = asyncio.get_running_loop().time()
    await post.post("next", "another chat")
    await until(lambda: post.row("next")["state"] == "sent")
    assert asyncio.get_running_loop().time() - started < FAST_RESPONSE_SECONDS + 2 * QUICK
    await post.outbox.close()


async def test_many_waiting_messages_are_sent_in_parallel() -> None:
    post = SerializedPost(seconds=QUICK)
    await post.write_to(1 + PARALLEL_THRESHOLD)
    await post.done()
    assert post.platform.max_active == 1 + PARALLEL_THRESHOLD


async def test_kill_makes_only_the_started_send_uncertain() -> None:
    post = SerializedPost(seconds=10_000)
    await post.post("first", "chat 1")
    await until(lambda: post.platform.active == 1)
    await post.post("second", "chat 2")
    await post.post("third", "chat 3")
    await settle()
    after = Post(journal=post.journal)
    after.send_log.__dict__.update(post.send_log.__dict__)
    await post.outbox.close()
    await after.outbox.recover()
    await after.done()
    repeated = {each.outbox_id: each.possibly_repeated for each in after.surface.tries}
    assert repeated == {"first": True, "second": False, "third": False}


async def test_waiting_row_is_not_in_the_send_log() -> None:
    post = SerializedPost(seconds=QUICK)
    post.platform.turns.clear()
    await post.post("a")
    await settle()
    assert not post.send_log.was_started("a")
    post.platform.turns.set()
    await post.done()
    assert post.state("a")[0] == "sent"


async def test_waiting_row_is_left_to_the_next_start() -> None:
    post = SerializedPost(seconds=QUICK)
    await post.post("first", "chat 1")
    await post.post("second", "chat 2")
    await until(lambda: post.platform.active == 1)
    await post.outbox.close()
    assert [each.outbox_id for each in post.platform.tries] == ["first"]
    assert post.state("first")[0] == "sent"
    assert not post.send_log.was_started("second")


async def test_cancelled_waiter_is_skipped() -> None:
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
async def test_idempotent_platform_is_not_serialized(idempotent: bool, apart: float) -> None:
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

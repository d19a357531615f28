"""A Host that lost a part commits nothing for it, and has no effect outside while it can't be sure."""

import asyncio

import pytest

from parlour.core.cluster.ownership import PartLost, SoleOwner
from parlour.core.cluster.parts import SCHEDULES_DUTY, part_of
from parlour.core.config.bots import PlatformCursors
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Unit
from parlour.core.model.ids import BotId, ConversationId, PartId
from parlour.core.model.schedule import Schedule
from parlour.core.store.tables import BOT_CURSORS, EVENTS, INBOX, OUTBOX, RUNS, SCHEDULES
from parlour.testing.fake_ownership import FakeOwnership

from ..delivery.outbox_support import Post
from ..support import World, message, until

BOT = PartId("bot:bot")


async def open_world() -> tuple[World, FakeOwnership]:
    ownership = FakeOwnership()
    return await World.open(echo=True, ownership=ownership), ownership


async def take_over(world: World, ownership: FakeOwnership, part: PartId) -> None:
    await world.journal.commit(Unit("test.move", (ownership.move(part),)))


def test_a_sole_owner_owns_everything_and_adds_nothing() -> None:
    owner = SoleOwner()
    assert owner.is_sole
    assert owner.owns(BOT)
    assert (owner.epoch(BOT), owner.guards(BOT), owner.effect_gate()) == (0, (), None)


async def test_work_of_a_bot_and_of_a_conversation_without_one_has_its_part() -> None:
    world, ownership = await open_world()
    await world.say("hi", bot_id="bot")
    await world.say("hello")
    await world.rest()
    shard = part_of(BotId(""), world.rows(EVENTS, bot_id="")[0]["conversation_id"])
    assert {row["part"] for row in world.rows(RUNS)} == {row["part"] for row in world.rows(OUTBOX)} == {BOT, shard}
    assert {BOT, shard} <= set(ownership.guarded)


async def test_an_event_with_a_cursor_is_left_to_the_host_that_took_the_bot() -> None:
    world, ownership = await open_world()
    await take_over(world, ownership, BOT)
    cursors = PlatformCursors(world.journal, ownership, world.clock)
    with pytest.raises(PartLost):
        await world.core.gateway.ingest(message("hi", bot_id="bot"), *cursors.save_statements(BotId("bot"), "7"))
    with pytest.raises(GuardFailed):
        await cursors.save(BotId("bot"), "7")
    assert (world.rows(EVENTS), world.rows(INBOX), world.rows(BOT_CURSORS)) == ([], [], [])


async def test_a_run_does_not_start_after_its_part_moved() -> None:
    world, ownership = await open_world()
    await take_over(world, ownership, BOT)
    await world.say("hi", bot_id="bot")
    assert [row["state"] for row in world.rows(INBOX)] == ["owed"], "the event is kept for the other Host"
    assert (world.rows(RUNS), world.plugins.runs) == ([], [])


async def test_a_row_is_not_marked_as_sending_after_its_part_moved() -> None:
    ownership = FakeOwnership()
    post = Post(ownership=ownership)
    await post.journal.commit(Unit("test.move", (ownership.move(BOT),)))
    post.outbox.enqueue(await post.write("late"))
    await until(lambda: BOT in ownership.guarded)
    assert (post.state("late")[0], post.surface.tries) == ("pending", [])
    await post.outbox.close()


async def test_a_schedule_does_not_advance_after_its_duty_moved() -> None:
    world, ownership = await open_world()
    state = await world.core.schedules.add(Schedule("s", "daily", cron="0 9 * * *", agent_id="agent"))
    await take_over(world, ownership, SCHEDULES_DUTY)
    before = world.rows(SCHEDULES)
    with pytest.raises(GuardFailed):
        await world.core.schedules.advance(state, fired=True)
    assert world.rows(SCHEDULES) == before


async def test_a_send_waits_at_the_gate_and_goes_out_once() -> None:
    ownership = FakeOwnership()
    post = Post(ownership=ownership)
    ownership.pause()
    await post.post("one")
    await until(lambda: ownership.waiting == 1)
    assert post.surface.tries == []
    ownership.resume()
    await post.done()
    assert (post.surface.texts, post.state("one")[0]) == (["one"], "sent")


async def test_a_send_of_a_fenced_host_does_not_go_out_and_stays_for_the_next_owner() -> None:
    ownership = FakeOwnership()
    post = Post(ownership=ownership)
    ownership.pause()
    await post.post("one")
    await until(lambda: ownership.waiting == 1)
    ownership.fence()
    await post.done()
    assert (post.surface.tries, post.state("one")[0]) == ([], "sending")


async def test_a_plugin_is_not_called_before_the_gate_opens() -> None:
    world, ownership = await open_world()
    ownership.pause()
    await world.say("hi")
    await until(lambda: ownership.waiting == 1)
    assert world.plugins.runs == []
    ownership.resume()
    await world.rest()
    assert [row["status"] for row in world.rows(RUNS)] == ["completed"]


async def test_an_action_waits_at_the_gate_and_is_refused_after_fencing() -> None:
    ownership = FakeOwnership()
    world = await World.open(ownership=ownership)
    await world.say("hi")
    run = await world.plugins.next_run()
    ownership.pause()
    call = asyncio.create_task(world.call(run, "state_set", scope="actor", key="k", value=1))
    await until(lambda: ownership.waiting == 1)
    assert not call.done()
    ownership.fence()
    with pytest.raises(CallRejected, match="another Host continues it") as refusal:
        await call
    assert refusal.value.retryable


@pytest.mark.parametrize(
    ("bot", "conversation", "part"),
    [("b", "c", "bot:b"), ("", "", "shard:00"), ("", "123456789", "shard:38"), ("", "中", "shard:11")],
)
def test_the_part_of_a_conversation_never_changes(bot: str, conversation: str, part: str) -> None:
    assert part_of(BotId(bot), ConversationId(conversation)) == part

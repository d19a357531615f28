"""The outbox of a Host that gives a part away: what it has begun is finished, the rest is left to the next owner."""

import asyncio

from parlour.core.cluster.leased_ownership import LeasedOwnership
from parlour.core.cluster.leases import HostLease
from parlour.core.cluster.parts import bot_part
from parlour.core.journal import Insert, Unit
from parlour.core.model.ids import BotId
from parlour.core.model.ports import SendRefused
from parlour.core.store.tables import OWNERS

from ..support import EPOCH, settle
from .outbox_support import Post

PART = bot_part(BotId("bot"))


async def post_of_owner(epoch: int = 1) -> tuple[Post, LeasedOwnership]:
    lease = HostLease()
    lease.extend(lease.now() + 1000)
    ownership = LeasedOwnership(lease)
    ownership.add(PART, epoch)
    post = Post(ownership=ownership)
    row: dict[str, str | int] = {"part": PART, "host_id": "me", "wanted": "", "epoch": epoch, "moved_at": 0}
    await post.journal.commit(Unit("test.own", (Insert(OWNERS, {**row}),)))
    return post, ownership


async def test_a_send_in_progress_is_acknowledged_and_the_row_after_it_stays_for_the_next_owner() -> None:
    post, ownership = await post_of_owner()
    post.surface.prepared.append(2.0)
    await post.post("a")
    await post.post("b")
    await settle()
    ownership.begin_drain(PART)
    await post.outbox.drain(PART, 5)
    assert post.state("a") == ("sent", "")
    assert post.state("b") == ("pending", "")
    assert post.surface.texts == ["a"]


async def test_a_row_that_waits_for_its_next_attempt_does_not_delay_the_move() -> None:
    post, ownership = await post_of_owner()
    post.surface.prepared.append(SendRefused("slow down", retry_after=60))
    await post.post("a")
    await settle()
    before = asyncio.get_running_loop().time()
    ownership.begin_drain(PART)
    await post.outbox.drain(PART, 5)
    assert asyncio.get_running_loop().time() - before < 1
    assert post.state("a") == ("pending", "slow down")


async def test_a_part_that_comes_back_is_sent_again_from_its_rows() -> None:
    post, ownership = await post_of_owner()
    post.surface.prepared.append(SendRefused("slow down", retry_after=60))
    await post.post("a")
    await settle()
    ownership.begin_drain(PART)
    await post.outbox.drain(PART, 5)
    post.outbox.enqueue(await post.write("left to others", created_at=EPOCH + 1))
    ownership.remove(PART)
    post.outbox.enqueue(await post.write("of another host", created_at=EPOCH + 2))
    await settle()
    assert post.surface.texts == ["a"]
    ownership.add(PART, 1)
    await post.outbox.recover(PART)
    await post.done()
    assert post.surface.texts == ["a", "a", "left to others", "of another host"]

"""Outbox rows are sent in order per target, with retries, limits and a recorded end."""

import asyncio
import logging
from itertools import pairwise

import pytest

from parlour.core.delivery.retry_policy import MAX_ATTEMPTS
from parlour.core.journal import PreparedCallback, Receipt, Unit
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import SendRefused

from ..support import EPOCH, LoopClock, settle
from .outbox_support import HOUR, Post


def elapsed() -> float:
    return asyncio.get_running_loop().time()


async def test_row_is_sending_before_the_call_and_sent_with_the_message_id_after_it() -> None:
    post = Post()
    post.surface.prepared.append(5.0)
    await post.post("a")
    await settle()
    assert post.state("a")[0] == "sending"
    await post.done()
    assert post.row("a")["platform_message_id"] == "platform-1"
    assert post.state("a") == ("sent", "")


async def test_rows_of_a_target_are_sent_in_order_also_if_the_first_is_slow() -> None:
    post = Post()
    post.surface.prepared.append(5.0)
    for name in ("a", "b", "c"):
        await post.post(name)
    await post.done()
    assert post.surface.texts == ["a", "b", "c"]


async def test_waiting_row_blocks_only_its_own_target() -> None:
    post = Post()
    post.surface.prepared.append(SendRefused("slow down", retry_after=30))
    await post.post("a", "one")
    await settle()
    await post.post("b", "one")
    await post.post("c", "two")
    await settle()
    assert post.surface.texts == ["a", "c"]
    await post.done()
    assert post.surface.texts == ["a", "c", "a", "b"]


async def test_retry_after_of_the_platform_is_honoured() -> None:
    post = Post()
    post.surface.prepared.append(SendRefused("slow down", retry_after=17))
    await post.post("a")
    await settle()
    assert post.state("a") == ("pending", "slow down")
    await asyncio.sleep(16.9)
    assert len(post.surface.tries) == 1
    await post.done()
    assert len(post.surface.tries) == 2
    assert post.state("a")[0] == "sent"


async def test_repeated_retry_after_is_followed_by_growing_delays() -> None:
    post = Post()
    post.surface.prepared.extend(SendRefused("slow down", retry_after=1) for _ in range(10_000))
    await post.post("a")
    await post.done()
    assert post.state("a")[0] == "expired"
    assert len(post.surface.tries) < 25


async def test_delays_grow_without_a_retry_after() -> None:
    post = Post()
    times: list[float] = []
    send = post.surface.send

    async def recorded_send(row: object) -> object:
        times.append(elapsed())
        return await send(row)

    post.surface.send = recorded_send
    post.surface.prepared.extend(SendRefused("busy") for _ in range(3))
    await post.post("a")
    await post.done()
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses == sorted(pauses)
    assert pauses == pytest.approx([1, 4, 16], abs=0.01)


async def test_attempts_are_limited_and_the_last_reason_is_kept() -> None:
    post = Post()
    post.surface.prepared.extend(SendRefused("busy") for _ in range(MAX_ATTEMPTS + 3))
    await post.post("a")
    await post.post("b")
    await post.done()
    assert post.state("a") == ("failed", "busy")
    assert post.row("a")["attempts"] == MAX_ATTEMPTS
    assert post.surface.texts[:MAX_ATTEMPTS] == ["a"] * MAX_ATTEMPTS


async def test_permanent_refusal_fails_at_once_and_the_next_row_is_sent() -> None:
    post = Post()
    post.surface.prepared.append(SendRefused("the chat is gone", permanent=True))
    await post.post("a")
    await post.post("b")
    await post.done()
    assert post.state("a") == ("failed", "the chat is gone")
    assert post.state("b")[0] == "sent"
    assert post.surface.texts == ["a", "b"]


async def test_expired_row_is_not_sent() -> None:
    post = Post()
    await post.post("a", expires_at=EPOCH)
    await post.done()
    assert post.state("a")[0] == "expired"
    assert post.surface.tries == []


async def test_retry_after_the_expiry_ends_the_row_as_expired() -> None:
    post = Post()
    post.surface.prepared.append(SendRefused("come back tomorrow", retry_after=24 * 3600))
    await post.post("a")
    await post.post("b")
    await post.done()
    assert post.state("a")[0] == "expired"
    assert post.surface.texts == ["a"]
    assert post.row("a")["updated_at"] == EPOCH + HOUR


async def test_unacknowledged_row_is_not_sent_again_after_its_expiry() -> None:
    post = Post()
    post.surface.prepared.append(1000.0)
    await post.post("a", expires_at=EPOCH + 30_000)
    await post.done()
    assert post.state("a")[0] == "expired"
    assert post.surface.texts == ["a"]


async def test_sent_state_is_batched_only_if_no_one_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    post = Post()
    may_wait: list[bool] = []
    commit = post.journal.commit

    async def committing(unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        may_wait.extend([unit.can_batch] if unit.name == "outbox.sent" else [])
        return await commit(unit, on_prepared)

    monkeypatch.setattr(post.journal, "commit", committing)
    for row in [await post.write("a"), await post.write("b")]:
        post.outbox.enqueue(row)
    await post.done()
    assert may_wait == [False, True]  # after "a" comes "b"

    watched = post.outbox.watch("c")
    await post.post("c")
    await watched
    assert may_wait == [False, True, False]


async def test_idle_target_uses_no_memory() -> None:
    post = Post()
    await post.post("a")
    await post.done()
    assert post.outbox._queues == {}


async def test_released_reservation_lets_the_next_row_start() -> None:
    post = Post()
    assert post.outbox.try_reserve("chat") == "sending"
    assert post.outbox.try_reserve("chat") == "pending"
    post.outbox.release("chat")
    assert post.outbox.try_reserve("chat") == "sending"


async def test_web_chat_rows_are_not_sent() -> None:
    assert not Post().outbox.handles("webui")
    assert Post().outbox.handles("platform")


async def test_closing_leaves_waiting_rows_pending() -> None:
    post = Post()
    post.surface.prepared.append(SendRefused("slow down", retry_after=30))
    await post.post("a")
    await settle()
    await post.outbox.close()
    assert post.state("a") == ("pending", "slow down")
    await asyncio.sleep(100)
    assert len(post.surface.tries) == 1


async def test_closing_waits_for_started_sends_and_starts_no_others() -> None:
    post = Post()
    post.surface.prepared.extend([0.5, 10.0])
    await post.post("a", target="first")
    await post.write("b", target="second", not_before=LoopClock().now() + 200)
    await post.outbox.recover()
    await settle()
    await post.outbox.close()
    assert [each.outbox_id for each in post.surface.tries] == ["a"]
    assert [post.state(each)[0] for each in ("a", "b")] == ["sent", "pending"]


async def test_offline_bot_uses_up_no_attempts() -> None:
    post = Post()
    post.surface.prepared.extend(SendRefused("not connected", attempted=False) for _ in range(100))
    await post.post("a")
    await asyncio.sleep(600)
    assert 10 < len(post.surface.tries) < 40
    await post.done()
    assert post.state("a") == ("sent", "")
    assert post.row("a")["attempts"] == 0


async def test_row_that_raises_is_failed_and_the_next_is_sent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    post = Post()

    async def ready(row: OutboxRow) -> None:
        if row.outbox_id == "a":
            raise RuntimeError("a bug")

    monkeypatch.setattr(post.surface, "wait_until_sendable", ready)
    post.journal.broken["outbox.failed"] = 1
    with caplog.at_level(logging.CRITICAL):
        for name in ("a", "b"):
            post.outbox.enqueue(await post.write(name))
        await post.done()
    assert post.state("a") == ("failed", "the Host failed at it; the log says where")
    assert (post.state("b")[0], post.surface.texts) == ("sent", ["b"])

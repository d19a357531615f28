"""The event queue handles events in order within a chat, in parallel across chats, and a bounded number at once."""

import asyncio

import pytest

from parlour.core.journal import StorageFailed, retry
from parlour.platforms._kit.intake import EventQueue


async def test_a_slow_chat_delays_only_itself() -> None:
    handled: list[str] = []
    gate, half, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handle(item: str) -> None:
        if item == "a1":
            await gate.wait()
        handled.append(item)
        if len(handled) == 2:
            half.set()
        if len(handled) == 4:
            done.set()

    queue: EventQueue[str] = EventQueue(handle)
    for item in ("a1", "a2", "b1", "b2"):
        await queue.submit(item[0], item)
    await asyncio.wait_for(half.wait(), 30)
    gate.set()
    await asyncio.wait_for(done.wait(), 30)
    assert handled == ["b1", "b2", "a1", "a2"]


async def test_a_failing_event_does_not_block_later_events() -> None:
    handled: list[int] = []
    done = asyncio.Event()

    async def handle(item: int) -> None:
        if item == 1:
            raise RuntimeError("broken")
        handled.append(item)
        if item == 3:
            done.set()

    queue: EventQueue[int] = EventQueue(handle)
    for item in (0, 1, 2, 3):
        await queue.submit("chat", item)
    await asyncio.wait_for(done.wait(), 30)
    assert handled == [0, 2, 3]


async def test_an_event_is_retried_while_the_database_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "STORAGE_RETRY_SECONDS", 0.0)
    tries: list[int] = []
    done = asyncio.Event()

    async def handle(item: int) -> None:
        tries.append(item)
        if len(tries) < 3:
            raise StorageFailed("disk_full", "the disk is full")
        done.set()

    await EventQueue(handle).submit("chat", 1)
    await asyncio.wait_for(done.wait(), 30)
    assert tries == [1, 1, 1]


async def test_a_submit_beyond_the_maximum_number_waits() -> None:
    gate = asyncio.Event()

    async def handle(item: int) -> None:
        await gate.wait()

    queue: EventQueue[int] = EventQueue(handle, max_events=2)
    await queue.submit("a", 1)
    await queue.submit("b", 2)
    third = asyncio.create_task(queue.submit("c", 3))
    await asyncio.sleep(0)
    assert not third.done()
    gate.set()
    await asyncio.wait_for(third, 30)
    await queue.close()


async def test_submits_beyond_the_concurrency_limit_do_not_wait() -> None:
    """The first event waits for an answer that the same connection delivers after the other events."""
    answer, handled, done = asyncio.Event(), list[int](), asyncio.Event()

    async def handle(item: int) -> None:
        await answer.wait()
        handled.append(item)
        if len(handled) == 50:
            done.set()

    queue: EventQueue[int] = EventQueue(handle, at_once=2)
    async with asyncio.timeout(30):
        for item in range(50):
            await queue.submit(item, item)
        assert handled == []
        answer.set()
        await done.wait()
    assert handled == list(range(50))


async def test_the_number_of_events_handled_at_once_is_limited() -> None:
    now, most, left = 0, 0, asyncio.Event()

    async def handle(item: int) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        if item == 20:
            left.set()

    queue: EventQueue[int] = EventQueue(handle, at_once=3)
    for item in range(21):
        await queue.submit(item, item)
    await asyncio.wait_for(left.wait(), 30)
    assert most == 3


async def test_a_submit_beyond_the_maximum_size_waits() -> None:
    gate = asyncio.Event()

    async def handle(item: int) -> None:
        await gate.wait()

    queue: EventQueue[int] = EventQueue(handle, most_bytes=100)
    await queue.submit("a", 1, size=1000)
    second = asyncio.create_task(queue.submit("b", 2, size=1))
    await asyncio.sleep(0)
    assert not second.done()
    gate.set()
    await asyncio.wait_for(second, 30)
    await queue.close()

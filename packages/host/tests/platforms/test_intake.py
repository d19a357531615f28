"""Events are taken in order within a chat, side by side across chats, and not too many at once."""

import asyncio

import pytest

from parlour.core.journal import StorageFailed, retry
from parlour.platforms._kit.event_queue import EventQueue


async def test_a_slow_chat_holds_up_only_itself() -> None:
    taken: list[str] = []
    gate, half, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def take(item: str) -> None:
        if item == "a1":
            await gate.wait()
        taken.append(item)
        if len(taken) == 2:
            half.set()
        if len(taken) == 4:
            done.set()

    intake: EventQueue[str] = EventQueue(take)
    for item in ("a1", "a2", "b1", "b2"):
        await intake.submit(item[0], item)
    await asyncio.wait_for(half.wait(), 30)
    gate.set()
    await asyncio.wait_for(done.wait(), 30)
    assert taken == ["b1", "b2", "a1", "a2"]


async def test_one_event_that_fails_harms_no_other() -> None:
    taken: list[int] = []
    done = asyncio.Event()

    async def take(item: int) -> None:
        if item == 1:
            raise RuntimeError("broken")
        taken.append(item)
        if item == 3:
            done.set()

    intake: EventQueue[int] = EventQueue(take)
    for item in (0, 1, 2, 3):
        await intake.submit("chat", item)
    await asyncio.wait_for(done.wait(), 30)
    assert taken == [0, 2, 3]


async def test_an_event_waits_for_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "STORAGE_RETRY_SECONDS", 0.0)
    tries: list[int] = []
    done = asyncio.Event()

    async def take(item: int) -> None:
        tries.append(item)
        if len(tries) < 3:
            raise StorageFailed("disk_full", "the disk is full")
        done.set()

    await EventQueue(take).submit("chat", 1)
    await asyncio.wait_for(done.wait(), 30)
    assert tries == [1, 1, 1]


async def test_who_brings_too_many_waits() -> None:
    gate = asyncio.Event()

    async def take(item: int) -> None:
        await gate.wait()

    intake: EventQueue[int] = EventQueue(take, most=2)
    await intake.submit("a", 1)
    await intake.submit("b", 2)
    third = asyncio.create_task(intake.submit("c", 3))
    await asyncio.sleep(0)
    assert not third.done()
    gate.set()
    await asyncio.wait_for(third, 30)
    await intake.close()


async def test_who_brings_more_than_is_taken_at_once_goes_on_bringing() -> None:
    """What the first waits for is brought by the same connection, behind the others."""
    answer, taken, done = asyncio.Event(), list[int](), asyncio.Event()

    async def take(item: int) -> None:
        await answer.wait()
        taken.append(item)
        if len(taken) == 50:
            done.set()

    intake: EventQueue[int] = EventQueue(take, at_once=2)
    async with asyncio.timeout(30):
        for item in range(50):
            await intake.submit(item, item)
        assert taken == []
        answer.set()
        await done.wait()
    assert taken == list(range(50))


async def test_no_more_are_taken_at_once_than_may_be() -> None:
    now, most, left = 0, 0, asyncio.Event()

    async def take(item: int) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        if item == 20:
            left.set()

    intake: EventQueue[int] = EventQueue(take, at_once=3)
    for item in range(21):
        await intake.submit(item, item)
    await asyncio.wait_for(left.wait(), 30)
    assert most == 3


async def test_who_brings_too_much_waits() -> None:
    gate = asyncio.Event()

    async def take(item: int) -> None:
        await gate.wait()

    intake: EventQueue[int] = EventQueue(take, most_bytes=100)
    await intake.submit("a", 1, size=1000)
    second = asyncio.create_task(intake.submit("b", 2, size=1))
    await asyncio.sleep(0)
    assert not second.done()
    gate.set()
    await asyncio.wait_for(second, 30)
    await intake.close()

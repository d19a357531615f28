"""Slots: first come, first served, and nobody waits for somebody else's limit."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from parlour.core.runs.slots import RunSlotPool

from ..support import settle


class Queue:
    """People who want a slot, and who got one when."""

    def __init__(self, total: int, per_person: int) -> None:
        self.slots = RunSlotPool(total, per_person)
        self.served: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def want(self, person: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self._acquire(person))
        self.tasks.append(task)
        return task

    async def _acquire(self, person: str) -> None:
        await self.slots.acquire(person)
        self.served.append(person)


async def test_slots_are_given_in_the_order_they_were_asked_for() -> None:
    queue = Queue(1, 8)
    for person in ("ann", "bob", "cid"):
        queue.want(person)
    await settle()
    assert queue.served == ["ann"]
    queue.slots.release("ann")
    await settle()
    queue.slots.release("bob")
    await settle()
    assert queue.served == ["ann", "bob", "cid"]


async def test_a_person_at_their_limit_holds_up_nobody_behind_them() -> None:
    queue = Queue(10, 2)
    for person in ("ann", "ann", "ann", "bob"):
        queue.want(person)
    await settle()
    assert queue.served == ["ann", "ann", "bob"]
    queue.slots.release("ann")
    await settle()
    assert queue.served == ["ann", "ann", "bob", "ann"]


async def test_an_api_key_has_no_limit_of_its_own() -> None:
    queue = Queue(10, 1)
    for _ in range(5):
        queue.want("")
    await settle()
    assert len(queue.served) == 5


async def test_who_gives_up_waiting_takes_no_slot() -> None:
    queue = Queue(1, 8)
    queue.want("ann")
    await settle()
    waiting = queue.want("bob")
    queue.want("cid")
    await settle()
    waiting.cancel()
    queue.slots.release("ann")
    await settle()
    assert queue.served == ["ann", "cid"]


async def test_a_slot_given_to_somebody_who_just_gave_up_goes_to_the_next() -> None:
    queue = Queue(1, 8)
    queue.want("ann")
    await settle()
    waiting = queue.want("bob")
    queue.want("cid")
    await settle()
    queue.slots.release("ann")
    waiting.cancel()
    await settle()
    assert queue.served == ["ann", "cid"]


steps = st.lists(st.tuples(st.sampled_from(["want", "release", "cancel"]), st.sampled_from(["", "ann", "bob"])))


@given(steps, st.integers(1, 3), st.integers(1, 2))
def test_limits_hold_and_no_slot_that_somebody_may_have_stays_free(
    moves: list[tuple[str, str]], total: int, per_person: int
) -> None:
    asyncio.run(_play(moves, total, per_person))


async def _play(moves: list[tuple[str, str]], total: int, per_person: int) -> None:
    slots = RunSlotPool(total, per_person)
    waiting: list[tuple[str, asyncio.Task[None]]] = []
    held: list[str] = []
    for move, person in moves:
        if move == "want":
            waiting.append((person, asyncio.create_task(slots.acquire(person))))
        elif move == "release" and person in held:
            held.remove(person)
            slots.release(person)
        elif move == "cancel" and waiting:
            waiting.pop(0)[1].cancel()
        await settle(3)
        held += [who for who, task in waiting if task.done()]
        waiting = [(who, task) for who, task in waiting if not task.done()]
        assert len(held) <= total
        assert all(held.count(who) <= per_person for who in ("ann", "bob"))
        admissible = [who for who, _ in waiting if not who or held.count(who) < per_person]
        assert not (admissible and len(held) < total)
    for _, task in waiting:
        task.cancel()

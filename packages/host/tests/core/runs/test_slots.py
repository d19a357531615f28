"""Run slots are assigned in order, and a user at their limit blocks no other."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from parlour.core.runs.slots import RunSlotPool

from ..support import settle


class Queue:
    """Requests for slots, and the users that got one in order."""

    def __init__(self, total: int, per_person: int) -> None:
        self.slots = RunSlotPool(total, per_person)
        self.served: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def request(self, person: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self._acquire(person))
        self.tasks.append(task)
        return task

    async def _acquire(self, person: str) -> None:
        await self.slots.acquire(person)
        self.served.append(person)


async def test_slots_are_assigned_in_order_of_requests() -> None:
    queue = Queue(1, 8)
    for person in ("ann", "bob", "cid"):
        queue.request(person)
    await settle()
    assert queue.served == ["ann"]
    queue.slots.release("ann")
    await settle()
    queue.slots.release("bob")
    await settle()
    assert queue.served == ["ann", "bob", "cid"]


async def test_user_at_their_limit_blocks_no_other() -> None:
    queue = Queue(10, 2)
    for person in ("ann", "ann", "ann", "bob"):
        queue.request(person)
    await settle()
    assert queue.served == ["ann", "ann", "bob"]
    queue.slots.release("ann")
    await settle()
    assert queue.served == ["ann", "ann", "bob", "ann"]


async def test_api_key_has_no_limit_of_its_own() -> None:
    queue = Queue(10, 1)
    for _ in range(5):
        queue.request("")
    await settle()
    assert len(queue.served) == 5


async def test_cancelled_waiter_takes_no_slot() -> None:
    queue = Queue(1, 8)
    queue.request("ann")
    await settle()
    waiting = queue.request("bob")
    queue.request("cid")
    await settle()
    waiting.cancel()
    queue.slots.release("ann")
    await settle()
    assert queue.served == ["ann", "cid"]


async def test_slot_of_a_just_cancelled_waiter_goes_to_the_next() -> None:
    queue = Queue(1, 8)
    queue.request("ann")
    await settle()
    waiting = queue.request("bob")
    queue.request("cid")
    await settle()
    queue.slots.release("ann")
    waiting.cancel()
    await settle()
    assert queue.served == ["ann", "cid"]


steps = st.lists(st.tuples(st.sampled_from(["request", "release", "cancel"]), st.sampled_from(["", "ann", "bob"])))


@given(steps, st.integers(1, 3), st.integers(1, 2))
def test_limits_hold_and_no_usable_slot_stays_free(
    steps_taken: list[tuple[str, str]], total: int, per_person: int
) -> None:
    asyncio.run(_run_steps(steps_taken, total, per_person))


async def _run_steps(steps_taken: list[tuple[str, str]], total: int, per_person: int) -> None:
    slots = RunSlotPool(total, per_person)
    waiting: list[tuple[str, asyncio.Task[None]]] = []
    held: list[str] = []
    for move, person in steps_taken:
        if move == "request":
            waiting.append((person, asyncio.create_task(slots.acquire(person))))
        elif move == "release" and person in held:
            held.remove(person)
            slots.release(person)
        elif move == "cancel" and waiting:
            waiting.pop(0)[1].cancel()
        await settle(3)
        held += [user for user, task in waiting if task.done()]
        waiting = [(user, task) for user, task in waiting if not task.done()]
        assert len(held) <= total
        assert all(held.count(user) <= per_person for user in ("ann", "bob"))
        admissible = [user for user, _ in waiting if not user or held.count(user) < per_person]
        assert not (admissible and len(held) < total)
    for _, task in waiting:
        task.cancel()

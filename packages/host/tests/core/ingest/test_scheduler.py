"""Each due time creates exactly one event despite failures; missed times are skipped or handled once."""

import asyncio
from dataclasses import replace

import pytest

from parlour.core.ingest.acceptance import IngestResult
from parlour.core.journal import Select, where
from parlour.core.model.event import EventEnvelope
from parlour.core.model.schedule import EVENT_TYPE, Schedule
from parlour.core.store.tables import EVENTS

from ..support import EPOCH, World, make_agent, until

HOUR = 3600


async def open_world(schedule: Schedule) -> World:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.core.schedules.add(schedule)
    return world


async def times(world: World) -> list[int]:
    """Returns the times of the events in seconds since the start."""
    rows = await world.journal.read(Select(EVENTS, where(event_type=EVENT_TYPE), order=("seq",)))
    return [(row["event_time"] - EPOCH) // 1000 for row in rows]


def hourly(**fields: object) -> Schedule:
    return Schedule("s", "hourly", interval_seconds=HOUR, agent_id="agent", text="go", **fields)  # type: ignore[arg-type]


async def serve(world: World, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await world.core.scheduler.serve()
    except TimeoutError:
        pass


async def test_schedule_creates_an_event_for_each_due_time() -> None:
    world = await open_world(hourly())

    await serve(world, 3 * HOUR + 10)

    assert await times(world) == [HOUR, 2 * HOUR, 3 * HOUR]
    assert [run.context["input"]["text"] for run in world.plugins.runs] == ["go"] * 3
    assert world.plugins.runs[0].context["actor"]["actor_type"] == "system"


@pytest.mark.parametrize("unit", ["event.accept", "schedule.advance"])
async def test_failed_commits_neither_lose_nor_repeat_a_due_time(unit: str) -> None:
    world = await open_world(hourly())
    world.journal.broken[unit] = 3

    await serve(world, HOUR + 60)

    assert await times(world) == [HOUR]


async def test_crash_between_event_and_schedule_update_creates_one_event() -> None:
    world = await open_world(hourly())
    world.journal.broken["schedule.advance"] = 1
    serving = asyncio.create_task(world.core.scheduler.serve())
    await until(lambda: not world.journal.broken["schedule.advance"])
    world.die()
    await asyncio.wait([serving])

    again = await world.restart()
    await serve(again, HOUR / 2)

    assert await times(again) == [HOUR]


@pytest.mark.parametrize(("missed", "expected_hours"), [("skip", [4]), ("once", [1, 4])])
async def test_missed_times_are_skipped_or_handled_once(missed: str, expected_hours: list[int]) -> None:
    world = await open_world(hourly(missed=missed))
    world.die()
    await asyncio.sleep(3.5 * HOUR)

    again = await world.restart()
    await serve(again, HOUR)

    assert await times(again) == [hours * HOUR for hours in expected_hours]


def set_clock(world: World, hours: float) -> None:
    """Moves the clock by some hours."""
    original = world.clock.now
    world.clock.now = lambda: original() + round(hours * HOUR * 1000)  # type: ignore[method-assign]


@pytest.mark.parametrize(("missed", "expected_hours"), [("skip", [4]), ("once", [1, 4])])
async def test_clock_jump_forward_skips_times_or_handles_them_once(missed: str, expected_hours: list[int]) -> None:
    world = await open_world(hourly(missed=missed))
    await serve(world, HOUR / 2)

    set_clock(world, 3)
    await serve(world, HOUR)

    assert await times(world) == [hours * HOUR for hours in expected_hours]


async def test_clock_set_back_repeats_no_due_time() -> None:
    world = await open_world(hourly(missed="once"))
    await serve(world, 2 * HOUR + 10)

    set_clock(world, -1.5)
    await serve(world, HOUR)
    again = await world.restart()
    set_clock(again, -1.5)
    await serve(again, 2 * HOUR)

    assert await times(again) == [HOUR, 2 * HOUR, 3 * HOUR]


async def test_change_during_a_due_time_is_kept() -> None:
    world = await open_world(hourly())
    ingest = world.core.gateway.ingest

    class Gateway:
        async def ingest(self, event: EventEnvelope) -> IngestResult:
            accepted = await ingest(event)
            await world.core.schedules.replace(replace(hourly(), text="changed"))
            return accepted

    world.core.scheduler._gateway = Gateway()  # type: ignore[assignment]
    await serve(world, 2 * HOUR + 10)

    assert await times(world) == [HOUR, 2 * HOUR]
    assert [run.context["input"]["text"] for run in world.plugins.runs] == ["go", "changed"]
    again = await world.restart()
    assert [stored.schedule.text for stored in again.core.schedules.all()] == ["changed"]


async def test_disabled_schedule_creates_no_events_and_resumes_when_enabled() -> None:
    world = await open_world(hourly(enabled=False))
    await serve(world, 1.5 * HOUR)
    await world.core.schedules.replace(hourly(missed="once"))

    await serve(world, HOUR)

    assert await times(world) == [2 * HOUR]


async def test_new_schedule_is_used_at_once() -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    serving = asyncio.create_task(world.core.scheduler.serve())
    await asyncio.sleep(5)
    await world.core.schedules.add(Schedule("s", "soon", interval_seconds=10, agent_id="agent", text="go"))
    world.core.scheduler.on_schedules_changed()

    await until(lambda: bool(world.plugins.runs))
    serving.cancel()

    assert (await times(world))[0] == 10

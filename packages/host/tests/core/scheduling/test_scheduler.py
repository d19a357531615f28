"""Each time is brought exactly once, whatever breaks in between; what was missed is skipped or brought once."""

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


async def opened(schedule: Schedule) -> World:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.core.schedules.add(schedule)
    return world


async def times(world: World) -> list[int]:
    """At which events came, in seconds from the beginning."""
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


async def test_a_schedule_brings_an_event_each_time_and_its_agent_answers() -> None:
    world = await opened(hourly())

    await serve(world, 3 * HOUR + 10)

    assert await times(world) == [HOUR, 2 * HOUR, 3 * HOUR]
    assert [run.context["input"]["text"] for run in world.plugins.runs] == ["go"] * 3
    assert world.plugins.runs[0].context["actor"]["actor_type"] == "system"


@pytest.mark.parametrize("unit", ["event.accept", "schedule.advance"])
async def test_a_database_that_fails_for_a_moment_neither_loses_nor_doubles_a_time(unit: str) -> None:
    world = await opened(hourly())
    world.journal.broken[unit] = 3

    await serve(world, HOUR + 60)

    assert await times(world) == [HOUR]


async def test_a_host_that_dies_between_the_event_and_its_note_brings_it_once() -> None:
    world = await opened(hourly())
    world.journal.broken["schedule.advance"] = 1
    serving = asyncio.create_task(world.core.scheduler.serve())
    await until(lambda: not world.journal.broken["schedule.advance"])
    world.die()
    await asyncio.wait([serving])

    again = await world.restart()
    await serve(again, HOUR / 2)

    assert await times(again) == [HOUR]


@pytest.mark.parametrize(("missed", "brought"), [("skip", [4]), ("once", [1, 4])])
async def test_what_was_missed_is_skipped_or_brought_once(missed: str, brought: list[int]) -> None:
    world = await opened(hourly(missed=missed))
    world.die()
    await asyncio.sleep(3.5 * HOUR)

    again = await world.restart()
    await serve(again, HOUR)

    assert await times(again) == [hours * HOUR for hours in brought]


def set_clock(world: World, hours: float) -> None:
    """Ahead or back, from now on."""
    honest = world.clock.now
    world.clock.now = lambda: honest() + round(hours * HOUR * 1000)  # type: ignore[method-assign]


@pytest.mark.parametrize(("missed", "brought"), [("skip", [4]), ("once", [1, 4])])
async def test_what_a_clock_jumps_over_is_skipped_or_brought_once(missed: str, brought: list[int]) -> None:
    world = await opened(hourly(missed=missed))
    await serve(world, HOUR / 2)

    set_clock(world, 3)
    await serve(world, HOUR)

    assert await times(world) == [hours * HOUR for hours in brought]


async def test_a_clock_that_is_set_back_brings_no_time_twice_also_after_a_restart() -> None:
    world = await opened(hourly(missed="once"))
    await serve(world, 2 * HOUR + 10)

    set_clock(world, -1.5)
    await serve(world, HOUR)
    again = await world.restart()
    set_clock(again, -1.5)
    await serve(again, 2 * HOUR)

    assert await times(again) == [HOUR, 2 * HOUR, 3 * HOUR]


async def test_a_change_that_comes_while_a_time_is_brought_is_not_lost() -> None:
    world = await opened(hourly())
    bring = world.core.gateway.ingest

    class Gateway:
        async def ingest(self, event: EventEnvelope) -> IngestResult:
            accepted = await bring(event)
            await world.core.schedules.replace(replace(hourly(), text="changed"))
            return accepted

    world.core.scheduler._gateway = Gateway()  # type: ignore[assignment]
    await serve(world, 2 * HOUR + 10)

    assert await times(world) == [HOUR, 2 * HOUR]
    assert [run.context["input"]["text"] for run in world.plugins.runs] == ["go", "changed"]
    again = await world.restart()
    assert [kept.schedule.text for kept in again.core.schedules.all()] == ["changed"]


async def test_a_schedule_that_is_disabled_brings_nothing_and_goes_on_from_when_it_is_enabled() -> None:
    world = await opened(hourly(enabled=False))
    await serve(world, 1.5 * HOUR)
    await world.core.schedules.replace(hourly(missed="once"))

    await serve(world, HOUR)

    assert await times(world) == [2 * HOUR]


async def test_a_new_schedule_is_taken_up_at_once() -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    serving = asyncio.create_task(world.core.scheduler.serve())
    await asyncio.sleep(5)
    await world.core.schedules.add(Schedule("s", "soon", interval_seconds=10, agent_id="agent", text="go"))
    world.core.scheduler.on_schedules_changed()

    await until(lambda: bool(world.plugins.runs))
    serving.cancel()

    assert (await times(world))[0] == 10

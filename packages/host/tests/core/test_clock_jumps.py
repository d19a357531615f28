"""A jump of the clock deletes nothing, stops nothing permanently and extends nothing."""

import asyncio
import logging

import pytest

from parlour.core.access.browser_sessions import SESSION_LIFETIME_MILLISECONDS, BrowserSessions
from parlour.core.access.users import UserAccount
from parlour.core.journal import Insert, Select, Unit, where
from parlour.core.model.budget import Budget
from parlour.core.model.providers import Providers
from parlour.core.model.schedule import EVENT_TYPE, Schedule
from parlour.core.store import retention
from parlour.core.store.clock_check import read_note
from parlour.core.store.retention import Retention, RetentionPeriods
from parlour.core.store.tables import AUDIT, BUDGET_USES, EVENTS, LOGINS, TRANSCRIPT, USERS
from parlour.testing.scripted import Reply, ScriptedModels
from parlour_sdk.protocol.usage import Usage

from .approvals.approval_support import ASK, BOSS, Group
from .models.model_support import ASK as ASK_MODEL
from .models.model_support import start_run
from .models.model_support import world as model_world
from .support import EPOCH, World, jump, make_agent

HOUR = 3600.0
DAY = 24 * HOUR
FOUR_HUNDRED_DAYS = 400 * DAY
BOTH_DIRECTIONS = pytest.mark.parametrize("distance", [FOUR_HUNDRED_DAYS, -FOUR_HUNDRED_DAYS], ids=["ahead", "back"])


def row_counts(world: World) -> list[int]:
    return [len(world.rows(table)) for table in (EVENTS, TRANSCRIPT)]


async def clean(world: World, seconds: float, **days: float) -> None:
    """Runs retention for this time."""
    cleaner = Retention(world.journal, world.core.artifacts, world.clock, RetentionPeriods(**days))
    try:
        async with asyncio.timeout(seconds):
            await cleaner.serve(60, DAY)
    except TimeoutError:
        pass


async def with_a_message() -> World:
    world = await World.open(echo=True)
    await world.say("hello")
    await world.rest()
    return world


@BOTH_DIRECTIONS
@pytest.mark.parametrize("with_note", [True, False], ids=["this release", "a database of an earlier release"])
async def test_start_with_another_date_deletes_nothing_and_warns(
    distance: float, with_note: bool, caplog: pytest.LogCaptureFixture
) -> None:
    world = await with_a_message()
    if with_note:
        await clean(world, HOUR)
    jump(distance)
    world = await world.restart()

    with caplog.at_level(logging.WARNING):
        await clean(world, 23 * HOUR)

    assert row_counts(world) == [1, 2]
    direction = "ahead of" if distance > 0 else "behind"
    assert f"the clock is 400.0 days {direction} the time this Host last knew" in caplog.text


@BOTH_DIRECTIONS
async def test_clock_jump_at_run_time_deletes_nothing(distance: float) -> None:
    world = await with_a_message()
    serving = asyncio.create_task(clean(world, 40 * HOUR))
    await asyncio.sleep(2 * HOUR)
    jump(distance)
    await asyncio.sleep(23 * HOUR)
    assert row_counts(world) == [1, 2]
    note = await read_note(world.journal)
    assert note is not None
    assert note.is_held(world.clock.now())
    await serving


async def test_restart_does_not_end_the_hold() -> None:
    world = await with_a_message()
    await clean(world, HOUR)
    jump(FOUR_HUNDRED_DAYS)
    for _ in range(5):
        world = await world.restart()
        await clean(world, 4 * HOUR)
    assert row_counts(world) == [1, 2]


async def test_corrected_clock_has_deleted_nothing() -> None:
    world = await with_a_message()
    await clean(world, HOUR)
    jump(FOUR_HUNDRED_DAYS)
    world = await world.restart()
    await clean(world, 20 * HOUR)
    jump(-FOUR_HUNDRED_DAYS)
    world = await world.restart()
    await clean(world, 3 * DAY)
    assert row_counts(world) == [1, 2]


async def test_retention_resumes_a_day_after_a_long_stop() -> None:
    world = await with_a_message()
    await clean(world, HOUR)
    world.die()
    await asyncio.sleep(FOUR_HUNDRED_DAYS)
    world = await world.restart()
    await clean(world, 25 * HOUR)
    assert row_counts(world) == [0, 0]


async def test_small_clock_correction_holds_nothing() -> None:
    world = await with_a_message()
    await clean(world, HOUR)
    jump(-HOUR)
    world = await world.restart()
    await clean(world, 26 * HOUR, events=0.01)
    assert row_counts(world) == [0, 0]


async def test_one_job_deletes_a_limited_share_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "MIN_PAUSE_SECONDS", 0)
    world = await World.open()
    before = len(world.rows(AUDIT))
    entry = dict.fromkeys(AUDIT.column_names, "") | {"created_at": world.clock.now()}
    del entry["seq"]
    for _ in range(10):
        await world.journal.commit(Unit("test.audit", tuple(Insert(AUDIT, {**entry}) for _ in range(500))))
    await asyncio.sleep(366 * DAY)
    cleaner = Retention(world.journal, world.core.artifacts, world.clock, RetentionPeriods())

    left = [len(world.rows(AUDIT)) - before]
    for _ in range(2):
        await cleaner.run_once()
        left.append(len(world.rows(AUDIT)))

    first, second = left[0] - left[1], left[1] - left[2]
    assert 500 <= first < 500 + retention.BATCH_ROWS
    assert 400 <= second <= first


def hourly(missed: str = "skip") -> Schedule:
    return Schedule("s", "hourly", interval_seconds=3600, agent_id="agent", text="go", missed=missed)  # type: ignore[arg-type]


async def fired_hours(world: World) -> list[float]:
    """Returns the hours since the start at which the schedule fired."""
    rows = await world.journal.read(Select(EVENTS, where(event_type=EVENT_TYPE), order=("seq",)))
    return [(row["event_time"] - EPOCH) / 3_600_000 for row in rows]


async def run_scheduler(world: World, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await world.core.scheduler.serve()
    except TimeoutError:
        pass


@pytest.mark.parametrize("restarts", [True, False], ids=["at a start", "while it runs"])
@pytest.mark.parametrize(("missed", "extra"), [("skip", []), ("once", [2])])
async def test_jump_ahead_fires_a_schedule_at_most_once_for_missed_times(
    restarts: bool, missed: str, extra: list[float]
) -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.core.schedules.add(hourly(missed))
    await run_scheduler(world, 1.5 * HOUR)
    jump(FOUR_HUNDRED_DAYS)
    if restarts:
        world = await world.restart()
    await run_scheduler(world, HOUR)
    assert await fired_hours(world) == [1, *extra, FOUR_HUNDRED_DAYS / HOUR + 2]


@pytest.mark.parametrize("restarts", [True, False], ids=["at a start", "while it runs"])
async def test_schedule_continues_after_the_clock_was_set_back(restarts: bool) -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.core.schedules.add(hourly())
    jump(FOUR_HUNDRED_DAYS)
    await run_scheduler(world, 1.5 * HOUR)
    jump(-FOUR_HUNDRED_DAYS)
    if restarts:
        world = await world.restart()
    await run_scheduler(world, 2 * HOUR)
    assert await fired_hours(world) == [FOUR_HUNDRED_DAYS / HOUR + 1, 2, 3]


async def test_time_that_repeats_fires_once() -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.core.schedules.add(hourly())
    await run_scheduler(world, 1.5 * HOUR)
    jump(-HOUR)
    await run_scheduler(world, 2 * HOUR)
    assert await fired_hours(world) == [1, 2]


@BOTH_DIRECTIONS
@pytest.mark.parametrize("restarts", [True, False], ids=["at a start", "while it runs"])
async def test_clock_jump_neither_extends_nor_executes_an_approval(distance: float, restarts: bool) -> None:
    group = await Group.open({"*": ASK})
    await group.ask(await group.run(), "member.kick", {"user_id": "eve"}, {"user_id": "eve"})
    assert group.approval()["status"] == "pending"
    jump(distance)
    if restarts:
        group = await group.restart()
    await asyncio.sleep(31 * 60)
    assert group.approval()["status"] == "expired"
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert group.done("kick_member") == []


async def test_approval_can_be_given_after_the_clock_was_set_back() -> None:
    group = await Group.open({"*": ASK})
    await group.ask(await group.run(), "member.kick", {"user_id": "eve"}, {"user_id": "eve"})
    jump(-FOUR_HUNDRED_DAYS)
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def log_in(world: World) -> tuple[BrowserSessions, str]:
    sessions, user = BrowserSessions(world.journal, world.clock), UserAccount("u", "ada@example.org", "Ada", "owner", 0)
    row = dict.fromkeys(USERS.column_names, 0) | user.audit_fields() | {"user_id": "u", "password": "", "enabled": 1}
    await world.journal.commit(Unit("test.user", (Insert(USERS, {**row}),)))
    cookie, _ = await sessions.open(user, "browser", "127.0.0.1")
    return sessions, cookie


async def test_session_is_valid_again_after_the_clock_is_corrected() -> None:
    world = await World.open()
    sessions, cookie = await log_in(world)
    first = await sessions.find(cookie)
    assert first is not None
    await clean(world, HOUR)
    jump(FOUR_HUNDRED_DAYS)
    assert await sessions.find(cookie) is None
    await sessions.open(first.user, "another browser", "127.0.0.1")
    world = await world.restart()
    await clean(world, 3 * HOUR)
    jump(-FOUR_HUNDRED_DAYS)
    assert await BrowserSessions(world.journal, world.clock).find(cookie) is not None


async def test_session_created_with_a_clock_ahead_has_the_normal_lifetime() -> None:
    world = await World.open()
    jump(FOUR_HUNDRED_DAYS)
    sessions, cookie = await log_in(world)
    jump(-FOUR_HUNDRED_DAYS)
    assert await sessions.find(cookie) is not None
    [row] = world.rows(LOGINS)
    assert row["expires_at"] == world.clock.now() + SESSION_LIFETIME_MILLISECONDS
    await asyncio.sleep(SESSION_LIFETIME_MILLISECONDS / 1000 + 1)
    assert await sessions.find(cookie) is None


async def test_expired_sessions_are_deleted_by_retention() -> None:
    world = await World.open()
    await log_in(world)
    await asyncio.sleep(SESSION_LIFETIME_MILLISECONDS / 1000 + 1)
    await Retention(world.journal, world.core.artifacts, world.clock, RetentionPeriods()).run_once()
    assert world.rows(LOGINS) == []


@BOTH_DIRECTIONS
async def test_usage_of_a_daily_budget_survives_a_clock_jump(distance: float) -> None:
    """The same day has the same remaining budget after a jump and back."""
    usage = Usage(prompt_tokens=20, completion_tokens=0, cost_micros=0)
    world = await model_world(Providers(models=ScriptedModels(*(Reply("hi", usage=usage) for _ in range(3)))))
    await world.core.budgets.add(Budget("b", "Small", scope="workspace", tokens=10_000))
    await world.call(await start_run(world), "invoke_llm", **ASK_MODEL)
    [today] = world.rows(BUDGET_USES)
    distance *= 2  # beyond the retention of daily uses
    jump(distance)
    world = await world.restart()
    await clean(world, 2 * HOUR)
    assert today in world.rows(BUDGET_USES)
    jump(-distance)
    world = await world.restart()
    await clean(world, HOUR)
    assert today in world.rows(BUDGET_USES)

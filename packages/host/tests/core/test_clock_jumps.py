"""A clock that jumps deletes nothing, stops nothing for good and prolongs nothing."""

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

from .approvals.support import ASK, BOSS, Group
from .providers.granted import ASK as ASK_MODEL
from .providers.granted import running
from .providers.granted import world as model_world
from .support import EPOCH, World, jump, make_agent

HOUR = 3600.0
DAY = 24 * HOUR
FAR = 400 * DAY
BOTH_WAYS = pytest.mark.parametrize("distance", [FAR, -FAR], ids=["ahead", "back"])


def kept(world: World) -> list[int]:
    return [len(world.rows(table)) for table in (EVENTS, TRANSCRIPT)]


async def clean(world: World, seconds: float, **days: float) -> None:
    """Lets retention work for so long, as a Host that runs for this time."""
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


@BOTH_WAYS
@pytest.mark.parametrize("noted", [True, False], ids=["this release", "a database of an earlier release"])
async def test_a_start_with_another_date_deletes_nothing_and_warns(
    distance: float, noted: bool, caplog: pytest.LogCaptureFixture
) -> None:
    world = await with_a_message()
    if noted:
        await clean(world, HOUR)
    jump(distance)
    world = await world.restart()

    with caplog.at_level(logging.WARNING):
        await clean(world, 23 * HOUR)

    assert kept(world) == [1, 2]
    direction = "ahead of" if distance > 0 else "behind"
    assert f"the clock is 400.0 days {direction} the time this Host last knew" in caplog.text


@BOTH_WAYS
async def test_a_clock_that_jumps_while_the_host_runs_deletes_nothing(distance: float) -> None:
    world = await with_a_message()
    serving = asyncio.create_task(clean(world, 40 * HOUR))
    await asyncio.sleep(2 * HOUR)
    jump(distance)
    await asyncio.sleep(23 * HOUR)
    assert kept(world) == [1, 2]
    note = await read_note(world.journal)
    assert note is not None
    assert note.is_held(world.clock.now())
    await serving


async def test_a_restart_does_not_end_the_hold() -> None:
    world = await with_a_message()
    await clean(world, HOUR)
    jump(FAR)
    for _ in range(5):
        world = await world.restart()
        await clean(world, 4 * HOUR)
    assert kept(world) == [1, 2]


async def test_a_clock_that_is_set_right_again_has_cost_nothing() -> None:
    world = await with_a_message()
    await clean(world, HOUR)
    jump(FAR)
    world = await world.restart()
    await clean(world, 20 * HOUR)
    jump(-FAR)
    world = await world.restart()
    await clean(world, 3 * DAY)
    assert kept(world) == [1, 2]


async def test_the_clean_up_goes_on_a_day_after_a_host_that_was_off() -> None:
    world = await with_a_message()
    await clean(world, HOUR)
    world.die()
    await asyncio.sleep(FAR)
    world = await world.restart()
    await clean(world, 25 * HOUR)
    assert kept(world) == [0, 0]


async def test_a_small_correction_of_the_clock_holds_nothing() -> None:
    world = await with_a_message()
    await clean(world, HOUR)
    jump(-HOUR)
    world = await world.restart()
    await clean(world, 26 * HOUR, events=0.01)
    assert kept(world) == [0, 0]


async def test_one_job_deletes_a_share_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
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


async def fired(world: World) -> list[float]:
    """The hours since the beginning at which the schedule fired."""
    rows = await world.journal.read(Select(EVENTS, where(event_type=EVENT_TYPE), order=("seq",)))
    return [(row["event_time"] - EPOCH) / 3_600_000 for row in rows]


async def scheduling(world: World, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await world.core.scheduler.serve()
    except TimeoutError:
        pass


@pytest.mark.parametrize("restarts", [True, False], ids=["at a start", "while it runs"])
@pytest.mark.parametrize(("missed", "extra"), [("skip", []), ("once", [2])])
async def test_a_schedule_under_a_jump_ahead_fires_at_most_once_for_what_it_missed(
    restarts: bool, missed: str, extra: list[float]
) -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.core.schedules.add(hourly(missed))
    await scheduling(world, 1.5 * HOUR)
    jump(FAR)
    if restarts:
        world = await world.restart()
    await scheduling(world, HOUR)
    assert await fired(world) == [1, *extra, FAR / HOUR + 2]


@pytest.mark.parametrize("restarts", [True, False], ids=["at a start", "while it runs"])
async def test_a_schedule_goes_on_after_the_clock_was_set_back(restarts: bool) -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.core.schedules.add(hourly())
    jump(FAR)
    await scheduling(world, 1.5 * HOUR)
    jump(-FAR)
    if restarts:
        world = await world.restart()
    await scheduling(world, 2 * HOUR)
    assert await fired(world) == [FAR / HOUR + 1, 2, 3]


async def test_a_time_that_comes_twice_by_the_clock_fires_once() -> None:
    world = await World.open(make_agent(event_types=("*",)), echo=True)
    await world.core.schedules.add(hourly())
    await scheduling(world, 1.5 * HOUR)
    jump(-HOUR)
    await scheduling(world, 2 * HOUR)
    assert await fired(world) == [1, 2]


@BOTH_WAYS
@pytest.mark.parametrize("restarts", [True, False], ids=["at a start", "while it runs"])
async def test_an_approval_lasts_no_longer_and_does_nothing_by_itself(distance: float, restarts: bool) -> None:
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


async def test_an_approval_can_still_be_given_after_the_clock_was_set_back() -> None:
    group = await Group.open({"*": ASK})
    await group.ask(await group.run(), "member.kick", {"user_id": "eve"}, {"user_id": "eve"})
    jump(-FAR)
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def logged_in(world: World) -> tuple[BrowserSessions, str]:
    logins, user = BrowserSessions(world.journal, world.clock), UserAccount("u", "ada@example.org", "Ada", "owner", 0)
    row = dict.fromkeys(USERS.column_names, 0) | user.audit_fields() | {"user_id": "u", "password": "", "enabled": 1}
    await world.journal.commit(Unit("test.user", (Insert(USERS, {**row}),)))
    cookie, _ = await logins.open(user, "browser", "127.0.0.1")
    return logins, cookie


async def test_a_session_that_a_jump_ahead_ended_is_there_again_when_the_clock_is_right() -> None:
    world = await World.open()
    logins, cookie = await logged_in(world)
    first = await logins.find(cookie)
    assert first is not None
    await clean(world, HOUR)
    jump(FAR)
    assert await logins.find(cookie) is None
    await logins.open(first.user, "another browser", "127.0.0.1")
    world = await world.restart()
    await clean(world, 3 * HOUR)
    jump(-FAR)
    assert await BrowserSessions(world.journal, world.clock).find(cookie) is not None


async def test_a_session_of_a_clock_that_was_ahead_lasts_no_longer_than_others() -> None:
    world = await World.open()
    jump(FAR)
    logins, cookie = await logged_in(world)
    jump(-FAR)
    assert await logins.find(cookie) is not None
    [row] = world.rows(LOGINS)
    assert row["expires_at"] == world.clock.now() + SESSION_LIFETIME_MILLISECONDS
    await asyncio.sleep(SESSION_LIFETIME_MILLISECONDS / 1000 + 1)
    assert await logins.find(cookie) is None


async def test_sessions_that_expired_are_deleted_by_retention() -> None:
    world = await World.open()
    await logged_in(world)
    await asyncio.sleep(SESSION_LIFETIME_MILLISECONDS / 1000 + 1)
    await Retention(world.journal, world.core.artifacts, world.clock, RetentionPeriods()).run_once()
    assert world.rows(LOGINS) == []


@BOTH_WAYS
async def test_what_was_used_of_a_days_budget_is_not_forgotten(distance: float) -> None:
    """Whatever the clock said meanwhile, the same day has the same rest."""
    usage = Usage(prompt_tokens=20, completion_tokens=0, cost_micros=0)
    world = await model_world(Providers(models=ScriptedModels(*(Reply("hi", usage=usage) for _ in range(3)))))
    await world.core.budgets.add(Budget("b", "Small", scope="workspace", tokens=10_000))
    await world.call(await running(world), "invoke_llm", **ASK_MODEL)
    [today] = world.rows(BUDGET_USES)
    distance *= 2  # beyond what is kept of daily uses
    jump(distance)
    world = await world.restart()
    await clean(world, 2 * HOUR)
    assert today in world.rows(BUDGET_USES)
    jump(-distance)
    world = await world.restart()
    await clean(world, HOUR)
    assert today in world.rows(BUDGET_USES)

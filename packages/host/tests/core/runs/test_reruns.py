"""A run done again, on virtual time: what it asks for is written down, and nothing of it leaves its own rows."""

from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.journal import Row, StorageFailed
from parlour.core.reruns import reruns
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.tables import CALLS, INBOX, OUTBOX, OUTCOMES, RUNS, STATE, TRANSCRIPT
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import PLUGIN, PuppetRun, World, make_agent, until


async def answered(**agent: Any) -> tuple[World, Row]:
    """A world with one run that is over."""
    permitted = PluginPermissions(agent_runs=["read", "control"])
    world = await World.open(make_agent(**agent), plugin_grants=lambda plugin_id: permitted)
    await world.say("hello")
    (await world.plugins.next_run()).answer("hi")
    await world.rest()
    return world, world.rows(RUNS)[0]


async def begun(world: World, original: Row, wish: RerunOptions = RerunOptions()) -> PuppetRun:  # noqa: B008
    await world.core.reruns.start(original, wish)
    return await world.plugins.next_run()


def outside(world: World) -> list[Any]:
    """Everything that somebody else could see."""
    return [world.rows(table) for table in (INBOX, OUTBOX, OUTCOMES, STATE, TRANSCRIPT, CALLS)]


async def test_what_a_rerun_says_asks_and_changes_is_in_its_own_rows_only() -> None:
    world, original = await answered(journal_calls=True)
    before = outside(world)
    run = await begun(world, original)
    assert run.context["event"] == world.plugins.runs[0].context["event"]
    await world.call(run, "state_set", scope="conversation", key="k", value=1)
    run.send(
        run.delta("he"),
        run.result("action.requested", {"action": "message.delete", "target": {"id": "1"}}),
        run.result("state.updated", {"scope": "conversation", "key": "k", "value": 2}),
        run.completed("hey"),
        run.finished(),
    )
    await world.core.reruns.join()
    assert outside(world) == before
    rerun = world.rows(RUNS, rerun_of=original["run_id"])[0]
    assert (rerun["status"], rerun["shown"], rerun["feed_seq"]) == ("completed", 0, 0)
    assert [kind for kind, _ in world.facts(run.run_id)] == [
        "message.delta",
        "action.requested",
        "state.updated",
        "message.completed",
        "run.completed",
    ]


async def test_a_rerun_is_no_attempt_of_its_event_and_can_not_be_retried() -> None:
    world, original = await answered()
    run = await begun(world, original)
    run.answer("again")
    await world.core.reruns.join()
    rerun = world.rows(RUNS, rerun_of=original["run_id"])[0]
    asked = {"call_id": "c:1", "target_run_id": rerun["run_id"]}
    with pytest.raises(CallRejected, match="nothing to retry"):
        await world.core.gate.call(PLUGIN, "run_retry", asked)


async def test_a_rerun_that_the_database_can_not_keep_is_over_all_the_same() -> None:
    world, original = await answered()
    run = await begun(world, original)
    world.journal.broken = {"rerun.end": 1, "rerun.interrupt": 2}
    run.answer("again")
    await until(lambda: world.rows(RUNS, rerun_of=original["run_id"])[0]["finished_at"] > 0)
    rerun = world.rows(RUNS, rerun_of=original["run_id"])[0]
    assert (rerun["status"], rerun["status_reason"]) == ("failed", "runtime_error")
    assert world.core.sessions.all() == []


async def test_one_that_can_not_be_opened_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    world, original = await answered()
    world.journal.broken["rerun.open"] = 1
    with pytest.raises(StorageFailed):
        await world.core.reruns.start(original, RerunOptions())
    assert world.core.sessions.all() == []
    monkeypatch.setattr(reruns, "MAX_CONCURRENT_RERUNS", 1)
    run = await begun(world, original)
    with pytest.raises(CallRejected, match="wait for one to end"):
        await world.core.reruns.start(original, RerunOptions())
    run.answer("done")
    await world.core.reruns.join()


async def test_a_rerun_ends_in_time_as_any_run_does() -> None:
    world, original = await answered(timeout_seconds=5)
    await begun(world, original)
    await until(lambda: world.rows(RUNS, rerun_of=original["run_id"])[0]["status"] == "timeout")

"""Reruns on virtual time: results are recorded, and no other row changes."""

from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.journal import Row, StorageFailed
from parlour.core.reruns import reruns
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.tables import CALLS, INBOX, OUTBOX, OUTCOMES, RUNS, STATE, TRANSCRIPT
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import PLUGIN, PuppetRun, World, make_agent, until


async def open_answered(**agent: Any) -> tuple[World, Row]:
    """Opens a world with one completed run."""
    permitted = PluginPermissions(agent_runs=["read", "control"])
    world = await World.open(make_agent(**agent), plugin_grants=lambda plugin_id: permitted)
    await world.say("hello")
    (await world.plugins.next_run()).answer("hi")
    await world.rest()
    return world, world.rows(RUNS)[0]


async def start_rerun(world: World, original: Row, options: RerunOptions = RerunOptions()) -> PuppetRun:  # noqa: B008
    await world.core.reruns.start(original, options)
    return await world.plugins.next_run()


def visible_rows(world: World) -> list[Any]:
    """Returns all rows outside of the rerun."""
    return [world.rows(table) for table in (INBOX, OUTBOX, OUTCOMES, STATE, TRANSCRIPT, CALLS)]


async def test_rerun_changes_only_its_own_rows() -> None:
    world, original = await open_answered(journal_calls=True)
    before = visible_rows(world)
    run = await start_rerun(world, original)
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
    assert visible_rows(world) == before
    rerun = world.rows(RUNS, rerun_of=original["run_id"])[0]
    assert (rerun["status"], rerun["shown"], rerun["feed_seq"]) == ("completed", 0, 0)
    assert [kind for kind, _ in world.facts(run.run_id)] == [
        "message.delta",
        "action.requested",
        "state.updated",
        "message.completed",
        "run.completed",
    ]


async def test_rerun_cannot_be_retried() -> None:
    world, original = await open_answered()
    run = await start_rerun(world, original)
    run.answer("again")
    await world.core.reruns.join()
    rerun = world.rows(RUNS, rerun_of=original["run_id"])[0]
    request = {"call_id": "c:1", "target_run_id": rerun["run_id"]}
    with pytest.raises(CallRejected, match="nothing to retry"):
        await world.core.gate.call(PLUGIN, "run_retry", request)


async def test_rerun_ends_though_its_result_cannot_be_stored() -> None:
    world, original = await open_answered()
    run = await start_rerun(world, original)
    world.journal.broken = {"rerun.end": 1, "rerun.interrupt": 2}
    run.answer("again")
    await until(lambda: world.rows(RUNS, rerun_of=original["run_id"])[0]["finished_at"] > 0)
    rerun = world.rows(RUNS, rerun_of=original["run_id"])[0]
    assert (rerun["status"], rerun["status_reason"]) == ("failed", "runtime_error")
    assert world.core.sessions.all() == []


async def test_failed_start_leaves_no_session_and_reruns_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    world, original = await open_answered()
    world.journal.broken["rerun.open"] = 1
    with pytest.raises(StorageFailed):
        await world.core.reruns.start(original, RerunOptions())
    assert world.core.sessions.all() == []
    monkeypatch.setattr(reruns, "MAX_CONCURRENT_RERUNS", 1)
    run = await start_rerun(world, original)
    with pytest.raises(CallRejected, match="wait for one to end"):
        await world.core.reruns.start(original, RerunOptions())
    run.answer("done")
    await world.core.reruns.join()


async def test_rerun_times_out_like_any_run() -> None:
    world, original = await open_answered(timeout_seconds=5)
    await start_rerun(world, original)
    await until(lambda: world.rows(RUNS, rerun_of=original["run_id"])[0]["status"] == "timeout")
    [rerun] = world.rows(RUNS, rerun_of=original["run_id"])
    assert (rerun["status_reason"], rerun["finished_at"] - rerun["created_at"]) == ("runner.timeout", 5000)

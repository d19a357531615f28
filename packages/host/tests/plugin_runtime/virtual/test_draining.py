"""A new process beside an old one: for an upgrade, a restart, or runs that ignore their cancellation."""

import asyncio
from dataclasses import replace

import pytest

from parlour.core.model.ports import PluginDisconnected, PluginUnavailable, ResultStream

from .fakes import Behaviour, FakeLauncher, SupervisorHarness, answer, crash, now


class Cancelled(Exception):
    pass


async def start_run(launcher: FakeLauncher, stream: ResultStream, text: str) -> "asyncio.Task[list[str]]":
    """Returns the task of the run's answer when the plugin works on it."""
    answering = asyncio.create_task(answer(stream))
    process = launcher.latest
    while text not in process.active_runs:
        process.run_started.clear()
        await process.run_started.wait()
    return answering


async def test_an_upgrade_gets_new_runs_when_ready_and_the_old_version_finishes_its_own(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    old = await start_run(launcher, supervisor.run({"text": "wait"}), "wait")

    await supervisor.replace(harness.plugin("2"))

    assert await answer(supervisor.run({"text": "new"})) == ["new by 2"]
    assert harness.announced == [("1", ["1"]), ("2", ["2"])]
    assert supervisor.reason == "runs that go on in the process before it: 1"
    assert supervisor.folders() == {harness.folder / "1", harness.folder / "2"}
    launcher.processes[0].finish_run("wait")
    assert await old == ["wait by 1"]
    await asyncio.sleep(1)
    assert launcher.processes[0].ended
    assert (supervisor.status, supervisor.reason) == ("ready", "")
    assert supervisor.folders() == {harness.folder / "2"}


async def test_the_old_version_serves_until_the_new_one_is_ready(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(), Behaviour(greets=False)]
    supervisor = await harness.started()
    replacing = asyncio.create_task(supervisor.replace(harness.plugin("2")))
    await asyncio.sleep(29)

    assert await answer(supervisor.run({"text": "during"})) == ["during by 1"]

    with pytest.raises(PluginUnavailable, match="it did not start within 30 s"):
        await replacing


async def test_a_version_that_does_not_start_leaves_the_old_one_in_service(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(), Behaviour(ends_at_start=True, last_words="no luck today\n")]
    supervisor = await harness.started()

    with pytest.raises(PluginUnavailable, match="no luck today"):
        await supervisor.replace(harness.plugin("2"))

    assert (supervisor.status, supervisor.plugin.version) == ("ready", "1")
    assert harness.announced == [("1", ["1"])]
    assert await answer(supervisor.run({"text": "still"})) == ["still by 1"]
    await crash(launcher.processes[0])  # the old version is started again
    await answer(supervisor.run({"text": "again"}))
    assert launcher.latest.start.folder.name == "1"


async def test_a_run_that_does_not_end_is_cut_off_after_the_drain_time(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    old = await start_run(launcher, supervisor.run({"text": "wait"}), "wait")

    await supervisor.replace(harness.plugin("2"))

    with pytest.raises(PluginDisconnected):
        await old
    assert 30 <= now() <= 35


async def test_an_upgrade_brings_back_a_plugin_that_waits_for_its_next_start(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    for _ in range(3):
        await crash(launcher.latest)
        await supervisor.ready()
    await crash(launcher.latest)
    waiting = supervisor.run({"text": "patient"})
    started_at = now()

    await supervisor.replace(harness.plugin("2"))

    assert await answer(waiting) == ["patient by 5"]
    assert now() == started_at
    assert (supervisor.status, supervisor.plugin.version) == ("ready", "2")


async def test_runs_are_not_lost_if_the_old_process_dies_while_the_new_one_starts(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(), Behaviour(greets=False)]
    supervisor = await harness.started()
    replacing = asyncio.create_task(supervisor.replace(harness.plugin("2")))
    await asyncio.sleep(15)

    await crash(launcher.processes[0])
    waiting = asyncio.create_task(answer(supervisor.run({"text": "patient"})))

    with pytest.raises(PluginUnavailable):
        await replacing
    assert await waiting == ["patient by 3"]
    assert launcher.latest.start.folder.name == "1"


async def test_replacements_run_one_after_the_other_and_the_last_one_serves(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()

    await asyncio.gather(*(supervisor.replace(harness.plugin(version)) for version in "234"))

    assert supervisor.plugin.version == "4"
    await asyncio.sleep(1)
    assert [process.ended for process in launcher.processes] == [True, True, True, False]


async def test_a_cancelled_run_that_ends_in_time_replaces_no_process(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    stream = supervisor.run({"text": "wait"})
    answering = await start_run(launcher, stream, "wait")

    stream.abort(Cancelled())

    with pytest.raises(Cancelled):
        await answering
    await asyncio.sleep(300)
    assert (supervisor.reason, len(launcher.processes)) == ("", 1)


async def test_runs_that_ignore_cancellation_cause_a_new_process_and_healthy_runs_finish(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    deaf, healthy = supervisor.run({"text": "deaf"}), supervisor.run({"text": "wait"})
    answering = await start_run(launcher, deaf, "deaf")
    finishing = await start_run(launcher, healthy, "wait")
    deaf.abort(Cancelled())
    with pytest.raises(Cancelled):
        await answering
    assert now() == 0

    await asyncio.sleep(29)
    assert await answer(supervisor.run({"text": "before"})) == ["before by 1"]
    await asyncio.sleep(2)

    assert await answer(supervisor.run({"text": "after"})) == ["after by 2"]
    assert (supervisor.status, supervisor.reason) == (
        "ready",
        "runs that went on for 30 s after their cancellation: 1; a fresh process took over; "
        "runs that go on in the process before it: 1",
    )
    launcher.processes[0].finish_run("wait")
    assert await finishing == ["wait by 1"]
    await asyncio.sleep(5)
    assert launcher.processes[0].ended
    assert not launcher.processes[1].ended


async def test_a_process_with_only_uncancellable_runs_ends_when_its_successor_is_ready(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    stream = supervisor.run({"text": "deaf"})
    answering = await start_run(launcher, stream, "deaf")
    stream.abort(Cancelled())
    with pytest.raises(Cancelled):
        await answering

    await asyncio.sleep(36)

    assert [process.ended for process in launcher.processes] == [True, False]


async def test_a_plugin_whose_successor_does_not_start_continues_and_reports_it(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(), Behaviour(ends_at_start=True, last_words="no luck today\n")]
    supervisor = await harness.started()
    stream = supervisor.run({"text": "deaf"})
    answering = await start_run(launcher, stream, "deaf")
    stream.abort(Cancelled())
    with pytest.raises(Cancelled):
        await answering

    await asyncio.sleep(31)

    assert supervisor.status == "ready"
    assert "a fresh process did not start" in supervisor.reason
    assert "no luck today" in supervisor.reason
    assert await answer(supervisor.run({"text": "still"})) == ["still by 1"]


async def test_a_draining_process_is_stopped_with_its_plugin(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    old = await start_run(launcher, supervisor.run({"text": "wait"}), "wait")
    await supervisor.replace(harness.plugin("2"))

    await supervisor.stop()

    with pytest.raises(PluginDisconnected):
        await old
    assert [process.ended for process in launcher.processes] == [True, True]
    assert now() < 5


async def test_a_stop_ends_a_replacement_that_is_starting(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(), Behaviour(greets=False)]
    supervisor = await harness.started()
    replacing = asyncio.create_task(supervisor.replace(harness.plugin("2")))
    await asyncio.sleep(1)

    await supervisor.stop()

    with pytest.raises(PluginUnavailable):
        await replacing
    assert [process.ended for process in launcher.processes] == [True, True]
    assert now() < 6


async def test_a_replacement_is_finished_after_its_caller_is_cancelled(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    replacing = asyncio.create_task(supervisor.replace(harness.plugin("2")))
    await asyncio.sleep(0)

    replacing.cancel()
    await asyncio.sleep(1)

    assert supervisor.plugin.version == "2"
    assert [process.ended for process in launcher.processes] == [True, False]


async def test_a_drain_time_of_zero_cuts_runs_off_at_once(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    harness.policy = replace(harness.policy, drain_seconds=0)
    supervisor = await harness.started()
    old = await start_run(launcher, supervisor.run({"text": "wait"}), "wait")

    await supervisor.replace(harness.plugin("2"))

    with pytest.raises(PluginDisconnected):
        await old
    assert now() < 1

"""Supervision of one plugin: restarts with back-off, giving up, bringing back, and stopping in time."""

import asyncio
from dataclasses import replace

import pytest

from parlour.core.model.ports import PluginDisconnected, PluginUnavailable

from .fakes import Behaviour, FakeLauncher, SupervisorHarness, answer, crash, now


class Aborted(Exception):
    pass


async def test_a_run_is_answered_by_the_plugin(harness: SupervisorHarness) -> None:
    supervisor = await harness.started()

    assert await answer(supervisor.run({"text": "hello"})) == ["hello by 1"]
    assert harness.announced == [("1", ["1"])]


async def test_a_run_waits_until_its_plugin_is_ready(harness: SupervisorHarness) -> None:
    assert await answer(harness.supervisor().run({"text": "early"})) == ["early by 1"]


async def test_a_crashed_plugin_is_restarted_after_backoff(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = await harness.started()

    for delay in (1, 2, 4):
        crashed = now()
        await crash(launcher.latest)
        await answer(supervisor.run({"text": "again"}))
        assert launcher.latest.started_at - crashed == pytest.approx(delay)


async def test_a_plugin_may_fail_as_often_as_its_operator_allows(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    restart = replace(harness.policy.restart, first_delay_seconds=0.01, max_delay_seconds=0.01, give_up_after=2000)
    harness.policy = replace(harness.policy, restart=restart)
    launcher.script = [*[Behaviour(ends_at_start=True)] * 300, Behaviour()]

    assert await answer(harness.supervisor().run({"text": "at last"})) == ["at last by 301"]


async def test_the_reason_of_a_crash_has_exit_status_and_last_log_line(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(last_words="no luck today\n")]
    supervisor = await harness.started()

    launcher.latest.exit(7)
    await asyncio.sleep(0.5)

    assert supervisor.status == "waiting"
    assert supervisor.reason == "its process ended (exit status 7); its log ends with: no luck today"


async def test_a_restarted_plugin_shows_the_reason_of_its_restart(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(last_words="no luck today\n"), Behaviour()]
    supervisor = await harness.started()
    assert supervisor.reason == ""

    launcher.latest.exit(7)
    await asyncio.sleep(0.5)
    await answer(supervisor.run({"text": "again"}))
    first = supervisor.reason
    launcher.latest.exit(8)
    await asyncio.sleep(0.5)
    await answer(supervisor.run({"text": "and again"}))

    assert first == (
        "it was started again after this: its process ended (exit status 7); its log ends with: no luck today"
    )
    assert supervisor.reason == "it was started again after this: its process ended (exit status 8)"
    assert supervisor.status == "ready"


async def test_the_runs_of_a_crashed_plugin_fail_at_once(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = await harness.started()
    stream = supervisor.run({"text": "wait"})
    waiting = asyncio.create_task(stream.batch())
    await asyncio.sleep(1)

    launcher.latest.exit(1)

    with pytest.raises(PluginDisconnected):
        await waiting
    assert now() == 1


async def test_a_plugin_that_fails_too_often_is_given_up_and_its_runs_fail_with_the_reason(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(ends_at_start=True, last_words="no luck today\n")] * 5
    supervisor = harness.supervisor()
    waiting = supervisor.run({"text": "hello?"})

    with pytest.raises(PluginUnavailable, match=r"is failed: its process ended \(exit status 3\).*no luck today"):
        await waiting.batch()

    assert (supervisor.status, supervisor.is_ready, len(launcher.processes)) == ("failed", True, 5)
    assert "failed 5 times within 10 minutes and is tried again only in 10 minutes; restart it" in supervisor.reason
    with pytest.raises(PluginUnavailable, match="no luck today"):
        await supervisor.run({"text": "hello again?"}).batch()


async def test_old_failures_do_not_count(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = await harness.started()

    for _ in range(10):
        launcher.latest.exit(1)
        await asyncio.sleep(200)
        assert supervisor.status == "ready"


async def test_a_given_up_plugin_is_tried_again_when_its_failures_are_old(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(ends_at_start=True)] * 5
    supervisor = harness.supervisor()
    await asyncio.sleep(600)
    assert (supervisor.status, len(launcher.processes)) == ("failed", 5)

    await asyncio.sleep(100)

    assert supervisor.status == "ready"
    assert supervisor.reason == "it was started again after this: its process ended (exit status 3)"
    assert await answer(supervisor.run({"text": "hello"})) == ["hello by 6"]


async def test_a_given_up_plugin_can_be_restarted_at_once(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(ends_at_start=True)] * 5
    supervisor = harness.supervisor()
    await asyncio.sleep(100)
    assert supervisor.status == "failed"

    await supervisor.replace(supervisor.plugin)

    assert (supervisor.status, supervisor.reason, now()) == ("ready", "", 100)
    assert await answer(supervisor.run({"text": "hello"})) == ["hello by 6"]
    await crash(launcher.latest)  # it is supervised like before
    assert await answer(supervisor.run({"text": "hello"})) == ["hello by 7"]


async def test_a_given_up_plugin_that_fails_to_restart_has_a_reason(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [*[Behaviour(ends_at_start=True)] * 5, Behaviour(ends_at_start=True, last_words="another\n")]
    supervisor = harness.supervisor()
    await asyncio.sleep(100)

    with pytest.raises(PluginUnavailable, match="another"):
        await supervisor.replace(supervisor.plugin)

    assert supervisor.status == "failed"
    assert "another" in supervisor.reason


async def test_a_plugin_that_sends_no_hello_is_ended_in_time(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(greets=False)]
    supervisor = harness.supervisor()

    await supervisor.wait_until_started()

    assert (supervisor.status, now()) == ("waiting", 30)
    assert supervisor.reason == "it did not start within 30 s"
    assert launcher.processes[0].ended


async def test_a_plugin_with_more_runners_than_allowed_does_not_start_and_has_a_reason(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(runners=1001)]
    supervisor = harness.supervisor()

    await supervisor.wait_until_started()

    assert (supervisor.status, supervisor.reason) == ("waiting", "it has 1001 runners, and 1000 are allowed")
    assert harness.announced == []


async def test_an_error_at_the_start_is_shown_as_a_short_line(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(refusal="no\nERROR parlour: forged\x1b[2J" + "A" * 1_000_000)]
    supervisor = harness.supervisor()

    await supervisor.wait_until_started()

    assert supervisor.reason.startswith("no ERROR parlour: forged [2JAAA")
    assert len(supervisor.reason) == 500


async def test_a_run_waits_for_an_unavailable_plugin_for_a_bounded_time(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(greets=False)] * 2
    stream = harness.supervisor().run({"text": "hello?"})

    with pytest.raises(PluginUnavailable):
        await stream.batch()

    assert now() == 30


async def test_a_waiting_run_can_be_aborted(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(greets=False)]
    stream = harness.supervisor().run({"text": "never"})
    waiting = asyncio.create_task(stream.batch())
    await asyncio.sleep(1)

    stream.abort(Aborted())

    with pytest.raises(Aborted):
        await waiting
    assert now() == 1


async def test_an_aborted_run_never_reaches_the_plugin(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = harness.supervisor()
    supervisor.run({"text": "wait"}).abort(Aborted())

    await supervisor.ready()
    assert await answer(supervisor.run({"text": "next"})) == ["next by 1"]
    assert launcher.latest.active_runs == []


async def test_a_plugin_that_ignores_requests_to_end_is_stopped_in_time(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(ignores_requests_to_end=True)]
    supervisor = await harness.started()

    await supervisor.stop()

    assert launcher.latest.ended
    assert now() < 5
    assert supervisor.status == "stopped"


async def test_a_plugin_that_hangs_is_stopped_in_time(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(ignores_requests_to_end=True)]
    supervisor = await harness.started()
    launcher.latest.hang()

    await supervisor.stop()

    assert launcher.latest.ended
    assert now() < 5


async def test_a_plugin_that_is_starting_is_stopped_in_time(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(greets=False, ignores_requests_to_end=True)]
    supervisor = harness.supervisor()
    await asyncio.sleep(1)

    await supervisor.stop()

    assert launcher.latest.ended
    assert now() < 6


async def test_a_plugin_that_waits_for_its_next_start_is_stopped_at_once(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    launcher.latest.exit(1)
    await asyncio.sleep(0.6)
    waiting = supervisor.run({"text": "late"})

    await supervisor.stop()

    assert (now(), len(launcher.processes)) == (0.6, 1)
    with pytest.raises(PluginUnavailable, match="stopped"):
        await waiting.batch()


async def test_memory_beyond_the_limit_ends_the_plugin_with_a_reason(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    launcher.latest.memory = 256 * 1024 * 1024 + 1

    await asyncio.sleep(2.1)

    assert launcher.processes[0].ended
    assert (supervisor.status, supervisor.reason) == ("waiting", "it used more than 256 MB of memory")
    assert await answer(supervisor.run({"text": "slimmer"})) == ["slimmer by 2"]


async def test_the_operators_limit_overrides_a_higher_one_in_the_manifest(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    harness.policy = replace(harness.policy, resource_limits=replace(harness.policy.resource_limits, memory_mb=100))
    supervisor = await harness.started()
    launcher.latest.memory = 101 * 1024 * 1024

    await asyncio.sleep(2.1)

    assert supervisor.reason == "it used more than 100 MB of memory"


async def test_more_processes_than_allowed_end_the_plugin_with_a_reason(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    harness.policy = replace(harness.policy, resource_limits=replace(harness.policy.resource_limits, processes=20))
    supervisor = await harness.started()
    launcher.latest.processes = 21

    await asyncio.sleep(2.1)

    assert launcher.processes[0].ended
    assert (supervisor.status, supervisor.reason) == ("waiting", "it had more than 20 processes")


async def test_a_data_folder_beyond_its_quota_ends_the_plugin_with_a_reason(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    harness.data_bytes = 1024 * 1024 * 1024 + 1

    await asyncio.sleep(10.1)

    assert launcher.processes[0].ended
    assert (supervisor.status, supervisor.reason) == ("waiting", "its data folder holds more than 1024 MB")


async def test_the_operators_limits_are_applied_to_a_process(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    harness.policy = replace(
        harness.policy, resource_limits=replace(harness.policy.resource_limits, open_files=200, niceness=7)
    )

    await harness.started()

    assert launcher.latest.applied_limits == (200, 7)

"""Calls of the Host to a plugin beside runs wait for the process, have a deadline, and are drained like runs."""

import asyncio

import pytest

from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable

from .fakes import Behaviour, FakeLauncher, SupervisorHarness, answer, now


async def wait_until_active(launcher: FakeLauncher, text: str) -> None:
    """Waits until the newest process works on the text."""
    while text not in launcher.latest.active_runs:
        launcher.latest.run_started.clear()
        await launcher.latest.run_started.wait()


async def test_a_call_waits_for_a_plugin_that_starts(harness: SupervisorHarness) -> None:
    supervisor = harness.supervisor()

    assert await supervisor.call("call_tool", {"text": "hello"}, 10) == {"answer": ["hello by 1"]}


async def test_the_wait_for_the_plugin_counts_towards_the_deadline(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    launcher.script = [Behaviour(greets=False)]
    supervisor = harness.supervisor()

    with pytest.raises(PluginUnavailable, match="test/fake is starting"):
        await supervisor.call("call_tool", {"text": "hello"}, 5)

    assert now() == pytest.approx(5, abs=0.1)


async def test_a_call_beyond_its_deadline_is_refused_and_cancelled_in_the_plugin(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()

    with pytest.raises(PluginCallFailed) as late:
        await supervisor.call("call_tool", {"text": "wait"}, 5)

    assert late.value.code == "deadline_exceeded"
    await asyncio.sleep(1)
    assert launcher.latest.active_runs == []


async def test_cancelling_the_caller_cancels_the_call_in_the_plugin(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    calling = asyncio.create_task(supervisor.call("call_tool", {"text": "wait"}, 60))
    await wait_until_active(launcher, "wait")

    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
    await asyncio.sleep(1)
    assert launcher.latest.active_runs == []


async def test_calls_fail_with_their_process_and_the_next_call_uses_the_next_process(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    calling = asyncio.create_task(supervisor.call("call_tool", {"text": "wait"}, 60))
    await wait_until_active(launcher, "wait")

    launcher.latest.exit(1)

    with pytest.raises(PluginDisconnected, match="its process ended"):
        await calling
    assert await supervisor.call("call_tool", {"text": "again"}, 60) == {"answer": ["again by 2"]}


async def test_a_plugin_that_was_given_up_is_not_waited_for(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(ends_at_start=True) for _ in range(5)]
    supervisor = harness.supervisor()
    with pytest.raises(PluginUnavailable, match="is failed"):
        await supervisor.call("call_tool", {"text": "hello"}, 600)


async def test_an_error_of_the_plugin_keeps_its_code(harness: SupervisorHarness) -> None:
    supervisor = await harness.started()

    with pytest.raises(PluginCallFailed, match="kb_retrieve") as refused:
        await supervisor.call("kb_retrieve", {}, 5)

    assert refused.value.code == "not_supported"


async def test_a_process_that_is_replaced_finishes_its_calls(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    calling = asyncio.create_task(supervisor.call("call_tool", {"text": "wait"}, 60))
    await wait_until_active(launcher, "wait")

    await supervisor.replace(harness.plugin("2"))

    assert await supervisor.call("call_tool", {"text": "new"}, 5) == {"answer": ["new by 2"]}
    await asyncio.sleep(5)
    assert not launcher.processes[0].ended
    launcher.processes[0].finish_run("wait")
    assert await calling == {"answer": ["wait by 1"]}
    await asyncio.sleep(1)
    assert launcher.processes[0].ended


async def test_a_command_uses_no_slot_of_a_run(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    harness.limits = harness.limits.model_copy(update={"max_runs": 1})
    supervisor = await harness.started()
    running = asyncio.create_task(answer(supervisor.run({"text": "wait"})))
    await wait_until_active(launcher, "wait")

    assert await answer(await supervisor.stream("run_command", {"text": "roll"})) == ["roll by 1"]

    waiting = asyncio.create_task(answer(supervisor.run({"text": "second"})))
    launcher.latest.finish_run("wait")
    assert await running == ["wait by 1"]
    assert await waiting == ["second by 1"]


async def test_a_command_that_is_aborted_ends_in_the_plugin(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = await harness.started()
    command = await supervisor.stream("run_command", {"text": "wait"})
    await wait_until_active(launcher, "wait")

    command.abort(RuntimeError("nobody wants it"))

    with pytest.raises(RuntimeError, match="nobody wants it"):
        await command.batch()
    await asyncio.sleep(1)
    assert launcher.latest.active_runs == []

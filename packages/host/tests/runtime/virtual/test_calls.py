"""What the Host asks of a plugin beside runs: it waits for the process, ends in time, and is drained like a run."""

import asyncio

import pytest

from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable

from .fakes import Behaviour, Desk, FakeLauncher, answer, now


async def begun(launcher: FakeLauncher, text: str) -> None:
    """The newest process works on it."""
    while text not in launcher.latest.going_on:
        launcher.latest.took.clear()
        await launcher.latest.took.wait()


async def test_a_call_waits_for_a_plugin_that_starts(desk: Desk) -> None:
    supervisor = desk.supervisor()

    assert await supervisor.call("call_tool", {"text": "hello"}, 10) == {"answer": ["hello by 1"]}


async def test_the_wait_for_the_plugin_is_part_of_the_time(desk: Desk, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(greets=False)]
    supervisor = desk.supervisor()

    with pytest.raises(PluginUnavailable, match="test/fake is starting"):
        await supervisor.call("call_tool", {"text": "hello"}, 5)

    assert now() == pytest.approx(5, abs=0.1)


async def test_a_call_that_is_late_is_refused_and_cancelled_in_the_plugin(desk: Desk, launcher: FakeLauncher) -> None:
    supervisor = await desk.started()

    with pytest.raises(PluginCallFailed) as late:
        await supervisor.call("call_tool", {"text": "wait"}, 5)

    assert late.value.code == "deadline_exceeded"
    await asyncio.sleep(1)
    assert launcher.latest.going_on == []


async def test_whoever_is_cancelled_cancels_the_call_in_the_plugin(desk: Desk, launcher: FakeLauncher) -> None:
    supervisor = await desk.started()
    calling = asyncio.create_task(supervisor.call("call_tool", {"text": "wait"}, 60))
    await begun(launcher, "wait")

    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
    await asyncio.sleep(1)
    assert launcher.latest.going_on == []


async def test_a_process_that_ends_takes_its_calls_along_and_the_next_call_finds_the_next_one(
    desk: Desk, launcher: FakeLauncher
) -> None:
    supervisor = await desk.started()
    calling = asyncio.create_task(supervisor.call("call_tool", {"text": "wait"}, 60))
    await begun(launcher, "wait")

    launcher.latest.exit(1)

    with pytest.raises(PluginDisconnected, match="its process ended"):
        await calling
    assert await supervisor.call("call_tool", {"text": "again"}, 60) == {"answer": ["again by 2"]}


async def test_a_plugin_that_was_given_up_is_not_waited_for(desk: Desk, launcher: FakeLauncher) -> None:
    launcher.script = [Behaviour(ends_at_start=True) for _ in range(5)]
    supervisor = desk.supervisor()
    with pytest.raises(PluginUnavailable, match="is failed"):
        await supervisor.call("call_tool", {"text": "hello"}, 600)


async def test_an_error_of_the_plugin_keeps_its_code(desk: Desk) -> None:
    supervisor = await desk.started()

    with pytest.raises(PluginCallFailed, match="kb_retrieve") as refused:
        await supervisor.call("kb_retrieve", {}, 5)

    assert refused.value.code == "not_supported"


async def test_a_process_that_is_replaced_finishes_its_calls(desk: Desk, launcher: FakeLauncher) -> None:
    supervisor = await desk.started()
    calling = asyncio.create_task(supervisor.call("call_tool", {"text": "wait"}, 60))
    await begun(launcher, "wait")

    await supervisor.replace(desk.plugin("2"))

    assert await supervisor.call("call_tool", {"text": "new"}, 5) == {"answer": ["new by 2"]}
    await asyncio.sleep(5)
    assert not launcher.processes[0].ended
    launcher.processes[0].let_go("wait")
    assert await calling == {"answer": ["wait by 1"]}
    await asyncio.sleep(1)
    assert launcher.processes[0].ended


async def test_a_command_takes_no_place_of_a_run(desk: Desk, launcher: FakeLauncher) -> None:
    desk.limits = desk.limits.model_copy(update={"max_runs": 1})
    supervisor = await desk.started()
    running = asyncio.create_task(answer(supervisor.run({"text": "wait"})))
    await begun(launcher, "wait")

    assert await answer(await supervisor.stream("run_command", {"text": "roll"})) == ["roll by 1"]

    waiting = asyncio.create_task(answer(supervisor.run({"text": "second"})))
    launcher.latest.let_go("wait")
    assert await running == ["wait by 1"]
    assert await waiting == ["second by 1"]


async def test_a_command_that_is_aborted_ends_in_the_plugin(desk: Desk, launcher: FakeLauncher) -> None:
    supervisor = await desk.started()
    command = await supervisor.stream("run_command", {"text": "wait"})
    await begun(launcher, "wait")

    command.abort(RuntimeError("nobody wants it"))

    with pytest.raises(RuntimeError, match="nobody wants it"):
        await command.batch()
    await asyncio.sleep(1)
    assert launcher.latest.going_on == []

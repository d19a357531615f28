"""A plugin has no more active runs than its manifest allows; further runs wait in order and are not lost."""

import asyncio

import pytest

from parlour.core.model.ports import PluginDisconnected, ResultStream
from parlour_sdk.protocol.manifest import PluginLimits

from .fakes import FakeLauncher, SupervisorHarness, answer


class Cancelled(Exception):
    pass


@pytest.fixture
async def two_slots(harness: SupervisorHarness) -> SupervisorHarness:
    harness.limits = PluginLimits(max_runs=2)
    return harness


def start_answer(stream: ResultStream) -> "asyncio.Task[list[str]]":
    return asyncio.create_task(answer(stream))


async def test_a_run_beyond_the_limit_waits_for_a_slot(two_slots: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = await two_slots.started()
    runs = [start_answer(supervisor.run({"text": f"wait {number}"})) for number in range(4)]
    await asyncio.sleep(1000)
    process = launcher.latest
    assert process.active_runs == ["wait 0", "wait 1"]

    process.finish_run("wait 1")
    await runs[1]
    await asyncio.sleep(0.1)

    assert process.active_runs == ["wait 0", "wait 2"]
    for text in ("wait 0", "wait 2"):
        process.finish_run(text)
    await asyncio.gather(runs[0], runs[2])
    await asyncio.sleep(0.1)
    process.finish_run("wait 3")
    assert await runs[3] == ["wait 3 by 1"]


async def test_a_new_run_does_not_overtake_waiting_runs(two_slots: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = await two_slots.started()
    runs = [start_answer(supervisor.run({"text": f"wait {number}"})) for number in range(3)]
    await asyncio.sleep(0.1)

    launcher.latest.finish_run("wait 0")
    late = start_answer(supervisor.run({"text": "wait late"}))
    await runs[0]
    await asyncio.sleep(0.1)

    assert launcher.latest.active_runs == ["wait 1", "wait 2"]
    for text in ("wait 1", "wait 2"):
        launcher.latest.finish_run(text)
    await asyncio.gather(*runs)
    await asyncio.sleep(0.1)
    launcher.latest.finish_run("wait late")
    assert await late == ["wait late by 1"]


async def test_a_cancelled_waiting_run_gives_its_turn_to_the_next(
    two_slots: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await two_slots.started()
    first = [start_answer(supervisor.run({"text": f"wait {number}"})) for number in range(2)]
    unwanted = supervisor.run({"text": "wait unwanted"})
    wanted = start_answer(supervisor.run({"text": "wanted"}))
    await asyncio.sleep(0.1)

    unwanted.abort(Cancelled())
    launcher.latest.finish_run("wait 0")

    assert await first[0] == ["wait 0 by 1"]
    assert await wanted == ["wanted by 1"]
    with pytest.raises(Cancelled):
        await unwanted.batch()


async def test_a_waiting_run_survives_a_crash(two_slots: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = await two_slots.started()
    running = [start_answer(supervisor.run({"text": f"wait {number}"})) for number in range(2)]
    waiting = start_answer(supervisor.run({"text": "patient"}))
    await asyncio.sleep(0.1)

    launcher.latest.exit(1)

    assert await waiting == ["patient by 2"]
    for run in running:
        with pytest.raises(PluginDisconnected):
            await run


async def test_a_run_that_does_not_end_keeps_its_slot_until_a_new_process_starts(
    two_slots: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await two_slots.started()
    deaf = [supervisor.run({"text": f"deaf {number}"}) for number in range(2)]
    await asyncio.sleep(0.1)
    for stream in deaf:
        stream.abort(Cancelled())
    waiting = start_answer(supervisor.run({"text": "patient"}))

    await asyncio.sleep(20)
    assert not waiting.done()

    assert await waiting == ["patient by 2"]

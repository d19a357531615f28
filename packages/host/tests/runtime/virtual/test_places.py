"""No more runs in a plugin than its manifest allows; what is beyond waits, in order, and is not lost."""

import asyncio

import pytest

from parlour.core.model.ports import PluginDisconnected, ResultStream
from parlour_sdk.protocol.manifest import PluginLimits

from .fakes import Desk, FakeLauncher, answer


class Cancelled(Exception):
    pass


@pytest.fixture
async def small(desk: Desk) -> Desk:
    desk.limits = PluginLimits(max_runs=2)
    return desk


def answering(stream: ResultStream) -> "asyncio.Task[list[str]]":
    return asyncio.create_task(answer(stream))


async def test_a_run_beyond_the_limit_waits_for_a_place(small: Desk, launcher: FakeLauncher) -> None:
    supervisor = await small.started()
    runs = [answering(supervisor.run({"text": f"wait {number}"})) for number in range(4)]
    await asyncio.sleep(1000)
    process = launcher.latest
    assert process.going_on == ["wait 0", "wait 1"]

    process.let_go("wait 1")
    await runs[1]
    await asyncio.sleep(0.1)

    assert process.going_on == ["wait 0", "wait 2"]
    for text in ("wait 0", "wait 2"):
        process.let_go(text)
    await asyncio.gather(runs[0], runs[2])
    await asyncio.sleep(0.1)
    process.let_go("wait 3")
    assert await runs[3] == ["wait 3 by 1"]


async def test_nobody_overtakes_those_who_wait(small: Desk, launcher: FakeLauncher) -> None:
    supervisor = await small.started()
    runs = [answering(supervisor.run({"text": f"wait {number}"})) for number in range(3)]
    await asyncio.sleep(0.1)

    launcher.latest.let_go("wait 0")
    late = answering(supervisor.run({"text": "wait late"}))
    await runs[0]
    await asyncio.sleep(0.1)

    assert launcher.latest.going_on == ["wait 1", "wait 2"]
    for text in ("wait 1", "wait 2"):
        launcher.latest.let_go(text)
    await asyncio.gather(*runs)
    await asyncio.sleep(0.1)
    launcher.latest.let_go("wait late")
    assert await late == ["wait late by 1"]


async def test_a_waiting_run_that_is_cancelled_gives_its_turn_away(small: Desk, launcher: FakeLauncher) -> None:
    supervisor = await small.started()
    first = [answering(supervisor.run({"text": f"wait {number}"})) for number in range(2)]
    unwanted = supervisor.run({"text": "wait unwanted"})
    wanted = answering(supervisor.run({"text": "wanted"}))
    await asyncio.sleep(0.1)

    unwanted.abort(Cancelled())
    launcher.latest.let_go("wait 0")

    assert await first[0] == ["wait 0 by 1"]
    assert await wanted == ["wanted by 1"]
    with pytest.raises(Cancelled):
        await unwanted.batch()


async def test_a_waiting_run_outlives_a_crash(small: Desk, launcher: FakeLauncher) -> None:
    supervisor = await small.started()
    running = [answering(supervisor.run({"text": f"wait {number}"})) for number in range(2)]
    waiting = answering(supervisor.run({"text": "patient"}))
    await asyncio.sleep(0.1)

    launcher.latest.exit(1)

    assert await waiting == ["patient by 2"]
    for run in running:
        with pytest.raises(PluginDisconnected):
            await run


async def test_a_run_that_does_not_end_keeps_its_place_until_a_fresh_process_has_more(
    small: Desk, launcher: FakeLauncher
) -> None:
    supervisor = await small.started()
    deaf = [supervisor.run({"text": f"deaf {number}"}) for number in range(2)]
    await asyncio.sleep(0.1)
    for stream in deaf:
        stream.abort(Cancelled())
    waiting = answering(supervisor.run({"text": "patient"}))

    await asyncio.sleep(20)
    assert not waiting.done()

    assert await waiting == ["patient by 2"]

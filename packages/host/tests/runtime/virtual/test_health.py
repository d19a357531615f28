"""Hung or only slow to be heard: pings tell, and the Host's own troubles don't count."""

import asyncio
from dataclasses import replace

import pytest

from parlour.core.model.ports import PluginDisconnected
from parlour_sdk.wire import WireLimits

from .fakes import Desk, FakeLauncher, answer, now, sleep_through

HUNG = "its event loop did not answer for 30 s"


async def test_a_plugin_whose_loop_hangs_is_killed_with_the_reason_and_starts_again(
    desk: Desk, launcher: FakeLauncher
) -> None:
    supervisor = await desk.started()
    waiting = asyncio.create_task(supervisor.run({"text": "wait"}).batch())
    await asyncio.sleep(1)

    launcher.latest.hang()

    with pytest.raises(PluginDisconnected):
        await waiting
    assert 30 <= now() <= 50
    await asyncio.sleep(0)
    assert supervisor.status == "waiting"
    assert supervisor.reason == HUNG
    assert launcher.processes[0].ended
    assert await answer(supervisor.run({"text": "back"})) == ["back by 2"]


async def test_the_numbers_are_settings(desk: Desk, launcher: FakeLauncher) -> None:
    desk.policy = replace(desk.policy, health=replace(desk.policy.health, ping_seconds=0.5, missed_pings=2))
    supervisor = await desk.started()

    launcher.latest.hang()
    await asyncio.sleep(2)

    assert supervisor.reason == "its event loop did not answer for 1 s"


async def test_a_plugin_that_answers_in_the_last_moment_lives_on(desk: Desk, launcher: FakeLauncher) -> None:
    supervisor = await desk.started()
    process = launcher.latest

    for _ in range(10):
        process.hang()
        await asyncio.sleep(29)
        process.wake()
        await asyncio.sleep(1)

    assert supervisor.status == "ready"
    assert launcher.processes == [process]


async def test_a_quiet_healthy_plugin_lives_on_for_ever(desk: Desk, launcher: FakeLauncher) -> None:
    supervisor = await desk.started()

    await asyncio.sleep(10_000)

    assert (supervisor.status, len(launcher.processes)) == ("ready", 1)


async def test_a_host_that_was_suspended_does_not_blame_the_plugin(desk: Desk, launcher: FakeLauncher) -> None:
    supervisor = await desk.started()
    process = launcher.latest
    await asyncio.sleep(9.9)
    process.hang()  # all of the machine stands still, the plugin is only the last to wake
    for _ in range(20):
        await asyncio.sleep(1)
        sleep_through(3600)
    process.wake()

    await asyncio.sleep(60)

    assert (supervisor.status, launcher.processes) == ("ready", [process])


async def test_a_plugin_that_hangs_under_an_overloaded_host_is_found_when_the_load_is_gone(
    desk: Desk, launcher: FakeLauncher
) -> None:
    supervisor = await desk.started()
    launcher.latest.hang()
    for _ in range(20):
        await asyncio.sleep(1)
        sleep_through(10)

    assert supervisor.status == "ready"
    await asyncio.sleep(50)
    assert HUNG in desk.reasons


async def test_a_flood_before_the_answer_is_read_first_and_is_no_hang(desk: Desk, launcher: FakeLauncher) -> None:
    desk.policy = replace(desk.policy, wire=WireLimits(frames_per_second=10))
    supervisor = await desk.started()

    launcher.latest.flood(1000)  # a hundred seconds to read, and the answer to the next ping is behind it
    await asyncio.sleep(300)

    assert (supervisor.status, len(launcher.processes)) == ("ready", 1)


async def test_a_plugin_that_hangs_behind_its_flood_is_found_when_that_is_read(
    desk: Desk, launcher: FakeLauncher
) -> None:
    desk.policy = replace(desk.policy, wire=WireLimits(frames_per_second=10))
    await desk.started()

    launcher.latest.flood(1000)
    launcher.latest.hang()
    await asyncio.sleep(160)

    assert HUNG in desk.reasons


async def test_a_plugin_that_floods_and_never_answers_is_not_waited_for_for_ever(
    desk: Desk, launcher: FakeLauncher
) -> None:
    desk.policy = replace(desk.policy, wire=WireLimits(frames_per_second=10))
    await desk.started()
    process = launcher.latest
    process.hang()

    while not process.ended:
        process.flood(100)
        await asyncio.sleep(5)
        assert now() < 400

    assert HUNG in desk.reasons

"""Pings distinguish a hung plugin from a slow one, and delays of the Host itself don't count."""

import asyncio
from dataclasses import replace

import pytest

from parlour.core.model.ports import PluginDisconnected
from parlour_sdk.wire import WireLimits

from .fakes import FakeLauncher, SupervisorHarness, answer, now, suspend_host

HUNG_REASON = "its event loop did not answer for 30 s"


async def test_a_plugin_whose_loop_hangs_is_killed_with_the_reason_and_starts_again(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    waiting = asyncio.create_task(supervisor.run({"text": "wait"}).batch())
    await asyncio.sleep(1)

    launcher.latest.hang()

    with pytest.raises(PluginDisconnected):
        await waiting
    assert 30 <= now() <= 50
    await asyncio.sleep(0)
    assert supervisor.status == "waiting"
    assert supervisor.reason == HUNG_REASON
    assert launcher.processes[0].ended
    assert await answer(supervisor.run({"text": "back"})) == ["back by 2"]


async def test_ping_interval_and_missed_pings_are_settings(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    harness.policy = replace(harness.policy, health=replace(harness.policy.health, ping_seconds=0.5, missed_pings=2))
    supervisor = await harness.started()

    launcher.latest.hang()
    await asyncio.sleep(2)

    assert supervisor.reason == "its event loop did not answer for 1 s"


async def test_a_plugin_that_answers_at_the_last_moment_is_not_killed(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    process = launcher.latest

    for _ in range(10):
        process.hang()
        await asyncio.sleep(29)
        process.wake()
        await asyncio.sleep(1)

    assert supervisor.status == "ready"
    assert launcher.processes == [process]


async def test_a_quiet_healthy_plugin_is_never_killed(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    supervisor = await harness.started()

    await asyncio.sleep(10_000)

    assert (supervisor.status, len(launcher.processes)) == ("ready", 1)


async def test_a_suspended_host_does_not_count_as_a_hung_plugin(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    process = launcher.latest
    await asyncio.sleep(9.9)
    process.hang()  # the whole machine is suspended, and the plugin is the last to wake
    for _ in range(20):
        await asyncio.sleep(1)
        suspend_host(3600)
    process.wake()

    await asyncio.sleep(60)

    assert (supervisor.status, launcher.processes) == ("ready", [process])


async def test_a_hung_plugin_is_detected_when_the_overload_of_the_host_ends(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    supervisor = await harness.started()
    launcher.latest.hang()
    for _ in range(20):
        await asyncio.sleep(1)
        suspend_host(10)

    assert supervisor.status == "ready"
    await asyncio.sleep(50)
    assert HUNG_REASON in harness.reasons


async def test_a_flood_before_the_ping_answer_is_not_a_hang(harness: SupervisorHarness, launcher: FakeLauncher) -> None:
    harness.policy = replace(harness.policy, wire=WireLimits(frames_per_second=10))
    supervisor = await harness.started()

    launcher.latest.flood(1000)  # reading takes a hundred seconds, and the answer to the next ping comes after it
    await asyncio.sleep(300)

    assert (supervisor.status, len(launcher.processes)) == ("ready", 1)


async def test_a_plugin_that_hangs_after_a_flood_is_detected_when_the_flood_is_read(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    harness.policy = replace(harness.policy, wire=WireLimits(frames_per_second=10))
    await harness.started()

    launcher.latest.flood(1000)
    launcher.latest.hang()
    await asyncio.sleep(160)

    assert HUNG_REASON in harness.reasons


async def test_a_plugin_that_floods_and_never_answers_is_ended(
    harness: SupervisorHarness, launcher: FakeLauncher
) -> None:
    harness.policy = replace(harness.policy, wire=WireLimits(frames_per_second=10))
    await harness.started()
    process = launcher.latest
    process.hang()

    while not process.ended:
        process.flood(100)
        await asyncio.sleep(5)
        assert now() < 400

    assert HUNG_REASON in harness.reasons

"""Hundreds of seeded random scenarios: in each one every run ends once and no process is left."""

import asyncio
import random
from pathlib import Path

import pytest

from parlour.core.model.ports import PluginDisconnected, PluginUnavailable, ResultStream
from parlour.plugin_runtime.supervision.policy import HealthPolicy, RestartPolicy, SupervisionPolicy
from parlour.testing.simulation.loop import SeededLoop
from parlour_sdk.protocol.manifest import PluginLimits

from .fakes import Behaviour, FakeLauncher, SupervisorHarness, answer, suspend_host

SEEDS = 150
STEPS = 40


class Cancelled(Exception):
    pass


class Scenario:
    def __init__(self, dice: random.Random, folder: Path) -> None:
        self.dice = dice
        self.launcher = FakeLauncher()
        health = HealthPolicy(ping_seconds=2, missed_pings=2, ignored_cancel_seconds=3)
        policy = SupervisionPolicy(
            start_seconds=5, drain_seconds=4, health=health, restart=RestartPolicy(give_up_after=1000)
        )
        self.harness = SupervisorHarness(self.launcher, folder, policy, PluginLimits(max_runs=3))
        self.runs: list[tuple[ResultStream, asyncio.Task[str]]] = []
        self.replacing: list[asyncio.Task[None]] = []

    async def play(self) -> None:
        self.supervisor = self.harness.supervisor()
        actions = (
            [self.ask] * 4
            + [self.cancel] * 2
            + [self.crash, self.hang, self.finish_runs, self.upgrade, self.exceed_memory, self.suspend]
        )
        for _ in range(STEPS):
            self.dice.choice(actions)()
            if self.dice.random() < 0.2:
                self.launcher.script.append(self._behaviour())
            await asyncio.sleep(self.dice.choice((0, 0, 0.001, 0.5, 3)))

    def _behaviour(self) -> Behaviour:
        dice = self.dice
        return Behaviour(
            dice.random() < 0.7, dice.random() < 0.3, dice.random() < 0.3, "last line\n" * dice.randint(0, 1)
        )

    def ask(self) -> None:
        text = f"{self.dice.choice(('wait', 'deaf', 'say'))} {len(self.runs)}"
        stream = self.supervisor.run({"text": text})
        self.runs.append((stream, asyncio.create_task(outcome(stream))))

    def cancel(self) -> None:
        if self.runs:
            self.dice.choice(self.runs)[0].abort(Cancelled())

    def crash(self) -> None:
        if self.launcher.processes:
            self.dice.choice(self.launcher.processes[-2:]).exit(1)

    def hang(self) -> None:
        if self.launcher.processes:
            self.launcher.latest.hang()

    def exceed_memory(self) -> None:
        if self.launcher.processes:
            self.launcher.latest.memory = 10**12

    def finish_runs(self) -> None:
        for process in self.launcher.processes:
            for text in list(process.active_runs):
                process.finish_run(text)

    def upgrade(self) -> None:
        self.replacing.append(asyncio.create_task(self._replace(str(len(self.replacing) + 2))))

    async def _replace(self, version: str) -> None:
        try:
            await self.supervisor.replace(self.harness.plugin(version))
        except PluginUnavailable:
            return
        assert not self.launcher.latest.ended or self.supervisor.status != "ready"

    def suspend(self) -> None:
        suspend_host(self.dice.choice((1, 60)))

    async def recover(self) -> None:
        """Ends every run and waits until the plugin serves again."""
        self.launcher.script.clear()
        await asyncio.gather(*self.replacing)
        while any(not task.done() for _, task in self.runs):
            self.finish_runs()
            await asyncio.sleep(1)
        tries = 1
        while await outcome(self.supervisor.run({"text": "say recovered"})) != "answered":
            tries += 1
            await asyncio.sleep(1)
            assert tries < 10


async def outcome(stream: ResultStream) -> str:
    try:
        return "answered" if len(await answer(stream)) == 1 else "wrong"
    except (PluginDisconnected, PluginUnavailable, Cancelled) as error:
        return type(error).__name__


async def play_scenario(dice: random.Random, folder: Path) -> None:
    scenario = Scenario(dice, folder)
    await scenario.play()
    if dice.random() < 0.7:
        await asyncio.wait_for(scenario.recover(), 3600)
        await asyncio.sleep(20)
        assert sum(not process.ended for process in scenario.launcher.processes) == 1
    await asyncio.wait_for(scenario.supervisor.stop(), 7)
    assert all(process.ended for process in scenario.launcher.processes)
    await asyncio.wait_for(asyncio.gather(*scenario.replacing), 1)
    await asyncio.sleep(1)  # active work of the fakes ends
    assert "wrong" not in await asyncio.wait_for(asyncio.gather(*(task for _, task in scenario.runs)), 1)


@pytest.mark.parametrize("seed_group", range(SEEDS // 10))
def test_every_run_ends_and_no_process_is_left_in_random_scenarios(tmp_path: Path, seed_group: int) -> None:
    for seed in range(seed_group * 10, seed_group * 10 + 10):
        loop = SeededLoop(dice := random.Random(seed), 0.0)
        try:
            loop.run_until_complete(play_scenario(dice, tmp_path))
            assert loop.failures == [], seed
        except BaseException as failure:
            failure.add_note(f"seed {seed}")
            raise
        finally:
            loop.close()

"""Simulates a remote worker that claims queued runs, executes them, and sometimes dies with a claimed run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from parlour.core.actions.gate import Gate
from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId
from parlour_sdk.protocol.manifest import PluginPermissions

from .world import World

WORKER = PluginId("simulated/worker")
PERMISSIONS = PluginPermissions(runtimes=["read", "admin"])
RUNTIME = "anvil"
LOST = 0.15
"""Probability that it forgets a claimed run, whose lease then expires."""
RETURNED = 0.15
"""Probability that it gives a run back."""
BEAT_SECONDS = 10.0


def granted(plugin_id: PluginId) -> PluginPermissions:
    return PERMISSIONS if plugin_id == WORKER else PluginPermissions()


class SimulatedWorker:
    def __init__(self, world: World, gate: Gate) -> None:
        self._world = world
        self._gate = gate
        self._calls = 0

    async def serve(self) -> None:
        """Works until this Host process ends."""
        while True:
            await self._ask("runtime_register", runtime_id=RUNTIME, slots=100)
            beats = asyncio.create_task(self._beat())
            try:
                async for _ in self._wakeups():
                    await self._work()
            finally:
                beats.cancel()
            await asyncio.sleep(1)

    async def _work(self) -> None:
        while (answer := await self._ask("run_claim", runtime_id=RUNTIME)).get("claimed"):
            await self._execute(answer["claimed"])

    async def _execute(self, claimed: dict[str, Any]) -> None:
        run_id, lease = claimed["run"]["run_id"], claimed["lease"]
        claim = {"target_run_id": run_id, "lease": lease}
        if self._world.dice.random() < LOST:
            return
        if self._world.dice.random() < RETURNED:
            await self._ask("run_release", **claim)
            return
        text = f"{claimed['context']['input']['text']} is done"
        data = {"message": {"role": "assistant", "content": text}}
        result = {"run_id": run_id, "type": "message.completed", "data": data, "sequence": 1}
        for _ in range(self._world.dice.choice((1, 1, 2))):
            await self._ask("run_append_result", **claim, result=result)
            await self._world.pause()
        await self._ask("run_renew", **claim)
        if self._world.dice.random() >= LOST:
            await self._ask("run_finalize", **claim, status="completed")

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            await self._ask("runtime_heartbeat", runtime_id=RUNTIME)

    async def _wakeups(self) -> AsyncIterator[Any]:
        try:
            async with aclosing(
                self._gate.stream(WORKER, "runtime_wakeups", self._request(runtime_id=RUNTIME))
            ) as wakeups:
                async for each in wakeups:
                    yield each
        except CallRejected:
            return  # it is not registered any more

    async def _ask(self, action: str, **arguments: Any) -> dict[str, Any]:
        """Retries a call that the database could not do, and ignores a final refusal."""
        while True:
            try:
                return await self._gate.call(WORKER, action, self._request(**arguments))
            except CallRejected as refusal:
                if refusal.code != "runtime_error":
                    return {}
            await asyncio.sleep(0.5)

    def _request(self, **arguments: Any) -> dict[str, Any]:
        self._calls += 1
        return {"call_id": f"worker:{self._calls}", **arguments}

"""A world with one plugin that creates runs and one that executes them as remote worker."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.model.agent import Agent
from parlour.core.store.tables import OUTBOX
from parlour_sdk.protocol.manifest import PluginPermissions

from ..support import DISCOVERY, PLUGIN, World

BOARD, FORGE, OTHER = "acme/board", "acme/forge", "acme/other"
PERMISSIONS: dict[str, PluginPermissions] = {
    BOARD: PluginPermissions(agent_runs=["read", "create", "control"]),
    FORGE: PluginPermissions(runtimes=["read", "admin"]),
    OTHER: PluginPermissions(agent_runs=["read", "create", "control"], runtimes=["read", "admin"]),
    PLUGIN: PluginPermissions(agent_runs=["read", "create", "control"]),
    "acme/admin": PluginPermissions(agent_runs=["read", "admin"]),
}


def granted(plugin_id: str) -> PluginPermissions:
    return PERMISSIONS.get(plugin_id, PluginPermissions())


async def workshop(agent: Agent | None = None, discovery: dict[str, Any] = DISCOVERY, **ports: Any) -> World:
    return await World.open(agent, discovery=discovery, plugin_grants=granted, **ports)


async def ask(world: World, plugin: str, action: str, **arguments: Any) -> dict[str, Any]:
    return await world.core.gate.call(plugin, action, {"call_id": "call:1", **arguments})


async def refusal(world: World, plugin: str, action: str, **arguments: Any) -> CallRejected:
    try:
        await ask(world, plugin, action, **arguments)
    except CallRejected as refused:
        return refused
    raise AssertionError(f"{action} was allowed")


async def create(world: World, text: str = "work", plugin: str = BOARD, **arguments: Any) -> dict[str, Any]:
    event = {"input": {"text": text}, **arguments.pop("event", {})}
    return await ask(world, plugin, "run_create", **{"agent_id": "agent", "event": event, **arguments})


async def queue_run(world: World, text: str = "work", **arguments: Any) -> str:
    return str((await create(world, text, queue=True, **arguments))["run_id"])


@dataclass(slots=True)
class Held:
    """A claimed run with the calls of its worker."""

    world: World
    plugin: str
    run_id: str
    lease: str
    claimed: dict[str, Any]
    sent: int = field(default=0)

    async def send(self, kind: str, data: dict[str, Any], sequence: int | None = None, **more: Any) -> None:
        if sequence is None:
            self.sent += 1
            sequence = self.sent
        result = {"run_id": self.run_id, "type": kind, "data": data, "sequence": sequence}
        arguments = {"target_run_id": self.run_id, "result": result, "lease": self.lease, **more}
        await ask(self.world, self.plugin, "run_append_result", **arguments)

    async def say(self, text: str, **more: Any) -> None:
        await self.send("message.completed", {"message": {"role": "assistant", "content": text}}, **more)

    async def delta(self, text: str, **more: Any) -> None:
        await self.send("message.delta", {"chunk": {"role": "assistant", "content": text}}, **more)

    async def complete(self, **more: Any) -> None:
        await self.send("run.completed", {"finish_reason": "stop"}, **more)

    async def ask(self, action: str, **arguments: Any) -> dict[str, Any]:
        return await ask(self.world, self.plugin, action, target_run_id=self.run_id, lease=self.lease, **arguments)

    async def refused(self, action: str, **arguments: Any) -> CallRejected:
        try:
            await self.ask(action, **arguments)
        except CallRejected as refused:
            return refused
        raise AssertionError(f"{action} was allowed")


def outgoing(world: World) -> list[str]:
    """Returns the texts of all outbox rows."""
    return [loads(row["payload"])["message"]["content"] for row in world.rows(OUTBOX)]


async def register(world: World, runtime_id: str = "anvil", plugin: str = FORGE, **fields: Any) -> dict[str, Any]:
    return await ask(world, plugin, "runtime_register", **{"runtime_id": runtime_id, "slots": 10, **fields})


async def claim(
    world: World, runtime_id: str = "anvil", plugin: str = FORGE, wait: float = 0, **fields: Any
) -> Held | None:
    arguments = {"runtime_id": runtime_id, "wait_seconds": wait, **fields}
    claimed = (await ask(world, plugin, "run_claim", **arguments))["claimed"]
    if claimed is None:
        return None
    return Held(world, plugin, claimed["run"]["run_id"], claimed["lease"], claimed)


async def hold(world: World, text: str = "work", **arguments: Any) -> Held:
    """Queues a run and claims it."""
    await register(world)
    await queue_run(world, text, **arguments)
    held = await claim(world, wait=10)
    assert held is not None
    return held


async def status(world: World, run_id: str) -> str:
    return str((await ask(world, "acme/admin", "run_get", target_run_id=run_id))["status"])


async def heartbeats(world: World, runtime_id: str = "anvil", plugin: str = FORGE) -> None:
    while True:
        await asyncio.sleep(10)
        await ask(world, plugin, "runtime_heartbeat", runtime_id=runtime_id)

"""Simulates a plugin whose message selects its behaviour: answer, hold and be steered, crash, hang,
lie, stay silent.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator
from typing import Any

from parlour.core.actions.gate import Gate
from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId, RunId, RunnerId
from parlour.core.model.ports import PluginDisconnected, PluginUnavailable

from .deliveries import OBSERVER, SimulatedObserver
from .hooks import HOOK, ask_hook
from .world import World

PLUGIN = PluginId("simulated/agent")
RUNNER = RunnerId(f"plugin:{PLUGIN}/default")
DISCOVERY = {
    "plugin_author": "simulated",
    "plugin_name": "agent",
    "runner_name": "default",
    "manifest": {
        "id": RUNNER,
        "name": "default",
        "label": {"en_US": "Simulated"},
        "capabilities": {"streaming": True, "steering": True, "tool_calling": True, "platform_actions": True},
        "permissions": {"tools": ["call"], "agent_runs": ["create"], "platform_actions": ["*"]},
    },
}
BEHAVIOURS = tuple(
    """
    echo echo echo hold hold crash crash_once hang mute fail remember talk act act act_and_crash file file
    delegate delegate ask ask
    """.split()  # noqa: SIM905
)


POISON_SECONDS = 1
"""Seconds after which a message of this kind kills the Host."""
SLOW_SECONDS = 3


class SimulatedPlugin:
    def __init__(self, world: World, observer: SimulatedObserver) -> None:
        self._world = world
        self._observer = observer
        self.gate: Gate

    def run_agent(self, plugin_id: PluginId, request: dict[str, Any]) -> "SimulatedStream":
        return SimulatedStream(self._world, self._results(request["context"]))

    async def call(self, plugin_id: PluginId, action: str, data: dict[str, Any], timeout: float) -> dict[str, Any]:
        if plugin_id == HOOK:
            return await ask_hook(self._world.asked, data)
        if plugin_id == OBSERVER:
            return await self._observer.observe(data)
        raise PluginUnavailable("the simulated plugin has nothing but its runner")

    async def stream(self, plugin_id: PluginId, action: str, data: dict[str, Any]) -> "SimulatedStream":
        raise PluginUnavailable("the simulated plugin has nothing but its runner")

    async def _results(self, context: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        run_id, text = context["run_id"], context["input"]["text"]
        behaviour = text.split()[0]
        sequence = 0

        def result(kind: str, data: dict[str, Any]) -> dict[str, Any]:
            nonlocal sequence
            sequence += 1
            return {"run_id": run_id, "type": kind, "data": data, "sequence": sequence}

        def delta(fragment: str) -> dict[str, Any]:
            return result("message.delta", {"chunk": {"role": "assistant", "content": fragment}})

        await self._world.pause()
        if behaviour == "poison":
            await asyncio.sleep(POISON_SECONDS)
            await self._world.die("poison")
        if behaviour == "slow":
            await asyncio.sleep(SLOW_SECONDS)
        if behaviour == "crash_once" and context["runtime"]["attempt"] == 1:
            raise PluginDisconnected("crashed")
        if behaviour == "remember":
            await self._call("state_set", run_id, 1, scope="conversation", key="seen", value=text)
        if behaviour in ("act", "act_and_crash"):
            await self._call("call_tool", run_id, 1, tool_name="lamp", parameters={"text": text})
            await self._call("state_set", run_id, 2, scope="conversation", key="acted", value=text)
        if behaviour == "act_and_crash" and context["runtime"]["attempt"] == 1:
            raise PluginDisconnected("crashed")
        if behaviour == "delegate":
            event = {"input": {"text": f"work on {text}"}}
            await self._call("run_create", run_id, 1, agent_id="agent", event=event, queue=True)
        if behaviour == "ask":
            target, wait = {"user_id": f"user of {run_id}"}, self._world.dice.choice((0, 0, 20))
            await self._call("platform_action", run_id, 1, action="member.kick", target=target, wait_seconds=wait)
        if behaviour == "file":
            content = base64.b64encode(text.encode()).decode()
            yield result("artifact.created", {"artifact_type": "file", "name": "a.txt", "content_base64": content})
            await self._world.pause()
        if behaviour in ("echo", "talk", "crash"):
            for word in text.split():
                yield delta(word + " ")
                await self._world.pause(0.3)
        if behaviour == "crash":
            raise PluginDisconnected("crashed")
        if behaviour == "hang":
            yield delta("wait ")
            await asyncio.sleep(10_000)
        if behaviour == "mute":
            return
        if behaviour == "fail":
            yield result("run.failed", {"code": "simulated.failed", "error": "as told", "retryable": True})
            return
        steered = await self._hold(run_id) if behaviour == "hold" else []
        answer = "\n".join([text, *steered])
        yield result("message.completed", {"message": {"role": "assistant", "content": answer}})
        if behaviour == "talk":
            await self._world.pause()
            yield result("message.completed", {"message": {"role": "assistant", "content": f"more on {text}"}})
        yield result("run.completed", {"finish_reason": "stop"})

    async def _hold(self, run_id: RunId) -> list[str]:
        texts: list[str] = []
        for call in range(1, 6):
            await asyncio.sleep(0.05 * self._world.dice.random())
            answer = await self._call("steering_pull", run_id, call)
            texts += [item["input"]["text"] for item in answer.get("items", ())]
        return texts

    async def _call(self, host_action: str, run_id: RunId, number: int, **arguments: Any) -> dict[str, Any]:
        request = {"run_id": run_id, "call_id": f"{run_id}:{number}", **arguments}
        try:
            return await self.gate.call(PLUGIN, host_action, request)
        except CallRejected:
            return {}  # it continues regardless, as a bad plugin would


class SimulatedStream:
    """Delivers results in batches of any size."""

    def __init__(self, world: World, results: AsyncGenerator[dict[str, Any], None]) -> None:
        self._world = world
        self._results = results
        self._parts: list[dict[str, Any]] = []
        self._failure: BaseException | None = None
        self._ended = False
        self._wake = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._produce())

    async def _produce(self) -> None:
        try:
            async for result in self._results:
                self._parts.append(result)
                self._wake.set()
        except PluginDisconnected as error:
            self._failure = self._failure or error
        self._ended = True
        self._wake.set()

    async def batch(self) -> list[Any]:
        while not (self._parts or self._ended or self._failure):
            self._wake.clear()
            await self._wake.wait()
        if self._aborted():
            assert self._failure is not None
            raise self._failure
        if self._parts:
            count = self._world.dice.randrange(1, len(self._parts) + 1)
            parts, self._parts = self._parts[:count], self._parts[count:]
            return parts
        if self._failure is not None:
            raise self._failure
        return []

    def _aborted(self) -> bool:
        return self._failure is not None and not isinstance(self._failure, PluginDisconnected)

    def abort(self, error: BaseException) -> None:
        if not self._aborted():
            self._failure = error
            self._wake.set()
            if self._world.dice.random() < 0.7:  # the rest ignores it and continues
                self._task.cancel()

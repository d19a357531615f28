"""A world whose run may use all scripted providers."""

from typing import Any

from parlour.core.model.providers import Providers
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.core.runs.session import RunTermination

from ..actions.action_requests import discovery, plugin_permissions
from ..support import PuppetRun, World, make_agent

DISCOVERED = discovery()
ALL = ResourcePolicy(models="*", tools="*", knowledge_bases="*", skills="*", files="*")
ASK: dict[str, Any] = {"model_id": "model", "messages": [{"role": "user", "content": "hi"}]}


async def world(providers: Providers, **agent: Any) -> World:
    granted = plugin_permissions(processes=[])
    return await World.open(
        make_agent(resource_policy=ALL, **agent),
        discovery=DISCOVERED,
        providers=providers,
        plugin_grants=lambda plugin_id: granted,
    )


async def start_run(made: World) -> PuppetRun:
    await made.say("hi")
    return await made.plugins.next_run()


async def cancel(made: World, run: PuppetRun) -> None:
    await made.core.control.cancel(run.run_id, RunTermination("cancelled", "cancelled"))

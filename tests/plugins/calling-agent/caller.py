"""Makes the calls that the message lists, `[[action, arguments], ...]` as JSON, and answers with
the outcome of each.

`["wait", path]` touches `path.reached` and waits for that file; `["leave", arguments]` leaves a
stream after its first part.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from parlour_sdk import results
from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.wire_actions import HOST_ACTIONS
from parlour_sdk.results import Result


class Caller(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        answers = [await outcome(api, *step) for step in json.loads(ctx.input.text or "")]
        yield results.completed(json.dumps(answers))


async def outcome(api: AgentRunAPI, action: str, argument: Any) -> Any:
    try:
        match action:
            case "wait":
                return await asyncio.to_thread(reached, Path(argument))
            case "leave":
                return await first_part(api, argument)
            case _:
                return await called(api, action, argument)
    except AgentAPIException as failure:
        return {"error": failure.error.model_dump(mode="json")}


async def called(api: AgentRunAPI, action: str, arguments: dict[str, Any]) -> Any:
    wire = HOST_ACTIONS[action]
    if wire.streams:
        stream = api._calls.stream(action, wire.request, wire.answer, **arguments)
        return [part.model_dump(mode="json") async for part in stream]
    return (await api._calls.call(action, wire.request, wire.answer, **arguments)).model_dump(mode="json")


async def first_part(api: AgentRunAPI, arguments: dict[str, Any]) -> Any:
    async with aclosing(api.models.stream(**arguments)) as parts:
        return (await anext(parts)).model_dump(mode="json")


def reached(path: Path) -> str:
    Path(f"{path}.reached").touch()
    while not path.exists():
        time.sleep(0.01)
    return "passed"

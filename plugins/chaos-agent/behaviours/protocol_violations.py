"""Violates the protocol: invalid JSON, invalid results, and the ids of other runs and plugins."""

import asyncio
import os
from collections.abc import AsyncGenerator

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.results import Result
from parlour_sdk.wire import WireError

from . import wire

STREAMS_TO_TRY = 200
_background: set[asyncio.Task[None]] = set()


async def invalid_json(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Sends an invalid line that can be answered, since it has a seq_id, and then one that can't."""
    wire.write(b'{"seq_id": 7, "action": "state_get", "data": \xff\xfe nonsense\n')
    await api.state.get("conversation", "anything")
    yield results.delta("still here")
    await asyncio.sleep(0.1)  # so that the delta has been sent
    wire.write(b"\xff\xfe nonsense\n")
    await asyncio.sleep(60)


async def invalid_results(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Yields invalid results; each is dropped with a warning, and the run continues."""
    yield Result("message.completed", {"message": {"role": "emperor", "content": "bow"}})
    yield Result("message.completed", {"massage": "what"})
    yield Result("state.updated", {"scope": "galaxy", "key": "k", "value": 1})
    yield Result("state.updated", {"scope": "conversation", "key": "k" * 300, "value": 1})
    yield Result("artifact.created", {"content_base64": "not base64"})
    yield Result("run.completed", {"finish_reason": "boredom"})
    yield Result("no.such.type", {"x": 1})
    yield results.completed("after all that, an answer")
    yield results.finished()


async def foreign_run(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Sends results and calls for a foreign run: the one that the configuration names, or an invented one."""
    foreign_run_id = ctx.config.get("target") or "01900000-0000-7000-8000-000000000000"
    message = {"message": {"role": "assistant", "content": "a word in another's name"}}
    for seq_id in range(1, STREAMS_TO_TRY):
        result = {"run_id": foreign_run_id, "type": "message.completed", "data": message, "sequence": 1}
        wire.frame({"seq_id": seq_id, "code": 0, "data": result, "chunk_status": "continue"})
    stranger = AgentRunAPI(wire.peer(), foreign_run_id)
    try:
        await stranger.state.set("conversation", "stolen", True)
    except AgentAPIException as error:
        yield results.completed(f"the other run could not be reached: {error.code}")
    else:
        yield results.completed("the other run was reached")


async def foreign_identity(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    try:
        await wire.peer().call("hello", {"protocol": 1, "sdk": "0", "plugin": "parlour/echo-agent"})
    except WireError as error:
        yield results.completed(f"the other identity was refused: {error.code}")
    else:
        yield results.completed("the other identity was taken")


async def ended_run(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    """Ends the run and then makes calls with its id."""

    async def haunt() -> None:
        for _ in range(20):
            await asyncio.sleep(0.05)
            try:
                await api.state.set("conversation", "from_beyond", True)
            except AgentAPIException:
                continue

    task = asyncio.get_running_loop().create_task(haunt())
    _background.add(task)
    task.add_done_callback(_background.discard)
    yield results.completed("farewell")
    yield results.finished()


async def print_stdout(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    for number in range(1000):
        print(f"line {number} on what it takes for the wire")  # noqa: T201 - printing is the purpose
    os.write(1, b'{"seq_id": 1, "code": 0, "data": null}\n')
    yield results.completed("printed")


async def close_stdout(ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
    os.close(1)
    os.close(wire.descriptor())
    yield results.completed("nobody will hear this")
    await asyncio.sleep(60)

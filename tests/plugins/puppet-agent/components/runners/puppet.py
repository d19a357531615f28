"""Obeys the first word of the message; the rest of the message is the argument."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import __main__ as worker
from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

Deed = AsyncGenerator[Result, None]


def await_file(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.01)


def touch(path: str) -> None:
    """Creates the file, so that the test knows that this point is reached."""
    Path(path).touch()


class Puppet(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> Deed:
        verb, _, argument = (ctx.input.text or "").partition(" ")
        async for result in DEEDS[verb](argument, ctx):
            yield result


async def sleep(argument: str, ctx: AgentRunContext) -> Deed:
    await asyncio.sleep(60)
    yield results.completed("slept")


async def deaf(argument: str, ctx: AgentRunContext) -> Deed:
    """Ignores its cancellation and continues."""
    if argument:
        yield results.delta(argument)
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        yield results.delta("late text")
        yield results.completed("late text")


async def gate(argument: str, ctx: AgentRunContext) -> Deed:
    """Ends when the file of its argument appears."""
    yield results.delta("waiting ")
    await asyncio.to_thread(await_file, argument)
    yield results.completed("waiting is over")
    touch(f"{argument}.passed")


async def second_attempt(argument: str, ctx: AgentRunContext) -> Deed:
    if ctx.runtime.attempt == 1:
        touch(argument)
        await asyncio.sleep(60)
    yield results.completed(f"answered on attempt {ctx.runtime.attempt}")


async def block(argument: str, ctx: AgentRunContext) -> Deed:
    touch(argument)
    time.sleep(60)  # noqa: ASYNC251 - the event loop is to hang
    yield results.completed("unblocked")


async def nothing(argument: str, ctx: AgentRunContext) -> Deed:
    return
    yield


async def blank(argument: str, ctx: AgentRunContext) -> Deed:
    yield results.finished()


async def silent(argument: str, ctx: AgentRunContext) -> Deed:
    yield results.silent()


async def crash(argument: str, ctx: AgentRunContext) -> Deed:
    yield results.tool_started("call-1", "fuse")
    raise RuntimeError("the inner secret of the puppet")


async def fail(argument: str, ctx: AgentRunContext) -> Deed:
    yield results.failed("puppet.broken", "The string of the puppet broke.")


async def unfinished(argument: str, ctx: AgentRunContext) -> Deed:
    """Yields fragments only: no message, no end."""
    yield results.delta("frag")
    yield results.delta("ments")


async def two(argument: str, ctx: AgentRunContext) -> Deed:
    yield results.completed("first")
    yield results.completed("second")
    yield results.finished(message="never shown")


async def tool(argument: str, ctx: AgentRunContext) -> Deed:
    yield results.tool_started("call-1", "weather", {"place": "here"})
    yield results.tool_completed("call-1", "weather", {"sky": "blue"})
    yield results.completed("blue")


async def say(argument: str, ctx: AgentRunContext) -> Deed:
    yield results.completed(argument)


async def linger(argument: str, ctx: AgentRunContext) -> Deed:
    """Gives its whole answer and does not end."""
    yield results.completed(argument)
    await asyncio.sleep(60)


async def chatter(argument: str, ctx: AgentRunContext) -> Deed:
    """Writes to the standard output, which the wire uses or used."""
    print("this is no frame", flush=True)  # noqa: T201
    sys.stdout.write('{"seq_id": 1, "code": 0}\n')
    sys.stdout.flush()
    os.write(1, b"neither is this\n")
    yield results.completed("printed")


async def flood(argument: str, ctx: AgentRunContext) -> Deed:
    """Yields the given number of fragments of the given number of characters."""
    count, _, width = argument.partition(" ")
    fragment = "x" * int(width or 1)
    for _ in range(int(count)):
        yield results.delta(fragment)
    yield results.completed("flooded")


async def odd(argument: str, ctx: AgentRunContext) -> Deed:
    """Yields the given results, as (type, data) or as whole envelopes, and then an answer."""
    for item in json.loads(argument):
        yield Result("raw", item) if "type" not in item or "run_id" in item else Result(item["type"], item["data"])
    yield results.completed("fine")


DEEDS = {
    "linger": linger,
    "sleep": sleep,
    "deaf": deaf,
    "gate": gate,
    "second-attempt": second_attempt,
    "block": block,
    "nothing": nothing,
    "blank": blank,
    "silent": silent,
    "crash": crash,
    "fail": fail,
    "unfinished": unfinished,
    "two": two,
    "tool": tool,
    "say": say,
    "chatter": chatter,
    "flood": flood,
    "odd": odd,
}

_well_formed = worker._envelope


def _envelope(run_id: str, sequence: int, result: Result) -> dict[str, Any]:
    """Sends a raw result over the wire unchanged; `{run}` in it becomes the run's own id."""
    if result.type != "raw":
        return _well_formed(run_id, sequence, result)
    return json.loads(json.dumps(result.data).replace("{run}", run_id))


worker._envelope = _envelope
